import type { Git } from '../git/git.ts'
import { readCompletions } from '../history/completions.ts'
import { findTaskCode, type TaskCode } from '../history/task-code.ts'
import { pagerCommand } from '../process/pager.ts'
import type { Place } from '../project/project.ts'
import { openRepository, readHistory } from '../project/repository.ts'
import { runFolder } from '../run/folder.ts'
import { readNote } from '../run/note.ts'
import type { Task } from '../task/model.ts'
import type { Io } from './io.ts'

/** Where the code of a task is, also while an agent works at it in the checkout; null where there is none yet. */
export async function codeOf(
  io: Pick<Io, 'env'>,
  place: Place,
  { id }: Pick<Task, 'id'>,
): Promise<TaskCode | null> {
  const { vocabulary, config, root } = place
  const { repository } = await openRepository(io, root)
  const attempt = readNote(runFolder(root, repository).note)?.attempt
  const workBase = attempt?.task === id && attempt.phase === 'working' ? attempt.base.head : null
  return readHistory(io, root, async (git) => {
    const completions = await readCompletions(git, { vocabulary, subject: config.commit.subject })
    return findTaskCode(git, { id, workBase, completions })
  })
}

/** The command of the person's pager; null where there is none. */
export async function pagerOf(env: Io['env'], git: Git): Promise<string | null> {
  return pagerCommand(env, await configuredPager(git))
}

/** As the person has set it for all repositories: one that came with a stranger's would be a command of theirs. */
async function configuredPager(git: Git): Promise<string | null> {
  const { code, stdout } = await git.run(['config', '--global', '--get', 'core.pager'], {
    okCodes: [0, 1, 128],
  })
  return code === 0 ? stdout.toString().trim() : null
}
