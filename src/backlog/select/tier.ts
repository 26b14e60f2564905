import { type Facts, type SectionName, TIERS, type Task, type Tier } from '../model.ts'

/** The thresholds of a tier, and the limits of its tasks. */
interface TierRow {
  /** The least number of dependencies, or outputs, for this tier; null: they never lead to it. */
  readonly fromDepends: number | null
  readonly fromProduces: number | null
  readonly maxTurns: number
  readonly timeoutSeconds: number
}

/** What decides a task's tier. */
export interface TierTable {
  readonly rows: Readonly<Record<Tier, TierRow>>
  /** A task with one of these words in its title or text is Heavy. */
  readonly keywords: readonly string[]
}

/** The tiers without a configuration. */
export const DEFAULT_TIERS: TierTable = {
  rows: {
    Light: { fromDepends: 0, fromProduces: 0, maxTurns: 50, timeoutSeconds: 600 },
    Standard: { fromDepends: 2, fromProduces: 3, maxTurns: 75, timeoutSeconds: 900 },
    Heavy: { fromDepends: 4, fromProduces: 5, maxTurns: 125, timeoutSeconds: 1200 },
  },
  keywords: ['integration', 'end-to-end', 'e2e', 'refactor'],
}

/** A task's tier and limits, and why. */
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

/** The tier in the task's Complexity; without one, the highest that its dependencies, outputs or words lead to. */
export function tierOf(task: Task, tiers: TierTable = DEFAULT_TIERS): TierChoice {
  return choose(task, tiers, () => keywordIn(task, tiers))
}

/** The facts that decide a tier. */
export const TIER_FACTS = ['complexity', 'outputs', 'turns', 'timeoutSeconds'] as const

type TierFacts = Facts<(typeof TIER_FACTS)[number]>

/** The same for a task whose file `mayDecideTier` returned false for: its facts are enough. */
export function tierOfFacts(facts: TierFacts, tiers: TierTable): TierChoice {
  return choose(facts, tiers, () => null)
}

/** Tests whether words of the file may decide its tier, from its bytes, each as one unit: false is certain, true is not. */
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

/** These sections do not show how hard the task is. */
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
    const word = tier === 'Heavy' && reasons.length === 0 ? keyword() : null
    if (word !== null) reasons.push(`says "${word}"`)
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

/** Makes a table's search only once, as ten thousand tasks use the same table. */
function searchOf(tiers: TierTable): KeywordSearch {
  const made = searches.get(tiers) ?? searchFor(tiers.keywords)
  searches.set(tiers, made)
  return made
}

/** Returns the first keyword that is in a text as a whole word, as the text spells it; null if there is none. */
type KeywordSearch = (text: string) => string | null

/** Makes the search for these words, ignoring case. */
export function searchFor(keywords: readonly string[]): KeywordSearch {
  const words = keywords.filter((word) => word !== '')
  if (words.length === 0) return () => null
  const anywhere = new RegExp(words.map(escaped).join('|'), 'iv')
  let whole: RegExp | undefined
  // Most texts contain none: this test is faster, and compiling the other pattern takes 6 ms.
  return (text) => {
    if (!anywhere.test(text)) return null
    whole ??= wholeWords(words)
    return whole.exec(text)?.[0] ?? null
  }
}

/** Tests whether a text may contain one of the words, from its UTF-8 bytes, each as one unit: false is certain, true is not. */
export function byteSearchFor(keywords: readonly string[]): (bytes: string) => boolean {
  const words = keywords.filter((word) => word !== '')
  if (words.length === 0) return () => false
  if (!words.every((word) => /^[\x20-\x7e]*$/.test(word))) return () => true
  // Ignoring case, s also matches the long s, and k the Kelvin sign.
  const pattern = words
    .map(escaped)
    .join('|')
    .replace(/s/gi, '(?:s|\xc5\xbf)')
    .replace(/k/gi, '(?:k|\xe2\x84\xaa)')
  const anywhere = new RegExp(pattern, 'i')
  return (bytes) => anywhere.test(bytes)
}

/**
 * The characters that continue a word. Scripts without spaces between words are left out, and so is Hangul, which
 * attaches particles to foreign words: `refactor를` contains refactor.
 */
const LETTER = String.raw`[[\p{L}\p{M}\p{N}_]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}]]`

function wholeWords(words: readonly string[]): RegExp {
  const startsWithLetter = new RegExp(`^${LETTER}`, 'v')
  const endsWithLetter = new RegExp(`${LETTER}$`, 'v')
  const patterns = words.map((word) => {
    const before = startsWithLetter.test(word) ? `(?<!${LETTER})` : ''
    const after = endsWithLetter.test(word) ? `(?!${LETTER})` : ''
    return before + escaped(word) + after
  })
  return new RegExp(patterns.join('|'), 'iv')
}

function escaped(word: string): string {
  return word.replace(/[\^$\\.*+?()[\]{}|/]/g, String.raw`\$&`)
}
