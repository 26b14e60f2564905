import { readFileSync } from 'node:fs'
import { builtFile } from '../../base/built-file.ts'
import { UserError } from '../../base/errors.ts'
import { fewOf } from '../../base/text.ts'
import type { Context } from '../command.ts'

const SCHEMAS = ['task', 'config', 'events', 'plan'] as const

/** Prints the JSON Schema of a task, the configuration, a run's events or a planning agent's answers; with or without `--json`. */
export async function run({ args, printRaw }: Context): Promise<number> {
  const [named = 'config'] = args
  const name = SCHEMAS.find((one) => one === named)
  if (!name) throw new UserError(`there is no schema '${named}'`, `There are ${fewOf(SCHEMAS)}.`)
  printRaw(
    name === 'plan' ? await answersText() : readFileSync(builtFile(`ralph.${name}.schema.json`), 'utf8'),
  )
  return 0
}

async function answersText(): Promise<string> {
  const { planJsonSchema } = await import('../../authoring/plan/json-schema.ts')
  return `${JSON.stringify(planJsonSchema(), null, 2)}\n`
}
