import { readCompletions } from '../../history/completions.ts'
import type { Project } from '../../config/project.ts'
import { readHistory } from '../../git/open-repository.ts'
import type { Io } from '../io.ts'

/** Older tasks say little about the next one. */
const MOST_TASKS = 50

/** The seconds that the last tasks took in this repository, oldest first, from git alone; empty if it has none. */
export async function taskDurations(
  io: Pick<Io, 'env'>,
  { root, vocabulary, config }: Pick<Project, 'root' | 'vocabulary' | 'config'>,
): Promise<readonly number[]> {
  try {
    const { subject } = config.commit
    const completions = await readHistory(io, root, (git) => readCompletions(git, { vocabulary, subject }))
    const durations = completions.flatMap(({ byRalph, seconds }) => (byRalph ? (seconds ?? []) : []))
    return durations.slice(0, MOST_TASKS).toReversed()
  } catch {
    // Without git a run has no estimate, and works all the same.
    return []
  }
}
