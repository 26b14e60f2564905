import { UserError } from '../../base/errors.ts'
import type { Context } from '../command.ts'
import { importFrom } from './import.ts'

/** Makes tasks of a document, by its headings and boxes alone. */
export async function run(context: Context): Promise<number> {
  const document = context.options.text('from')
  if (document === undefined)
    throw new UserError('ralph plan needs a document', 'ralph plan --from docs/spec.md')
  return importFrom(context, document, { as: 'outline', sync: false, independent: false })
}
