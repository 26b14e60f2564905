import { type Facts, TIERS, type SectionName, type Task, type Tier } from '../task/model.ts'
import { byteSearchFor, searchFor, type KeywordSearch } from './keywords.ts'

/** Where a tier begins, and what a task in it may take. */
export interface TierRow {
  /** From this many dependencies, or outputs, on; null: they never make a task this tier. */
  readonly fromDepends: number | null
  readonly fromProduces: number | null
  readonly maxTurns: number
  readonly timeoutSeconds: number
}

/** How a task's tier is told. */
export interface TierTable {
  readonly rows: Readonly<Record<Tier, TierRow>>
  /** A task that says one of them in its title or text is Heavy. */
  readonly keywords: readonly string[]
}

/** The tiers where no configuration says otherwise. */
export const DEFAULT_TIERS: TierTable = {
  rows: {
    Light: { fromDepends: 0, fromProduces: 0, maxTurns: 50, timeoutSeconds: 600 },
    Standard: { fromDepends: 2, fromProduces: 3, maxTurns: 75, timeoutSeconds: 900 },
    Heavy: { fromDepends: 4, fromProduces: 5, maxTurns: 125, timeoutSeconds: 1200 },
  },
  keywords: ['integration', 'end-to-end', 'e2e', 'refactor'],
}

/** How much a task is given, and why. */
export interface TierChoice {
  readonly tier: Tier
  readonly source: 'explicit' | 'detected'
  /** The task's own Turns, else the tier's. */
  readonly maxTurns: number
  /** The task's own Timeout, else the tier's. */
  readonly timeoutSeconds: number
  /** In a few words: `4 dependencies`, `says "refactor"`. */
  readonly why: string
}

/** The tier that the task's Complexity names; without one, the highest that its dependencies, outputs or words call for. */
export function tierOf(task: Task, tiers: TierTable = DEFAULT_TIERS): TierChoice {
  return choose(task, tiers, () => keywordIn(task, tiers))
}

/** The facts that a tier is told by. */
export const TIER_FACTS = ['complexity', 'outputs', 'turns', 'timeoutSeconds'] as const

type TierFacts = Facts<(typeof TIER_FACTS)[number]>

/** The same of a task whose file `mayDecideTier` said no of, for which its facts are enough. */
export function tierOfFacts(facts: TierFacts, tiers: TierTable): TierChoice {
  return choose(facts, tiers, () => null)
}

/** Whether words of the file may decide its tier, asked of its bytes, each as one unit: no is certain, yes is not. */
export function mayDecideTier(tiers: TierTable): (bytes: string) => boolean {
  return byteSearchFor(tiers.keywords)
}

function choose(task: TierFacts, tiers: TierTable, keyword: () => string | null): TierChoice {
  const { tier, why } = task.complexity
    ? { tier: task.complexity, why: 'set by Complexity' }
    : detect(task, tiers, keyword)
  const row = tiers.rows[tier]
  return {
    tier,
    source: task.complexity ? 'explicit' : 'detected',
    maxTurns: task.turns ?? row.maxTurns,
    timeoutSeconds: task.timeoutSeconds ?? row.timeoutSeconds,
    why,
  }
}

/** What these say is not about how hard the task is. */
const NOT_SEARCHED: ReadonlySet<SectionName | null> = new Set<SectionName>([
  'Hints',
  'Produces',
  'Completion Notes',
  'Blocked',
])

function detect(
  task: TierFacts,
  tiers: TierTable,
  keyword: () => string | null,
): { tier: Tier; why: string } {
  const depends = task.needs.length < 2 ? task.needs.length : new Set(task.needs).size
  for (const tier of HIGHEST_FIRST) {
    const { fromDepends, fromProduces } = tiers.rows[tier]
    const reasons: string[] = []
    if (reaches(depends, fromDepends)) reasons.push(counted(depends, 'dependency', 'dependencies'))
    if (reaches(task.outputs, fromProduces)) reasons.push(counted(task.outputs, 'output', 'outputs'))
    const said = tier === 'Heavy' && reasons.length === 0 ? keyword() : null
    if (said !== null) reasons.push(`says "${said}"`)
    if (reasons.length > 0) return { tier, why: reasons.join(', ') }
  }
  return { tier: 'Light', why: 'nothing calls for more' }
}

const HIGHEST_FIRST = TIERS.toReversed()

function reaches(count: number, from: number | null): boolean {
  return from !== null && count >= from
}

function counted(count: number, one: string, many: string): string {
  return `${count === 0 ? 'no' : count} ${count === 1 ? one : many}`
}

function keywordIn(task: Task, tiers: TierTable): string | null {
  const search = searchOf(tiers)
  const inTitle = search(task.title)
  if (inTitle !== null) return inTitle
  for (const { name, span } of task.sections) {
    const found = NOT_SEARCHED.has(name) ? null : search(task.source.slice(span.start, span.end))
    if (found !== null) return found
  }
  return null
}

const searches = new WeakMap<TierTable, KeywordSearch>()

/** A table's search is made once, for a backlog asks with the same table ten thousand times. */
function searchOf(tiers: TierTable): KeywordSearch {
  const made = searches.get(tiers) ?? searchFor(tiers.keywords)
  searches.set(tiers, made)
  return made
}
