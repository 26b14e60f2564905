import { UserError } from '../base/errors.ts'
import { detectGates } from '../config/detect-gates.ts'
import { openReadingGit } from '../git/door.ts'
import { listRecords } from '../git/record.ts'
import type { Task } from '../backlog/model.ts'
import { readBacklog } from '../backlog/read.ts'
import { promptView } from '../screen/prompt-view.ts'
import type { Context } from './command.ts'
import type { Place } from '../config/project.ts'
import { findTask } from '../config/find-task.ts'
import { unlessGitIsMissing } from '../git/open-repository.ts'
import { writePrompt, type TaskPrompt } from './setup/task-prompt.ts'

/** Prints what an agent would get for a task: the prompt unchanged, and its parts beside it. */
export async function showPrompt(context: Context, place: Place, named: string): Promise<void> {
  const git = openReadingGit({ cwd: place.root, env: context.io.env })
  const { tasks } = await readBacklog(place)
  const task = findTask(tasks, named)
  const unread = task.problems.find(({ kind }) => kind === 'unreadable')
  if (unread)
    throw new UserError(`${task.file} ${unread.message}`, 'Make it a text file that a prompt can hold.')
  const attempts = await unlessGitIsMissing(listRecords(git, task.id), [])
  const gates = place.config.gates ?? detectGates(place.root)
  const written = await writePrompt(place, git, { task, tasks, attempts, gates, failedBefore: new Set() })
  if (context.json) return context.printJson(promptJson(task, written))
  context.printRaw(written.prompt.text)
  await context.note(promptView(written.prompt, written.warnings))
}

function promptJson(task: Task, { prompt, mcpServers, warnings }: TaskPrompt): object {
  return {
    version: 1,
    id: task.id,
    estimate: prompt.estimate,
    bytes: Buffer.byteLength(prompt.text),
    parts: prompt.parts,
    mcpServers: Object.keys(mcpServers),
    warnings,
    text: prompt.text,
  }
}
