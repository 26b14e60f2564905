import { UserError } from '../base/errors.ts'
import { composeMessage } from '../git/trailers.ts'
import { answerMessage } from '../engine/give-up.ts'
import { retryTask } from '../backlog/finish.ts'
import type { Task } from '../backlog/model.ts'
import { commitTaskFiles } from './commit-task-files.ts'
import { readNamed } from '../config/find-task.ts'
import { openPlace, spelledWords, type Where } from '../config/project.ts'
import { openOrigins } from './origins.ts'
import type { World } from '../base/world.ts'

/**
 * Makes a blocked task TODO again, in a commit of its own. The reason is kept for the next prompt, and below it
 * the answer.
 */
export async function retry(
  world: World,
  where: Where,
  request: { readonly task: string; readonly answer: string | null },
): Promise<Task> {
  const place = await openPlace(where)
  const task = await readNamed(place, request.task)
  const { id, file } = task
  const answer = request.answer?.trim() ?? null
  if (answer === '') throw new UserError('an answer needs a text', `ralph answer ${id} "MIT"`)
  if (task.status !== 'BLOCKED' && !task.held) {
    const status = task.status ?? 'without a clear status'
    throw new UserError(`${id} is not blocked: it is ${status}`, `ralph show ${id} says where it stands.`)
  }
  const origins = await openOrigins(place.config.bridges, place.root)
  const origin = await origins.texts(task, { status: 'TODO', reason: '', at: world.now(), failed: [] })
  await commitTaskFiles(world, {
    root: place.root,
    task: file,
    texts: new Map([[file, retryTask(task, await spelledWords(place), answer)], ...origin]),
    message: answer === null ? retryMessage(id) : answerMessage(id, answer),
  })
  return task
}

function retryMessage(id: string): string {
  const trailers = [
    { key: 'Task', value: id },
    { key: 'Retried', value: 'yes' },
  ]
  return composeMessage({ subject: `${id}: Try again`, body: '', trailers })
}
