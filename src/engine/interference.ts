import { fewOf } from '../base/text.ts'
import { textIn } from '../git/tree.ts'
import type { Interference } from './events/event.ts'
import type { RawChange } from '../git/raw-changes.ts'
import type { Job } from './job.ts'
import { taskToAdd } from '../backlog/finish.ts'
import { parseTask } from '../backlog/parse.ts'
import type { AttemptPorts } from './ports.ts'
import type { Work } from './slot/slot.ts'

/** Changes to task files: those that are not the agent's to make, and the tasks that are added. */
interface TaskChanges {
  /** Changed or removed files, and added ones whose number is taken or that are more than may be added. */
  readonly touched: readonly RawChange[]
  /** The paths among those that are synced files of another tool. */
  readonly origins: readonly string[]
  readonly added: readonly string[]
  /** The texts of added files that are not as their agent wrote them. */
  readonly corrected: ReadonlyMap<string, string>
}

/** Sorts the changes to task files. A task may only be added as TODO, with the defaults for what people decide. */
export async function taskChanges(
  { backlog }: Pick<Job, 'backlog'>,
  { tree, changes }: Pick<Work, 'tree' | 'changes'>,
  { home, source }: Pick<AttemptPorts, 'home' | 'source'>,
): Promise<TaskChanges> {
  const touched: RawChange[] = []
  const origins: string[] = []
  const added: string[] = []
  const synced = new Set(backlog.origins.map((file) => `${home.prefix}${file}`))
  const numbers = new Set(backlog.numbers)
  const { folders, words } = source
  const { ids } = words
  const corrected = new Map<string, string>()
  const isTask = async (path: string): Promise<boolean> => {
    const text = await textIn(home.git, tree, path)
    if (text === null) return false
    const asAdded = taskToAdd(await parseTask({ file: path.slice(home.prefix.length), text }, words))
    if (asAdded !== null && asAdded !== text) corrected.set(path, asAdded)
    return asAdded !== null
  }
  for (const change of changes) {
    const { path, kind } = change
    if (synced.has(path)) {
      origins.push(path)
      touched.push(change)
      continue
    }
    const inside = path.startsWith(home.prefix) ? path.slice(home.prefix.length) : ''
    if (!folders.includes(inside)) continue
    const number = ids.numberOf(ids.inPath(inside))
    const isNew = kind === 'new' && !numbers.has(number) && added.length < backlog.mayAdd
    if (isNew && (await isTask(path))) {
      added.push(path)
      numbers.add(number)
    } else touched.push(change)
  }
  return { touched, origins, added, corrected }
}

/** What the agent did that is not its to do. */
export function interferenceIn(
  { nested, from }: Pick<Work, 'nested' | 'from'>,
  { touched, origins }: TaskChanges,
  commits: readonly string[],
): readonly Interference[] {
  const found: Interference[] = []
  if (commits.length > 0) found.push({ kind: 'commits', commits })
  if (from !== null) found.push({ kind: 'other-base', commits: [from] })
  const ofTasks = touched.flatMap(({ path }) => (origins.includes(path) ? [] : [path]))
  if (ofTasks.length > 0) found.push({ kind: 'task-files', paths: ofTasks })
  if (origins.length > 0) found.push({ kind: 'origins', paths: origins })
  if (nested.length > 0) found.push({ kind: 'nested-repository', paths: nested })
  return found
}

/** The most paths to name in a commit's message. */
const MOST = 50

/** One line about it for the record. */
export function interferenceLine(interference: Interference): string {
  const names = 'commits' in interference ? interference.commits : interference.paths
  return `${interference.kind}: ${fewOf(names, MOST)}`
}
