import type { Context } from '../command.ts'
import { showLines } from '../run/show-run.ts'

/** Does the next task, the named one, or several. */
export async function run(context: Context): Promise<number> {
  const { json, options } = context
  const lines =
    json || options.on('dry-run') ? null : await showLines(context, { verbose: options.on('verbose') })
  // Loading a run's code and the backlog takes longer than a person waits for a sign of life.
  if (!options.on('tui')) lines?.reporter.begin()
  try {
    const { doRun } = await import('../run/do-run.ts')
    return await doRun(context, lines)
  } finally {
    await lines?.end()
  }
}
