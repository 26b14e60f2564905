import type { Context } from '../command.ts'
import { findTask } from '../find-task.ts'
import { openProject } from '../project.ts'
import { showPrompt } from '../show-prompt.ts'

/** Prints the prompt of one task, byte for byte as an agent would get it. */
export async function run(context: Context): Promise<number> {
  const project = await openProject(context)
  await showPrompt(context, project, findTask(project.tasks, context.args[0] ?? ''))
  return 0
}
