import { openReadingGit } from '../git/door.ts'
import type { Git } from '../git/git.ts'
import { readCompletions } from '../history/completions.ts'
import { findTaskCode } from '../history/task-code.ts'
import type { Place } from '../config/project.ts'
import { readHistory } from '../git/open-repository.ts'
import { pagerCommand } from '../process/pager.ts'
import { workUnderWay } from './setup/slots.ts'
import type { Io } from './io.ts'

/** Finds the code of a task, also while an agent works on it, and the git to read it with; null if there is none yet. */
export async function codeOf(io: Io, place: Place, id: string) {
  const { root, vocabulary, config } = place
  const work = await workUnderWay(io, place, id)
  const code = await readHistory(io, root, async (git) => {
    const completions = await readCompletions(git, { vocabulary, subject: config.commit.subject })
    return findTaskCode(git, { id, workBase: work?.base ?? null, completions })
  })
  return code && { code, git: openReadingGit({ cwd: work?.folder ?? root, env: io.env }) }
}

/** The person's pager; null if there is none, or no terminal. */
export async function personsPager({ env, stdout }: Pick<Io, 'env' | 'stdout'>, git: Git) {
  if (stdout.columns === null) return null
  // From the person's global settings only: a repository's own setting would run a stranger's command.
  const args = ['config', '--global', '--get', 'core.pager']
  const { code, stdout: text } = await git.run(args, { okCodes: [0, 1, 128] })
  return pagerCommand(env, code === 0 ? text.toString().trim() : null)
}
