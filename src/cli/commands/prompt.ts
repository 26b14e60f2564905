import type { Context } from '../command.ts'
import { taskNames } from '../../backlog/read.ts'
import { findTask } from '../../config/find-task.ts'
import { openPlace } from '../../config/project.ts'
import { showPrompt } from '../show-prompt.ts'

/** Prints the prompt of one task, exactly as an agent would get it. */
export async function run(context: Context): Promise<number> {
  const place = await openPlace(context.where)
  const tasks = taskNames(place)
  await showPrompt(context, { ...place, tasks }, findTask(tasks, context.args[0] ?? ''))
  return 0
}
