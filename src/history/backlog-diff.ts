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
  type TaskVersion,
  type TaskVersions,
} from './backlog-versions.ts'
import { changeBetween, changeOfPlain, turnOf, type TaskChange } from './task-change.ts'
import { byPlace, startLint } from '../backlog/lint/lint.ts'
import type { LintContext } from '../backlog/lint/rule.ts'
import { select, type Selection, type TaskState } from '../backlog/select/selection.ts'
import { JSON_FACTS, taskJson } from '../backlog/select/task-json.ts'
import { mayDecideTier, TIER_FACTS, tierOf, tierOfFacts, type TierTable } from '../backlog/select/tier.ts'
import { blockedReason } from '../backlog/select/why-not.ts'
import { detached, factsOf } from '../backlog/facts.ts'
import type { Facts } from '../backlog/model.ts'
import { factsScanner } from '../backlog/scan-facts.ts'

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
export interface TurnedItem extends DiffItem {
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

type Writable = {
  -readonly [
    K in Exclude<keyof BacklogDiff, 'range' | 'eligible' | 'cycles' | 'selection' | 'unlinted'>
  ]: BacklogDiff[K][number][]
}

/** Compares the backlog at both ends of a range: the tasks, and which of them are eligible. */
export async function diffBacklog(git: Git, range: Range, place: DiffPlace): Promise<BacklogDiff> {
  const ends = await readEnds(git, range, place)
  const { versions } = ends
  const pairs = versions.pairs.filter(isChanged)
  const [before, after] = [select(ends.before), select(ends.after)]
  const diff = { ends, before, after }
  const found = await compareAll(diff, pairs, place)
  const wasEligible = new Set(before.eligible.map(({ number }) => number))
  const eligible = after.eligible.filter(({ number }) => !wasEligible.has(number))
  return {
    ...found,
    ...(await problemsIn(diff, pairs, place)),
    range,
    eligible: eligible.map(({ id, title }) => ({ id, title })),
    cycles: newCycles(before, after),
    selection: after,
  }
}

/** The tasks at both ends of a range, and what has changed of each. */
interface Ends {
  readonly versions: BacklogVersions
  readonly before: readonly EarlierTask[]
  readonly after: readonly DiffedTask[]
  readonly was: ReadonlyMap<TaskVersion | null, EarlierTask>
  readonly is: ReadonlyMap<TaskVersion | null, DiffedTask>
  readonly changes: ReadonlyMap<TaskVersion, TaskChange>
}

/** Reads each content once: a changed task's two are compared while they are at hand. */
async function readEnds(git: Git, range: Range, place: BacklogPlace): Promise<Ends> {
  const { vocabulary } = place
  const [scanOld, scanNew] = [plainScanner(EARLIER_FACTS, vocabulary), plainScanner(FACTS, vocabulary)]
  const was = new Map<TaskVersion | null, EarlierTask>()
  const is = new Map<TaskVersion | null, DiffedTask>()
  const changes = new Map<TaskVersion, TaskChange>()
  const scan = (pair: TaskVersions, bytesOf: BacklogVersions['bytesOf']): void => {
    const { before, after } = pair
    const recent = after && scanNew(after, bytesOf)
    const old = isChanged(pair) ? before && scanOld(before, bytesOf) : recent
    if (after && recent) is.set(after, recent.facts)
    if (before && old) was.set(before, old.facts)
    const change = old && recent && isChanged(pair) && changeOfPlain(old, recent, vocabulary)
    if (change) changes.set(recent.version, change)
  }
  const versions = await readVersions(git, range, place, scan)
  for (const pair of versions.pairs) {
    const { before, after } = pair
    // The contents that only the disk has.
    if (!is.has(after) && !was.has(before)) scan(pair, versions.bytesOf)
    if (after && !is.has(after)) is.set(after, factsOf(await versions.read(after)))
    if (before && !was.has(before))
      was.set(before, isChanged(pair) ? factsOf(await versions.read(before)) : is.get(after)!)
    if (!before || !after || changes.has(after) || !isChanged(pair)) continue
    const change = changeBetween(await versions.read(before), await versions.read(after))
    if (change) changes.set(after, detached(change))
  }
  return {
    versions,
    before: versions.before.map((version) => was.get(version)!),
    after: versions.after.map((version) => is.get(version)!),
    was,
    is,
    changes,
  }
}

interface Compared {
  readonly ends: Ends
  readonly before: Selection<EarlierTask>
  readonly after: Selection<DiffedTask>
}

async function compareAll(
  { ends, after }: Compared,
  pairs: readonly TaskVersions[],
  place: DiffPlace,
): Promise<Omit<Writable, 'problems'>> {
  const found: Omit<Writable, 'problems'> = {
    added: [],
    removed: [],
    changed: [],
    completed: [],
    blocked: [],
    reopened: [],
  }
  const states = new Map(after.states.map((state) => [state.task.file, state]))
  const { versions } = ends
  const addedJson = addedReader(versions, place)
  for (const pair of pairs) {
    const [was, is] = [ends.was.get(pair.before), ends.is.get(pair.after)]
    if (!pair.after || !is) {
      if (was) found.removed.push(itemOf(was))
      continue
    }
    if (!was) found.added.push(await addedJson(pair.after, states.get(pair.after.file)!))
    const change = ends.changes.get(pair.after)
    if (change) found.changed.push({ ...change, title: is.title })
    const turn = turnOf(was?.status ?? null, is.status)
    if (turn === 'done') found.completed.push({ ...itemOf(is), text: spentText(is) })
    if (turn === 'blocked') {
      const text = detached(blockedReason(await versions.read(pair.after)))
      found.blocked.push({ ...itemOf(is), text })
    }
    if (turn === 'open') found.reopened.push(itemOf(is))
  }
  return found
}

/** For most new tasks the facts are enough: only the others are read whole. */
function addedReader(
  { bytesOf, read }: BacklogVersions,
  { tiers, vocabulary }: DiffPlace,
): (version: TaskVersion, state: TaskState<DiffedTask>) => Promise<TaskJson> {
  const facts = [...JSON_FACTS, ...TIER_FACTS] as const
  const scan = factsScanner(vocabulary, { facts, isWanted: mayDecideTier(tiers) })
  return async (version, state) => {
    const bytes = bytesOf(version)
    const short = typeof bytes === 'string' ? scan({ ...version, bytes }) : null
    if (short) return detached(taskJson({ ...state, task: short }, () => tierOfFacts(short, tiers)))
    const task = await read(version)
    return detached(taskJson({ ...state, task }, () => tierOf(task, tiers)))
  }
}

/** If more tasks have changed, only those with unclear needs are linted; `ralph lint` finds the rest. */
const MOST_LINTED = 1000

async function problemsIn(
  { ends: { versions }, before, after }: Compared,
  pairs: readonly TaskVersions[],
  { around }: DiffPlace,
): Promise<Pick<BacklogDiff, 'problems' | 'unlinted'>> {
  const changed = pairs.filter((pair) => pair.after !== null)
  const own = changed.length <= MOST_LINTED ? changed : unsettled(before, after, changed)
  const touched = new Set(changed.map((pair) => pair.after))
  const rest = versions.after.filter((version) => !touched.has(version))
  const others = unsettled(
    before,
    after,
    rest.map((version) => ({ before: version, after: version })),
  )
  const problems: Diagnostic[] = []
  if (own.length + others.length > 0) {
    const lintOld = startLint(
      before.states.map(({ task }) => task),
      around,
    )
    const lintNew = startLint(
      after.states.map(({ task }) => task),
      around,
    )
    for (const pair of [...own, ...others]) {
      const is = lintNew(await versions.read(pair.after!))
      const was = pair.before && is.length > 0 ? lintOld(await versions.read(pair.before)) : []
      problems.push(...detached(newProblems(is, was)))
    }
  }
  return { problems: problems.sort(byPlace), unlinted: changed.length - own.length }
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

/** The tasks whose unclear needs have changed: a needed task is gone, or is part of a cycle. */
function unsettled(
  before: Selection<EarlierTask>,
  after: Selection<DiffedTask>,
  pairs: readonly TaskVersions[],
): readonly TaskVersions[] {
  const unclear = after.states.flatMap((state) => {
    const text = unclearText(state)
    return text === '' ? [] : [[state.task.file, text] as const]
  })
  if (unclear.length === 0) return []
  const texts = new Map(unclear)
  const were = new Map(before.states.map((state) => [state.task.file, unclearText(state)]))
  return pairs.filter(({ before, after }) => {
    const text = texts.get(after?.file ?? '')
    return text !== undefined && were.get(before?.file ?? '') !== text
  })
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
