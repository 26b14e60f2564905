import type { Context } from '../command.ts'
import { command } from '../run/command-run.ts'

/** Ends the current run: after its attempt, or now. */
export function run(context: Context): Promise<number> {
  return command(context, { do: 'stop', now: context.options.on('now') })
}
