import type { ContextOf } from '../commands.ts'
import { command } from '../run/command-run.ts'

type Context = ContextOf<'stop'>

/** Ends the current run: after its attempt, or now. */
export function run(context: Context): Promise<number> {
  return command(context, { do: 'stop', now: context.options.now })
}
