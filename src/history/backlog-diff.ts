import type { Diagnostic } from '../base/diagnostic.ts'
import type { TaskJson } from '../backlog/json.ts'
import type { Git } from '../git/git.ts'
import type { Range } from '../git/range.ts'
import {
  isChanged,
  plainScanner,
  readVersions,
  type BacklogPlace,
  type BacklogVersions,
  type TaskVersions,
} from './backlog-versions.ts'
import { changeBetween, changeOfPlain, turnOf, type TaskChange } from './task-change.ts'
import { byPlace, startLint } from '../backlog/lint/lint.ts'
import type { LintContext } from '../backlog/lint/rule.ts'
import { select, type Selection, type TaskState } from '../backlog/select/selection.ts'
import { taskJson } from '../backlog/select/task-json.ts'
import { tierOf, type TierTable } from '../backlog/select/tier.ts'
import { blockedReason } from '../backlog/select/why-not.ts'
import { detached, factsOf } from '../backlog/read.ts'
import type { Facts } from '../backlog/model.ts'
import { inOrder } from '../backlog/order.ts'
import type { TaskVocabulary } from '../backlog/vocabulary.ts'

const FACTS = ['title', 'depends', 'milestone', 'completed', 'cost'] as const
type DiffedTask = Facts<(typeof FACTS)[number]>
const EARLIER_FACTS = ['title', 'milestone'] as const
type EarlierTask = Facts<(typeof EARLIER_FACTS)[number]>

/** A task in a list of a diff. */
export interface DiffItem {
  readonly id: string
  readonly title: string
}

/** A task that is DONE now, with the numbers in its file; or BLOCKED, with the reason. */
interface TurnedItem extends DiffItem {
  readonly text: string
}

/** What a range of history changes in a backlog. */
export interface BacklogDiff {
  readonly range: Range
  readonly added: readonly TaskJson[]
  readonly removed: readonly DiffItem[]
  readonly changed: readonly (TaskChange & DiffItem)[]
  readonly completed: readonly TurnedItem[]
  readonly blocked: readonly TurnedItem[]
  /** Tasks that were DONE or BLOCKED and are TODO now. */
  readonly reopened: readonly DiffItem[]
  /** Tasks that are eligible now and were not before. */
  readonly eligible: readonly DiffItem[]
  /** Cycles that did not exist before. */
  readonly cycles: readonly (readonly string[])[]
  /** The problems that lint did not find before. */
  readonly problems: readonly Diagnostic[]
  /** How many changed tasks were not linted, because there are too many. */
  readonly unlinted: number
  readonly selection: Selection<DiffedTask>
}

/** The backlog's place, and what diff needs besides. */
interface DiffPlace extends BacklogPlace {
  readonly tiers: TierTable
  readonly around: LintContext
}

/** A task at both ends of a range, and what has changed of it. */
interface ComparedTask extends TaskVersions {
  readonly was: EarlierTask | null
  readonly is: DiffedTask | null
  readonly change: TaskChange | null
}

/** Compares the backlog at both ends of a range: the tasks, and which of them are eligible. */
export async function diffBacklog(git: Git, range: Range, place: DiffPlace): Promise<BacklogDiff> {
  const versions = await readVersions(git, range, place)
  const tasks = await comparedTasks(versions, place.vocabulary)
  const before = select(inOrder(tasks.flatMap(({ was }) => was ?? [])))
  const after = select(inOrder(tasks.flatMap(({ is }) => is ?? [])))
  const changed = tasks.filter(isChanged)
  const turned = (turn: ReturnType<typeof turnOf>): readonly DiffedTask[] =>
    changed.flatMap(({ was, is }) => (is && turnOf(was?.status ?? null, is.status) === turn ? [is] : []))
  const wasEligible = new Set(before.eligible.map(({ number }) => number))
  const compared = { versions, tasks, before, after }
  return {
    range,
    added: await addedTasks(compared, place),
    removed: changed.flatMap(({ was, is }) => (was && !is ? [itemOf(was)] : [])),
    changed: changed.flatMap(({ is, change }) => (is && change ? [{ ...change, title: is.title }] : [])),
    completed: turned('done').map((task) => ({ ...itemOf(task), text: spentText(task) })),
    blocked: await blockedTasks(turned('blocked'), compared),
    reopened: turned('open').map(itemOf),
    eligible: after.eligible.filter(({ number }) => !wasEligible.has(number)).map(itemOf),
    cycles: newCycles(before, after),
    ...(await problemsIn(compared, place)),
    selection: after,
  }
}

async function comparedTasks(
  { pairs, bytesOf, read }: BacklogVersions,
  vocabulary: TaskVocabulary,
): Promise<readonly ComparedTask[]> {
  const [scanOld, scanNew] = [plainScanner(EARLIER_FACTS, vocabulary), plainScanner(FACTS, vocabulary)]
  const compared: ComparedTask[] = []
  for (const pair of pairs) {
    const { before, after } = pair
    const recent = after && scanNew(after, bytesOf)
    const is = after && (recent?.facts ?? factsOf(await read(after)))
    if (!isChanged(pair)) {
      compared.push({ ...pair, was: is, is, change: null })
      continue
    }
    const old = before && scanOld(before, bytesOf)
    const was = before && (old?.facts ?? factsOf(await read(before)))
    const plain = old && recent && changeOfPlain(old, recent, vocabulary)
    const change = before && after && (plain ?? changeBetween(await read(before), await read(after)))
    compared.push({ ...pair, was, is, change: change && detached(change) })
  }
  return compared
}

/** Both ends of a range, read and selected from. */
interface Compared {
  readonly versions: BacklogVersions
  readonly tasks: readonly ComparedTask[]
  readonly before: Selection<EarlierTask>
  readonly after: Selection<DiffedTask>
}

async function addedTasks(
  { versions, tasks, after: { states } }: Compared,
  { tiers }: DiffPlace,
): Promise<readonly TaskJson[]> {
  const stateOf = new Map(states.map((state) => [state.task.file, state]))
  const added: TaskJson[] = []
  for (const { was, is, after } of tasks) {
    if (was || !is || !after) continue
    const task = await versions.read(after)
    added.push(detached(taskJson({ ...stateOf.get(is.file)!, task }, () => tierOf(task, tiers))))
  }
  return added
}

async function blockedTasks(
  blocked: readonly DiffedTask[],
  { versions, tasks }: Compared,
): Promise<readonly TurnedItem[]> {
  const items: TurnedItem[] = []
  for (const { is, after } of tasks)
    if (is && after && blocked.includes(is))
      items.push({ ...itemOf(is), text: detached(blockedReason(await versions.read(after))) })
  return items
}

/** If more tasks have changed, only those with unclear needs are linted; `ralph lint` finds the rest. */
const MOST_LINTED = 1000

async function problemsIn(
  { versions, tasks, before, after }: Compared,
  { around }: DiffPlace,
): Promise<Pick<BacklogDiff, 'problems' | 'unlinted'>> {
  const there = tasks.filter((task) => task.after !== null)
  const changed = there.filter(isChanged)
  const isAllLinted = changed.length <= MOST_LINTED
  const isUnsettled = unsettledBetween(before, after)
  const linted = there.filter((task) => (isAllLinted && isChanged(task)) || isUnsettled(task))
  const unlinted = changed.length - linted.filter(isChanged).length
  if (linted.length === 0) return { problems: [], unlinted }
  const lintOf = ({ states }: Selection<EarlierTask>) =>
    startLint(
      states.map(({ task }) => task),
      around,
    )
  const [lintOld, lintNew] = [lintOf(before), lintOf(after)]
  const problems: Diagnostic[] = []
  for (const task of linted) {
    const is = lintNew(await versions.read(task.after!))
    const was = task.before && is.length > 0 ? lintOld(await versions.read(task.before)) : []
    problems.push(...detached(newProblems(is, was)))
  }
  return { problems: problems.sort(byPlace), unlinted }
}

function itemOf({ id, title }: EarlierTask): DiffItem {
  return { id, title }
}

function spentText({ completed, cost }: DiffedTask): string {
  return [completed, cost].filter(Boolean).join(' · ')
}

/** The problems that are new, wherever they are in the file. */
function newProblems(now: readonly Diagnostic[], before: readonly Diagnostic[]): readonly Diagnostic[] {
  const left = before.map(({ rule, message }) => `${rule} ${message}`)
  return now.filter(({ rule, message }) => {
    const at = left.indexOf(`${rule} ${message}`)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}

/** Whether the unclear needs of a task have changed: a needed task is gone, or is part of a cycle. */
function unsettledBetween(
  before: Selection<EarlierTask>,
  after: Selection<DiffedTask>,
): (task: ComparedTask) => boolean {
  const textsOf = ({ states }: Selection<EarlierTask>) =>
    new Map(states.map((state) => [state.task.file, unclearText(state)]))
  const [were, are] = [textsOf(before), textsOf(after)]
  return (task) => {
    const text = are.get(task.after?.file ?? '') ?? ''
    return text !== '' && were.get(task.before?.file ?? '') !== text
  }
}

function unclearText({ waiting }: TaskState<EarlierTask>): string {
  if (waiting.length === 0) return ''
  const unclear = waiting.filter(({ kind }) => kind !== 'dependency')
  return unclear.length === 0 ? '' : JSON.stringify(unclear)
}

function newCycles(
  before: Selection<EarlierTask>,
  after: Selection<DiffedTask>,
): readonly (readonly string[])[] {
  const nameOf = ({ ids }: { readonly ids: readonly string[] }): string => ids.toSorted().join(' ')
  const known = new Set(before.cycles.map(nameOf))
  return after.cycles.filter((cycle) => !known.has(nameOf(cycle))).map(({ ids }) => ids)
}

/** As `ralph diff --json` prints it. */
export function diffJson(diff: BacklogDiff): object {
  const ids = (items: readonly DiffItem[]): readonly string[] => items.map(({ id }) => id)
  return {
    version: 1,
    range: diff.range.text,
    added: diff.added,
    removed: ids(diff.removed),
    changed: diff.changed.map(({ id, fields, sections }) => ({ id, fields, sections })),
    completed: ids(diff.completed),
    blocked: ids(diff.blocked),
    reopened: ids(diff.reopened),
    eligible: ids(diff.eligible),
    cycles: diff.cycles,
    problems: diff.problems,
    unlinted: diff.unlinted,
  }
}
