import type { Context } from '../command.ts'
import { command } from '../run/command-run.ts'

/** Lets a paused run go on. */
export function run(context: Context): Promise<number> {
  return command(context, { do: 'resume' })
}
