import { readFileSync } from 'node:fs'
import { builtFile } from '../../base/built-file.ts'
import { UserError } from '../../base/errors.ts'
import { fewOf } from '../../base/text.ts'
import type { Context } from '../command.ts'

const SCHEMAS = ['task', 'config', 'events'] as const

/** Prints the JSON Schema of a task, of the configuration or of the events of a run: with or without --json it is JSON. */
export function run({ args, printRaw }: Context): number {
  const [asked = 'config'] = args
  const name = SCHEMAS.find((one) => one === asked)
  if (!name) throw new UserError(`there is no schema '${asked}'`, `There are ${fewOf(SCHEMAS)}.`)
  printRaw(readFileSync(builtFile(`ralph.${name}.schema.json`), 'utf8'))
  return 0
}
