import { TIERS, type SectionName, type Task, type Tier } from '../task/model.ts'
import { searchFor, type KeywordSearch } from './keywords.ts'

/** What a task of a tier may spend, and where the tier begins. */
export interface TierRow {
  readonly turns: number
  readonly timeoutSeconds: number
  /** From this many dependencies on; what is not said is as in `DEFAULT_TIERS`. */
  readonly fromDepends?: number
  /** From this many outputs on; what is not said is as in `DEFAULT_TIERS`. */
  readonly fromProduces?: number
}

/** Each tier's row, and the words of which one in its title or text makes a task Heavy. */
export type TierTable = Readonly<Record<Tier, TierRow>> & { readonly keywords: readonly string[] }

export const DEFAULT_TIERS = {
  Light: { turns: 50, timeoutSeconds: 600, fromDepends: 0, fromProduces: 0 },
  Standard: { turns: 75, timeoutSeconds: 900, fromDepends: 2, fromProduces: 3 },
  Heavy: { turns: 125, timeoutSeconds: 1200, fromDepends: 4, fromProduces: 5 },
  keywords: ['integration', 'end-to-end', 'e2e', 'refactor'],
} as const satisfies TierTable

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
  const { tier, why } = task.complexity
    ? { tier: task.complexity, why: 'set by Complexity' }
    : detect(task, tiers)
  const row = tiers[tier]
  return {
    tier,
    source: task.complexity ? 'explicit' : 'detected',
    maxTurns: task.turns ?? row.turns,
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

function detect(task: Task, tiers: TierTable): { tier: Tier; why: string } {
  const depends = new Set(task.depends.map((dependency) => dependency.number)).size
  const produces = task.produces?.length ?? 0
  for (const tier of TIERS.toReversed()) {
    const { fromDepends, fromProduces } = { ...DEFAULT_TIERS[tier], ...tiers[tier] }
    const reasons: string[] = []
    if (depends >= fromDepends) reasons.push(counted(depends, 'dependency', 'dependencies'))
    if (produces >= fromProduces) reasons.push(counted(produces, 'output', 'outputs'))
    const keyword = tier === 'Heavy' && reasons.length === 0 ? keywordIn(task, tiers) : null
    if (keyword !== null) reasons.push(`says "${keyword}"`)
    if (reasons.length > 0) return { tier, why: reasons.join(', ') }
  }
  return { tier: 'Light', why: 'nothing calls for more' }
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
