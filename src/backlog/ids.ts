/**
 * The number in an id: `4` of T-004. With a suffix, or by a later pattern of the configuration, it is a text that begins
 * with the number: `4.1`, `4b`, and `2-1` by the second pattern.
 */
export type TaskNumber = number | string

/** How a team writes the ids of its tasks: the one place that says what an id is. */
export interface TaskIds {
  /** The id in a task file's name: `T-004.md`, `T-004b-some-slug.md`; null for a name that is not a task's. */
  readonly inFileName: (name: string) => string | null
  /** The id in the path of a task file. */
  readonly inPath: (file: string) => string
  /** The number of an id; NaN for a text that is none. */
  readonly numberOf: (id: string) => TaskNumber
  /** The id of a number, padded to that many digits. */
  readonly idOf: (number: TaskNumber, digits: number) => string
  /**
   * A regular expression in which `<id>` stands for an id, and `<named>` for one in prose: where ids are bare numbers,
   * only a file's name and Depends have them.
   */
  readonly regex: (source: string, flags?: string) => RegExp
  /** What a range of numbers includes: also tasks with a suffix, where they are known; null if it is none. */
  readonly range: (from: TaskNumber, to: TaskNumber) => readonly TaskNumber[] | null
  readonly patterns: readonly string[]
  /** Patterns, for git, of the names that task files may have. */
  readonly globs: readonly string[]
  /** The same ids, for reading ranges among these tasks; a function is asked for them at each range. */
  readonly among: (tasks: Numbered | (() => Numbered)) => TaskIds
}

type Numbered = readonly { readonly number: TaskNumber }[]

// A letter that begins a word is no suffix, nor is the full stop of a sentence.
const SUFFIX = String.raw`(?:\.\d{1,6}(?!\d)|[a-z](?![a-z\d_])){0,4}`
const DIGITS = String.raw`\d{1,12}`
// A range is expanded, so it is limited.
const LONGEST_RANGE = 1000

/** Whether ids can be written like that: `TASK-{n}`, `US-{n}`, `{n}`. */
export function isPattern(pattern: string): boolean {
  return /^(?:[\p{L}\d_-]*[\p{L}_-])?\{n\}$/u.test(pattern)
}

/** A name that two of the patterns would match; null if there is none. */
export function clashOf(patterns: readonly string[]): string | null {
  const prefixes = patterns.map(prefixOf)
  for (const [index, prefix] of prefixes.entries())
    for (const [at, other] of prefixes.entries())
      if (index !== at && new RegExp(`^${prefix}(?:$|\\d)`, 'i').test(other)) return `${other}1.md`
  return null
}

/** The pattern by which a file's name could be an id; null if there is none. */
export function patternOf(name: string): string | null {
  const [, prefix] = ANY_NAME.exec(name) ?? []
  return prefix !== undefined && isPattern(`${prefix}{n}`) ? `${prefix}{n}` : null
}

const ANY_NAME = new RegExp(String.raw`^([^\d.]*?)${DIGITS}${SUFFIX}(?:-.*)?\.md$`, 'is')

/** The ids of these patterns, each with `{n}` for the number. */
export function taskIds(
  patterns: readonly string[] = USUAL_PATTERNS,
  suffixed: () => readonly TaskNumber[] = () => [],
): TaskIds {
  const prefixes = patterns.map(prefixOf)
  const groups = prefixes.map((prefix) => `(${prefix})`).join('|')
  const named = prefixes.filter((prefix) => prefix !== '').join('|')
  const sources = {
    '<id>': `(?:${prefixes.join('|')})${DIGITS}${SUFFIX}`,
    '<named>': named === '' ? '(?!)' : `(?:${named})${DIGITS}${SUFFIX}`,
  }
  const [first = ''] = prefixes
  // Nearly all ids, read several times as fast.
  const plain = new RegExp(`^${first}${DIGITS}$`)
  const plainFile = new RegExp(`^${first}${DIGITS}\\.md$`)
  const file = new RegExp(`^(?:${groups})(${DIGITS}${SUFFIX})(?:-.*)?\\.md$`, 'is')
  const whole = new RegExp(`^(?:${groups})(${DIGITS})(${SUFFIX})$`, 'i')
  const known = new Map<string, Map<string, RegExp>>()
  const ids: TaskIds = {
    inFileName(name) {
      if (plainFile.test(name)) return name.slice(0, -'.md'.length)
      const [isFile, ...found] = file.exec(name) ?? []
      return isFile === undefined ? null : prefixes[placeIn(found)]! + found.at(-1)!
    },
    inPath: (path) => ids.inFileName(path.slice(path.lastIndexOf('/') + 1)) ?? path,
    numberOf(id) {
      if (plain.test(id)) return Number(id.slice(first.length))
      const [isId, ...found] = whole.exec(id) ?? []
      if (isId === undefined) return NaN
      const [digits = '', suffix = ''] = found.slice(prefixes.length)
      const place = placeIn(found)
      if (suffix === '' && place === 0) return Number(digits)
      const later = place === 0 ? '' : `-${place}`
      return `${Number(digits)}${plainSuffix(suffix)}${later}`
    },
    idOf(number, digits) {
      const parts = partsOf(number)
      return prefixes[parts.place]! + String(parts.first).padStart(digits, '0') + parts.suffix
    },
    regex(source, flags = 'i') {
      let made = known.get(flags)
      if (made === undefined) known.set(flags, (made = new Map()))
      let regex = made.get(source)
      if (regex === undefined) {
        const text = source.replace(/<id>|<named>/g, (name) => sources[name as keyof typeof sources])
        made.set(source, (regex = new RegExp(text, flags)))
      }
      return regex
    },
    range(from, to) {
      if (from === to) return [from]
      const [begin, last] = [partsOf(from), partsOf(to)]
      const { place } = begin
      const count = last.first - begin.first
      if (place !== last.place || compareNumbers(from, to) > 0 || count >= LONGEST_RANGE) return null
      const numbers = Array.from({ length: count }, (_, index) =>
        place === 0 ? begin.first + index + 1 : `${begin.first + index + 1}-${place}`,
      )
      const between = suffixed().filter(
        (one) => partsOf(one).place === place && compareNumbers(one, from) > 0 && compareNumbers(one, to) < 0,
      )
      return [...new Set([from, ...numbers, ...between, to])].sort(compareNumbers)
    },
    patterns,
    globs: prefixes.map((prefix) => `${prefix}[0-9]*.md`),
    among(tasks) {
      if (typeof tasks === 'function') return taskIds(patterns, () => suffixedIn(tasks()))
      const found = suffixedIn(tasks)
      return taskIds(patterns, () => found)
    },
  }
  return ids
}

function suffixedIn(tasks: Numbered): readonly TaskNumber[] {
  return tasks.flatMap(({ number }) =>
    typeof number === 'string' && partsOf(number).suffix !== '' ? [number] : [],
  )
}

const USUAL_PATTERNS = ['T-{n}']

/** The ids without a configuration. */
export const USUAL_IDS = taskIds()

/** The order of numbers: the number itself, the suffix (`.2` before `.10`), the pattern's place. */
export function compareNumbers(one: TaskNumber, other: TaskNumber): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other
  return String(one).localeCompare(String(other), 'en', { numeric: true })
}

/** How many digits an id has. */
export function digitsIn(id: string): number {
  return ID_PARTS.exec(id)?.[2]?.length ?? 0
}

/** The id of a number in the style of another id, which has the same pattern. */
export function idLike(id: string, number: TaskNumber): string {
  const { first, suffix } = partsOf(number)
  return (ID_PARTS.exec(id)?.[1] ?? '') + String(first).padStart(digitsIn(id), '0') + suffix
}

/** The id with its number padded to that many digits. */
export function padded(id: string, digits: number): string {
  return id.replace(
    ID_PARTS,
    (_, prefix: string, number: string, suffix: string) =>
      prefix + String(Number(number)).padStart(digits, '0') + suffix,
  )
}

/** What a text says that may be an id, without leading zeros: `t-` and `4b` of T-004b; null for a text that is none. */
export function readId(text: string) {
  const [isId, prefix = '', digits, suffix = ''] = ID_PARTS.exec(text) ?? []
  return isId === undefined
    ? null
    : { prefix: prefix.toLowerCase(), number: `${Number(digits)}${plainSuffix(suffix)}` }
}

function plainSuffix(suffix: string): string {
  return suffix.toLowerCase().replace(/\.0+(?=\d)/g, '.')
}

const ID_PARTS = new RegExp(`^(.*?)(${DIGITS})(${SUFFIX})$`, 'i')

/** What a number says: that of its id, the suffix, and the place of its pattern. */
export function partsOf(number: TaskNumber) {
  if (typeof number === 'number') return { first: number, suffix: '', place: 0 }
  const [, first, suffix = '', place] = /^(\d+)([^-]*)-?(\d*)$/.exec(number) ?? []
  return { first: Number(first), suffix, place: Number(place) }
}

function prefixOf(pattern: string): string {
  return pattern.slice(0, -'{n}'.length)
}

function placeIn(groups: readonly (string | undefined)[]): number {
  return groups.findIndex((group) => group !== undefined)
}
