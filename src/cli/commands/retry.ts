import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { commit } from '../../git/commit.ts'
import { readStatus } from '../../git/status.ts'
import { composeMessage } from '../../git/trailers.ts'
import { takeLock } from '../../run/lock.ts'
import { makeRunFolder, runFolder } from '../../run/run-folder.ts'
import { sectionOf, type Task } from '../../task/model.ts'
import { retryTask } from '../../task/finish.ts'
import { line } from '../../ui/block.ts'
import type { Context } from '../command.ts'
import { findTask } from '../find-task.ts'
import { openProject, type Project } from '../project.ts'
import { openWithCommit } from '../repository.ts'

/** Makes a blocked task TODO again, in a commit of its own; why it was blocked is kept for the next prompt. */
export async function run(context: Context): Promise<number> {
  const project = await openProject(context)
  const task = findTask(project.tasks, context.args[0] ?? '')
  if (task.status !== 'BLOCKED' && !sectionOf(task, 'Blocked')) {
    const status = task.status ?? 'without a clear status'
    throw new UserError(
      `${task.id} is not blocked: it is ${status}`,
      `ralph show ${task.id} says where it stands.`,
    )
  }
  const folder = runFolder(project.root)
  makeRunFolder(folder)
  const lock = await takeLock(folder.lock, { pid: context.io.pid, now: context.io.now() })
  try {
    await commitRetry(context, project, task)
  } finally {
    lock.release()
  }
  if (context.json) context.printJson({ version: 1, id: task.id, status: 'TODO', file: task.file })
  else await context.print([line(`${task.id} is TODO again. Next: ralph run ${task.id}`)])
  return 0
}

async function commitRetry({ io }: Context, { root, vocabulary }: Project, task: Task): Promise<void> {
  const { git, repository } = await openWithCommit(io, root)
  const file = join(root, task.file)
  const path = relative(repository.root, file).replaceAll('\\', '/')
  const { entries } = await readStatus(git)
  if (entries.some((entry) => entry.path === path)) {
    throw new UserError(
      `${task.file} is not committed`,
      'Commit it first, so that nothing of yours gets into this commit.',
    )
  }
  const before = readFileSync(file)
  writeFileSync(file, retryTask(task, vocabulary))
  const message = composeMessage({
    subject: `${task.id}: Try again`,
    body: '',
    trailers: [
      { key: 'Task', value: task.id },
      { key: 'Retried', value: 'yes' },
    ],
  })
  const result = await commit(git, { message, paths: [path] })
  if (result.kind === 'committed') return
  writeFileSync(file, before)
  throw new UserError(`git did not take the commit:\n${result.output}`, 'Nothing was changed.')
}
