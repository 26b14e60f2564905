import { readCompletions } from '../../history/completions.ts'
import type { Project } from '../../project/project.ts'
import { readHistory } from '../../project/repository.ts'
import type { Io } from '../io.ts'

/** How tasks went long ago says little of the next. */
const MOST_TASKS = 50

/** How many seconds the last tasks took in this repository, oldest first, from git alone; none where it does not say. */
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
    // Without it a run has no estimate, and is a run all the same.
    return []
  }
}
