import { fewOf } from '../base/text.ts'
import type { Interference } from '../events/interference.ts'
import { idInFileName } from '../task/file-name.ts'
import type { Change, Work, Workspace } from '../workspace/port.ts'
import type { Job } from './job.ts'
import type { AttemptPorts } from './ports.ts'

/** Changes to task files: those to restore, and the tasks that are added. */
interface TaskChanges {
  /** Changed or removed files, and added ones whose number is taken or that are more than may be added. */
  readonly touched: readonly string[]
  /** Those of `touched` that are synced files of another tool. */
  readonly origins: readonly string[]
  readonly added: readonly string[]
}

/** Sorts the changes to task files. A task may only be added as TODO. */
export async function taskChanges(
  job: Job,
  work: Work,
  ports: Pick<AttemptPorts, 'workspace' | 'statusIn'>,
): Promise<TaskChanges> {
  const touched: string[] = []
  const origins: string[] = []
  const synced = new Set(job.backlog.origins.map((file) => `${ports.workspace.prefix}${file}`))
  const added: string[] = []
  const numbers = new Set(job.backlog.numbers)
  for (const { path, kind } of [...work.changes, ...(await changesBelow(job, work, ports.workspace))]) {
    if (synced.has(path)) origins.push(path)
    const number = taskNumber(path, ports.workspace, job)
    if (number === null) continue
    const isNew = kind === 'new' && !numbers.has(number)
    if (!isNew || added.length >= job.backlog.mayAdd || !(await isTodo(path, ports))) touched.push(path)
    else {
      added.push(path)
      numbers.add(number)
    }
  }
  return { touched: [...touched, ...origins], origins, added }
}

/** What the attempt's commits below a person's commit have changed: that commit itself must stay unchanged. */
async function changesBelow(job: Job, { below }: Work, { inspect }: Workspace): Promise<readonly Change[]> {
  const changes = below.map(async (path): Promise<Change> => {
    const isNew = (await inspect.textIn(job.base, path)) === null
    return { path, kind: isNew ? 'new' : 'changed' }
  })
  return Promise.all(changes)
}

/** The task number in a path of the repository; null if it is not a task file. */
function taskNumber(path: string, { prefix }: Workspace, { backlog }: Job): number | null {
  const folder = `${prefix}${backlog.folder === '.' ? '' : `${backlog.folder}/`}`
  const name = path.startsWith(folder) ? path.slice(folder.length) : ''
  const id = name === '' || name.includes('/') ? null : idInFileName(name)
  return id === null ? null : Number(id.slice(2))
}

async function isTodo(path: string, ports: Pick<AttemptPorts, 'workspace' | 'statusIn'>): Promise<boolean> {
  const file = path.slice(ports.workspace.prefix.length)
  const text = ports.workspace.inspect.text(file)
  return text !== null && (await ports.statusIn(file, text)) === 'TODO'
}

/** What has to be undone or reported. */
export function interferenceIn(work: Work, { touched, origins }: TaskChanges): readonly Interference[] {
  const { head, operations, noLongerIgnored, nested } = work
  const found: Interference[] = []
  if (head && head.commits.length > 0) found.push({ kind: 'commits', commits: head.commits })
  if (head && (head.switched || head.commits.length === 0)) found.push({ kind: 'branch' })
  for (const operation of operations) found.push({ kind: 'operation', operation })
  const ofTasks = touched.filter((path) => !origins.includes(path))
  if (ofTasks.length > 0) found.push({ kind: 'task-files', paths: ofTasks })
  if (origins.length > 0) found.push({ kind: 'origins', paths: origins })
  if (noLongerIgnored.length > 0) found.push({ kind: 'exposed', paths: noLongerIgnored })
  if (nested.length > 0) found.push({ kind: 'nested-repository', paths: nested })
  return found
}

/** Whether it is reported and nothing is undone. */
export function isOnlyReported({ kind }: Interference): boolean {
  return kind === 'nested-repository' || kind === 'exposed'
}

/** The changes that count as work: new tasks do, other changes to task files do not. */
export function workChanges(job: Job, work: Work, { touched }: TaskChanges): readonly Change[] {
  const none = new Set([...touched, ...job.gateOutput])
  return work.changes.filter(({ path }) => !none.has(path))
}

/** The most paths to name in a commit's message. */
const MOST = 50

/** One line about it for the record. */
export function interferenceLine(interference: Interference): string {
  switch (interference.kind) {
    case 'commits':
      return `commits: ${fewOf(interference.commits, MOST)}`
    case 'operation':
      return `operation: ${interference.operation}`
    case 'branch':
      return 'branch'
    case 'refs-deleted':
    case 'refs-moved':
    case 'refs-made':
      return `${interference.kind}: ${fewOf(interference.refs, MOST)}`
    default:
      return `${interference.kind}: ${fewOf(interference.paths, MOST)}`
  }
}
