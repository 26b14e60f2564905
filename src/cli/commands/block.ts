import { UserError } from '../../base/errors.ts'
import { commitTaskFiles } from '../../authoring/commit-task-files.ts'
import { readNamed } from '../../config/find-task.ts'
import { spelledWords } from '../../config/project.ts'
import { openOrigins } from '../../authoring/origins.ts'
import { blockMessage } from '../../engine/give-up.ts'
import { blockTask } from '../../backlog/finish.ts'
import { line } from '../../screen/block.ts'
import type { Context } from '../command.ts'

/** Blocks a task by hand, in a commit of its own. */
export async function run(context: Context): Promise<number> {
  const [named, why] = context.args as [string, string]
  const place = await context.place()
  const task = await readNamed(place, named)
  const reason = why.trim()
  if (reason === '') throw new UserError('a blocked task needs a reason', `ralph block ${task.id} "why"`)
  if (task.status !== 'TODO')
    throw new UserError(
      `only a task that is TODO can be blocked: ${task.id} is ${task.status ?? 'without a clear status'}`,
      `ralph show ${task.id} says where it stands.`,
    )
  const blockage = { reason, attempts: 0, asks: false }
  const origins = await openOrigins(place.config.bridges, place.root)
  const report = { status: 'BLOCKED', reason, at: context.io.now(), author: 'human', failed: [] } as const
  const origin = await origins.texts(task, report)
  await commitTaskFiles(context.io, {
    root: place.root,
    task: task.file,
    texts: new Map([[task.file, blockTask(task, blockage, await spelledWords(place))], ...origin]),
    message: blockMessage(task, blockage),
  })
  const { id, file } = task
  return context.answer({ id, status: 'BLOCKED', file }, () => [
    line(`${id} is BLOCKED. To go on: ralph retry ${id}`),
  ])
}
