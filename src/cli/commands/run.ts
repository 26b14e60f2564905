import type { ContextOf } from '../commands.ts'
import { showLines } from '../run/show-run.ts'

type Context = ContextOf<'run'>

/** Does the next task, the named one, or several. */
export async function run(context: Context): Promise<number> {
  const { json, options } = context
  const lines = json || options.dryRun ? null : await showLines(context, { verbose: options.verbose })
  // Loading a run's code and the backlog takes longer than a person waits for a sign of life.
  if (!options.tui) lines?.reporter.begin()
  try {
    const { doRun } = await import('../run/do-run.ts')
    return await doRun(context, lines)
  } finally {
    await lines?.end()
  }
}
