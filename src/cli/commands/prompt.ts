import { UserError } from '../../base/errors.ts'
import { readBacklog } from '../../backlog/read.ts'
import { line } from '../../screen/block.ts'
import { promptView } from '../../screen/prompt-view.ts'
import type { Context } from '../command.ts'
import type { Place } from '../../config/project.ts'
import { findTask } from '../../config/find-task.ts'
import { previewPrompt } from '../setup/task-prompt.ts'

/** Prints the prompt of one task, exactly as an agent would get it. */
export async function run(context: Context): Promise<number> {
  return showPrompt(context, await context.place(), context.args[0]!)
}

/** Prints what an agent would get for a task: the prompt unchanged, and its parts beside it. */
export async function showPrompt(context: Context, place: Place, named: string): Promise<number> {
  const { tasks } = await readBacklog(place)
  const task = findTask(tasks, named)
  const unread = task.problems.find(({ kind }) => kind === 'unreadable')
  if (unread)
    throw new UserError(`${task.file} ${unread.message}`, 'Make it a text file that a prompt can hold.')
  const prompt = await previewPrompt(context.io, place, { task, tasks })
  const { estimate, parts, text, warnings } = prompt
  const document = {
    id: task.id,
    estimate,
    bytes: Buffer.byteLength(text),
    parts,
    mcpServers: Object.keys(prompt.mcpServers),
    warnings,
    text,
  }
  return context.answer(document, () => {
    if (task.status === 'DONE')
      context.note([line(`${task.id} is DONE: no agent gets this prompt, unless the task is reopened.`)])
    context.printRaw(text)
    context.note(promptView(prompt, warnings))
    return []
  })
}
