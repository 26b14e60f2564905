import { UserError } from '../../base/errors.ts'
import { planJsonSchema } from '../../plan/json-schema.ts'
import type { Context } from '../command.ts'

/** Prints a JSON Schema, for editors and other programs. */
export function run(context: Context): number {
  const [wanted = ''] = context.args
  if (wanted !== 'plan') throw new UserError(`there is no schema '${wanted}'`, 'Give plan.')
  const schema = planJsonSchema()
  if (context.json) context.printJson({ version: 1, of: wanted, schema })
  else context.printRaw(`${JSON.stringify(schema, null, 2)}\n`)
  return 0
}
