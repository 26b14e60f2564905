import { keptAttempts } from '../../run/kept-attempts.ts'
import { attemptsView } from '../../ui/attempts-view.ts'
import type { Context } from '../command.ts'
import { findTask } from '../find-task.ts'
import { openProject } from '../project.ts'
import { openRepository } from '../repository.ts'

/** Shows what was tried on a task, how it ended and where it is kept. */
export async function run(context: Context): Promise<number> {
  const { root, tasks } = await openProject(context)
  const task = findTask(tasks, context.args[0] ?? '')
  const { git } = await openRepository(context.io, root)
  const attempts = await keptAttempts(git, task.id)
  if (context.json) context.printJson({ version: 1, id: task.id, attempts })
  else await context.print(attemptsView(task, attempts))
  return 0
}
