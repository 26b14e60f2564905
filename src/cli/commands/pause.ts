import type { Context } from '../command.ts'
import { command } from '../run/command-run.ts'

/** Makes the current run begin no further attempt. */
export function run(context: Context): Promise<number> {
  return command(context, { do: 'pause' })
}
