import { relative } from 'node:path'
import { composeMessage } from '../../git/trailers.ts'
import { verifyTasks, type VerifiedTask } from '../../run/verify.ts'
import { setCommit } from '../../task/finish.ts'
import { counted } from '../../ui/run-text.ts'
import { verifyView } from '../../ui/verify-view.ts'
import type { Context } from '../command.ts'
import { commitTaskFiles } from '../commit-task-files.ts'
import { openProject } from '../project.ts'
import { openWithCommit } from '../repository.ts'

/** Checks that every DONE task's Commit names the commit that completed it; the answer is no where one does not. */
export async function run(context: Context): Promise<number> {
  const before = await verify(context)
  const moved = before.filter(({ state }) => state === 'moved')
  const fixes = context.options.on('fix') && moved.length > 0
  if (fixes) await writeAnew(context, moved)
  const tasks = fixes ? await verify(context) : before
  const ok = tasks.every(({ state }) => state === 'sealed' || state === 'matches')
  const fixed = fixes ? moved.map(({ id }) => id) : []
  if (context.json) context.printJson({ version: 1, tasks, ok })
  else await context.print(verifyView(tasks, fixed))
  return ok ? 0 : 1
}

async function verify(context: Context): Promise<readonly VerifiedTask[]> {
  const { root, tasks, vocabulary } = await openProject(context)
  const { git, repository } = await openWithCommit(context.io, root)
  const inside = relative(repository.root, root).replaceAll('\\', '/')
  return verifyTasks(git, { tasks, vocabulary, prefix: inside === '' ? '' : `${inside}/` })
}

/** In one commit, with as many digits as each field had. */
async function writeAnew(context: Context, moved: readonly VerifiedTask[]): Promise<void> {
  const { root, tasks, vocabulary } = await openProject(context)
  const found = new Map(moved.map((task) => [task.id, task]))
  const texts = tasks.flatMap((task): [string, string][] => {
    const { found: commit, commit: named } = found.get(task.id) ?? {}
    return commit ? [[task.file, setCommit(task, commit.slice(0, named?.length ?? 7), vocabulary)]] : []
  })
  const subject = `Name the commits that completed ${counted(moved.length, 'task')}`
  const message = composeMessage({ subject, body: moved.map(({ id }) => id).join(', '), trailers: [] })
  await commitTaskFiles(context.io, { root, texts: new Map(texts), message })
}
