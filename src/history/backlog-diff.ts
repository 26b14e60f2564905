import type { Diagnostic } from '../base/diagnostic.ts'
import type { TaskJson } from '../backlog/json.ts'
import type { Git } from '../git/git.ts'
import type { Range } from '../git/range.ts'
import { readVersions, type BacklogPlace, type BacklogVersions } from './backlog-versions.ts'
import { changeBetween, changeOfPlain, textChanges, turnOf } from './task-change.ts'
import { byPlace, startLint } from '../backlog/lint/lint.ts'
import type { LintContext } from '../backlog/lint/rule.ts'
import { select, type Selection, type TaskState } from '../backlog/select/selection.ts'
import { taskJson } from '../backlog/select/task-json.ts'
import { tierOf, type TierTable } from '../backlog/select/tier.ts'
import { blockedReason } from '../backlog/select/why-not.ts'
import { detached } from '../backlog/read.ts'
import type { Facts } from '../backlog/model.ts'
import { inOrder } from '../backlog/order.ts'
import type { TaskVocabulary } from '../backlog/vocabulary.ts'

const FACTS = ['title', 'depends', 'milestone', 'completed', 'cost'] as const
const EARLIER_FACTS = ['title', 'milestone'] as const
type EarlierTask = Facts<(typeof EARLIER_FACTS)[number]>
type Backlog = Selection<EarlierTask>

/** A task in a list of a diff. */
export interface DiffItem {
  readonly id: string
  readonly title: string
  readonly file: string
}

/** What a range of history changes in a backlog. */
export type BacklogDiff = Readonly<Awaited<ReturnType<typeof diffBacklog>>>

/** The backlog's place, and what diff needs besides. */
interface DiffPlace extends BacklogPlace {
  readonly tiers: TierTable
  readonly around: LintContext
}

/** A task at both ends of a range, and what has changed of it. */
type ComparedTask = Awaited<ReturnType<typeof comparedTasks>>[number]

/** Compares the backlog at both ends of a range: the tasks, and which of them are eligible. */
export async function diffBacklog(git: Git, range: Range, place: DiffPlace) {
  const versions = await readVersions(git, range, place)
  const tasks = await comparedTasks(versions, place.vocabulary)
  const before = select(inOrder(tasks.flatMap(({ was }) => was ?? [])))
  const after = select(inOrder(tasks.flatMap(({ is }) => is ?? [])))
  const there = tasks.flatMap((task) =>
    task.is && task.after ? [{ ...task, is: task.is, after: task.after }] : [],
  )
  const turned = (turn: ReturnType<typeof turnOf>) =>
    there.filter(({ was, is, isChanged }) => isChanged && turnOf(was?.status ?? null, is.status) === turn)
  const stateOf = new Map(after.states.map((state) => [state.task.file, state]))
  const wasEligible = new Set(before.eligible.map(({ number }) => number))
  const added: TaskJson[] = []
  for (const one of there) {
    if (one.was) continue
    const task = await versions.read(one.after)
    added.push(detached(taskJson({ ...stateOf.get(task.file)!, task }, () => tierOf(task, place.tiers))))
  }
  const blocked: (DiffItem & { readonly text: string })[] = []
  for (const one of turned('blocked')) {
    const text = detached(blockedReason(await versions.read(one.after)))
    blocked.push({ ...itemOf(one.is), text })
  }
  return {
    range,
    added,
    removed: tasks.flatMap(({ was, is }) => (was && !is ? [itemOf(was)] : [])),
    changed: await changedItems(there, versions),
    /** Tasks that are DONE now, with the numbers in their files. */
    completed: turned('done').map(({ is }) => ({
      ...itemOf(is),
      text: [is.completed, is.cost].filter(Boolean).join(' · '),
    })),
    /** Tasks that are BLOCKED now, with the reasons. */
    blocked,
    /** Tasks that were DONE or BLOCKED and are TODO now. */
    reopened: turned('open').map(({ is }) => itemOf(is)),
    /** Tasks that are eligible now and were not before. */
    eligible: after.eligible.filter(({ number }) => !wasEligible.has(number)).map(itemOf),
    /** Cycles that did not exist before. */
    cycles: newCycles(before, after),
    ...(await problemsIn(tasks, { versions, before, after }, place.around)),
    selection: after,
  }
}

/** Where more tasks have changed, only the names of the changed sections are shown. */
const MOST_WITH_TEXTS = 20

async function changedItems(tasks: readonly ComparedTask[], { read }: BacklogVersions) {
  const changed = tasks.filter(({ change }) => change)
  const isShort = changed.length <= MOST_WITH_TEXTS
  const itemFor = async ({ before, after, was, is, change }: ComparedTask) => {
    const hasTexts = isShort && change!.sections.length > 0
    return {
      ...change!,
      ...itemOf(is!),
      /** Whether it was DONE before and after: no agent will do what is new in it. */
      isDone: was?.status === 'DONE' && is!.status === 'DONE',
      /** What changed in its texts; empty where many tasks have changed. */
      texts: hasTexts ? detached(textChanges(await read(before!), await read(after!))) : [],
    }
  }
  const items: Awaited<ReturnType<typeof itemFor>>[] = []
  for (const one of changed) items.push(await itemFor(one))
  return items
}

async function comparedTasks({ pairs, reader, read }: BacklogVersions, vocabulary: TaskVocabulary) {
  const [readOld, readNew] = [reader(EARLIER_FACTS), reader(FACTS)]
  const compare = async ({ before, after }: BacklogVersions['pairs'][number]) => {
    const isChanged = before?.blob !== after?.blob || before?.file !== after?.file
    const recent = after && (await readNew(after))
    const old = isChanged ? before && (await readOld(before)) : recent
    const plain = isChanged && old && recent && changeOfPlain(old, recent, vocabulary)
    const isBoth = isChanged && before && after
    const change = plain || (isBoth && changeBetween(await read(before), await read(after))) || null
    const [was, is] = [old?.facts ?? null, recent?.facts ?? null]
    return { before, after, was, is, isChanged, change: change && detached(change) }
  }
  const compared: Awaited<ReturnType<typeof compare>>[] = []
  for (const pair of pairs) compared.push(await compare(pair))
  return compared
}

/** If more tasks have changed, only those with unclear needs are linted; `ralph lint` finds the rest. */
const MOST_LINTED = 1000

/** The problems that lint did not find before, and how many changed tasks were not linted, because there are too many. */
async function problemsIn(
  tasks: readonly ComparedTask[],
  { versions, before, after }: { versions: BacklogVersions; before: Backlog; after: Backlog },
  around: LintContext,
) {
  const changed = tasks.filter((task) => task.after && task.isChanged)
  const isUnsettled = unsettledBetween(before, after)
  const linted = tasks.filter(
    (task) => (task.isChanged && changed.length <= MOST_LINTED) || isUnsettled(task),
  )
  const problems: Diagnostic[] = []
  if (linted.length > 0) {
    const [lintOld, lintNew] = [before, after].map(({ states }) =>
      startLint(
        states.map(({ task }) => task),
        around,
      ),
    )
    for (const task of linted) {
      if (!task.after) continue
      const is = lintNew!(await versions.read(task.after))
      const was = task.before && is.length > 0 ? lintOld!(await versions.read(task.before)) : []
      problems.push(...detached(newProblems(is, was)))
    }
  }
  return {
    problems: problems.toSorted(byPlace),
    unlinted: changed.length - linted.filter((task) => changed.includes(task)).length,
  }
}

function itemOf({ id, title, file }: EarlierTask): DiffItem {
  return { id, title, file }
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
function unsettledBetween(before: Backlog, after: Backlog): (task: ComparedTask) => boolean {
  const [were, are] = [before, after].map(
    ({ states }) => new Map(states.map((state) => [state.task.file, unclearText(state)])),
  )
  return (task) => {
    const text = are?.get(task.after?.file ?? '') ?? ''
    return text !== '' && were?.get(task.before?.file ?? '') !== text
  }
}

function unclearText({ waiting }: TaskState<EarlierTask>): string {
  if (waiting.length === 0) return ''
  const unclear = waiting.filter(({ kind }) => kind !== 'dependency')
  return unclear.length === 0 ? '' : JSON.stringify(unclear)
}

function newCycles(before: Backlog, after: Backlog): readonly (readonly string[])[] {
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
