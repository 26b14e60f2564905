import { openReadingGit } from '../git/door.ts'
import type { Git } from '../git/git.ts'
import { readCompletions } from '../history/completions.ts'
import { findTaskCode, type TaskCode } from '../history/task-code.ts'
import type { Place } from '../config/project.ts'
import { readHistory } from '../git/open-repository.ts'
import { workUnderWay } from './setup/slots.ts'
import type { Io } from './io.ts'

/** Finds the code of a task, also while an agent works on it, and the git to read it with; null if there is none yet. */
export async function codeOf(
  io: Io,
  place: Place,
  id: string,
): Promise<{ readonly code: TaskCode; readonly git: Git } | null> {
  const { root, vocabulary, config } = place
  const work = await workUnderWay(io, place, id)
  const git = openReadingGit({ cwd: work?.folder ?? root, env: io.env })
  const code = await readHistory(io, root, async (git) => {
    const completions = await readCompletions(git, { vocabulary, subject: config.commit.subject })
    return findTaskCode(git, { id, workBase: work?.base ?? null, completions })
  })
  return code && { code, git }
}
