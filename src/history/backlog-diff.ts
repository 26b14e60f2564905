import type { Diagnostic } from '../base/diagnostic.ts'
import type { TaskJson } from '../events/task.ts'
import type { Git } from '../git/git.ts'
import type { Range } from '../git/range.ts'
import {
  changedVersions,
  readVersions,
  scanVersions,
  type BacklogPlace,
  type BacklogVersions,
  type ScannedVersion,
  type TaskVersion,
  type TaskVersions,
} from './backlog-versions.ts'
import { changeBetween, changeOfPlain, turnOf, type TaskChange } from './task-change.ts'
import { byPlace, startLint } from '../lint/lint.ts'
import type { LintContext } from '../lint/rule.ts'
import { select, type Selection, type TaskState } from '../select/selection.ts'
import { JSON_FACTS, taskJson } from '../select/task-json.ts'
import { mayDecideTier, TIER_FACTS, tierOf, tierOfFacts, type TierTable } from '../select/tier.ts'
import { blockedReason } from '../select/why-not.ts'
import { detached } from '../task/facts.ts'
import type { Facts } from '../task/model.ts'
import { factsScanner } from '../task/scan-facts.ts'
import type { TaskVocabulary } from '../task/vocabulary.ts'

const FACTS = ['title', 'depends', 'milestone', 'completed', 'cost'] as const
type DiffedTask = Facts<(typeof FACTS)[number]>

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

type Scanned = ScannedVersion<(typeof FACTS)[number]>
type Selected = Selection<DiffedTask>
type Writable = {
  -readonly [
    K in Exclude<keyof BacklogDiff, 'range' | 'eligible' | 'cycles' | 'selection' | 'unlinted'>
  ]: BacklogDiff[K][number][]
}

/** Compares the backlog at both ends of a range: the tasks, and which of them are eligible. */
export async function diffBacklog(git: Git, range: Range, place: DiffPlace): Promise<BacklogDiff> {
  const versions = await readVersions(git, range, place)
  const pairs = changedVersions(versions)
  const known = await scanVersions(versions, FACTS, place.vocabulary)
  const factsIn = (all: readonly TaskVersion[]): readonly DiffedTask[] =>
    all.map((version) => known.get(version)!.facts)
  const [before, after] = [select(factsIn(versions.before)), select(factsIn(versions.after))]
  const diff = { versions, known, before, after }
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

interface Compared {
  readonly versions: BacklogVersions
  readonly known: ReadonlyMap<TaskVersion, Scanned>
  readonly before: Selected
  readonly after: Selected
}

async function compareAll(
  { versions, known, after }: Compared,
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
  const addedJson = addedReader(versions, place)
  for (const { before, after } of pairs) {
    const was = before && known.get(before)!
    const is = after && known.get(after)!
    if (!is) {
      if (was) found.removed.push(itemOf(was.facts))
      continue
    }
    if (!was) found.added.push(await addedJson(is.version, states.get(is.version.file)!))
    const change = was && (await changeOf(versions, was, is, place.vocabulary))
    if (change) found.changed.push({ ...detached(change), title: itemOf(is.facts).title })
    const turn = turnOf(was?.facts.status ?? null, is.facts.status)
    if (turn === 'done') found.completed.push({ ...itemOf(is.facts), text: spentText(is.facts) })
    if (turn === 'blocked') {
      const text = detached(blockedReason(await versions.read(is.version)))
      found.blocked.push({ ...itemOf(is.facts), text })
    }
    if (turn === 'open') found.reopened.push(itemOf(is.facts))
  }
  return found
}

async function changeOf(
  { bytesOf, read }: BacklogVersions,
  was: Scanned,
  is: Scanned,
  vocabulary: TaskVocabulary,
): Promise<TaskChange | null> {
  const plain = ({ version, facts }: Scanned) => {
    const bytes = bytesOf(version)
    return {
      id: facts.id,
      title: facts.title,
      file: version.file,
      bytes: typeof bytes === 'string' ? bytes : '',
    }
  }
  const quick = was.isPlain && is.isPlain ? changeOfPlain(plain(was), plain(is), vocabulary) : undefined
  return quick ?? changeBetween(await read(was.version), await read(is.version))
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
  { versions, before, after }: Compared,
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

/** Copies the strings: a part of a text would keep the whole text in memory. */
function itemOf({ id, title }: DiffedTask): DiffItem {
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
  before: Selected,
  after: Selected,
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

function unclearText({ waiting }: TaskState<DiffedTask>): string {
  if (waiting.length === 0) return ''
  const unclear = waiting.filter(({ kind }) => kind !== 'dependency')
  return unclear.length === 0 ? '' : JSON.stringify(unclear)
}

function newCycles(before: Selected, after: Selected): readonly (readonly string[])[] {
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
