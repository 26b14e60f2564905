import { UserError } from '../../base/errors.ts'
import { composeMessage } from '../../git/trailers.ts'
import { retryTask } from '../../task/finish.ts'
import { line } from '../../ui/block.ts'
import type { Context } from '../command.ts'
import { commitTaskFiles } from '../../project/commit-task-files.ts'
import { readNamed } from '../../project/find-task.ts'
import { openPlace } from '../../project/project.ts'

/** Makes a blocked task TODO again, in a commit of its own; why it was blocked is kept for the next prompt. */
export async function run(context: Context): Promise<number> {
  const place = await openPlace(context.where)
  const task = await readNamed(place, context.args[0] ?? '')
  if (task.status !== 'BLOCKED' && !task.held) {
    const status = task.status ?? 'without a clear status'
    throw new UserError(
      `${task.id} is not blocked: it is ${status}`,
      `ralph show ${task.id} says where it stands.`,
    )
  }
  const trailers = [
    { key: 'Task', value: task.id },
    { key: 'Retried', value: 'yes' },
  ]
  await commitTaskFiles(context.io, {
    root: place.root,
    texts: new Map([[task.file, retryTask(task, place.vocabulary)]]),
    message: composeMessage({ subject: `${task.id}: Try again`, body: '', trailers }),
  })
  if (context.json) context.printJson({ version: 1, id: task.id, status: 'TODO', file: task.file })
  else await context.print([line(`${task.id} is TODO again. Next: ralph run ${task.id}`)])
  return 0
}
