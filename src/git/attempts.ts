import type { Git } from './git.ts'
import { readLog } from './history.ts'
import type { LogEntry } from './history.ts'
import { changeRefs } from './refs.ts'
import { trailerValue } from './trailers.ts'

/** What is kept of one attempt. */
export interface AttemptToKeep {
  readonly task: string
  readonly number: number
  /** The tree as the agent left it: see `snapshot`. */
  readonly tree: string
  /** The commit that the attempt began from, and every commit that the agent made of its own. */
  readonly parents: readonly string[]
  readonly message: string
  /** The commit that the ref names so far, to be replaced; none by default. */
  readonly replaces?: string | null
}

/** One kept attempt; the message's meaning is the run's. */
export interface KeptAttempt {
  readonly task: string
  readonly number: number
  readonly ref: string
  readonly entry: LogEntry
}

const FOLDER = 'refs/ralph/attempts'

/** Where attempt `number` of a task is kept. */
export function attemptRef(task: string, number: number): string {
  return `${FOLDER}/${task}/${number}`
}

/** Keeps an attempt as a commit that anyone can check out; an earlier one is never overwritten. */
export async function keepAttempt(git: Git, attempt: AttemptToKeep): Promise<string> {
  const parents = [...new Set(attempt.parents)].flatMap((parent) => ['-p', parent])
  const { stdout } = await git.run(['commit-tree', attempt.tree, ...parents, '-F', '-'], {
    stdin: attempt.message,
  })
  const hash = stdout.toString().trim()
  const ref = attemptRef(attempt.task, attempt.number)
  const take = new Map(attempt.replaces ? [[ref, attempt.replaces]] : [])
  await changeRefs(git, { make: new Map([[ref, hash]]), take })
  return hash
}

/** The attempts that are kept, of one task or of all, by task and number. */
export async function listAttempts(git: Git, task?: string): Promise<readonly KeptAttempt[]> {
  const glob = `--glob=${FOLDER}/${task === undefined ? '*' : `${task}/*`}`
  const entries = await readLog(git, { options: ['--no-walk=unsorted', glob], revisions: [] })
  const kept = entries.flatMap((entry) => {
    const [owner, number] = [
      trailerValue(entry.trailers, 'Task'),
      Number(trailerValue(entry.trailers, 'Attempt')),
    ]
    if (owner === null || !Number.isSafeInteger(number) || number < 1) return []
    return [{ task: owner, number, ref: attemptRef(owner, number), entry }]
  })
  return kept.sort((a, b) => (a.task < b.task ? -1 : a.task > b.task ? 1 : a.number - b.number))
}
