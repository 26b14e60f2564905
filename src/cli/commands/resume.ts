import type { Context } from '../command.ts'
import { command } from '../run/command-run.ts'

/** Continues a paused run. */
export function run(context: Context): Promise<number> {
  return command(context, { do: 'resume' })
}
