const NONE = new Set(['', 'none', '(none)', 'n/a', '-', '–', '—'])

/** Whether a value says that there is nothing. */
export function isNone(value: string): boolean {
  return NONE.has(value.trim().toLowerCase())
}

/** The parts of a value between commas; empty where it says `none`. */
export function splitList(value: string): string[] {
  if (isNone(value)) return []
  return value
    .split(/[,，、\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** The paths of a value, without the remark that may follow each in brackets. */
export function splitPaths(value: string): string[] {
  return splitList(value).flatMap((part) => {
    const remark = /[)）]$/.test(part) ? Math.max(part.lastIndexOf(' ('), part.lastIndexOf('（')) : -1
    return remark === 0 ? [] : [remark < 0 ? part : part.slice(0, remark).trimEnd()]
  })
}

/** `§3.2, §4`, also without commas: each reference with its sign. */
export function splitReferences(value: string): string[] {
  if (isNone(value)) return []
  return value
    .split(/[,，、;\s]+/)
    .map((part) => part.trim())
    .filter((part) => part !== '' && part !== '§')
}

/** A task's number, and the text that names it. */
export interface IdInText {
  readonly number: number
  readonly literal: string
}

/** What a reading of dependencies found, and the first piece that is no id. */
export interface DependsReading {
  readonly ids: readonly IdInText[]
  readonly stranger: string | null
}

// A range of ids is written out, so it is bounded.
const LONGEST_RANGE = 1000
const ID = String.raw`\[?(T-\d{1,12})\]?`
const ONE = new RegExp(`^${ID}$`, 'i')
const RANGE = new RegExp(`^${ID}–${ID}$`, 'i')

/** Reads task ids: between commas, semicolons, `and` or spaces, as ranges, with remarks in brackets. */
export function readDepends(value: string): DependsReading {
  if (isNone(value)) return { ids: [], stranger: null }
  const spaced = value.replace(/\s+/g, ' ')
  const bare = spaced.replace(/(T-\d{1,12}\]?)(?: ?[(（][^()（）]*[)）])+/gi, '$1')
  const joined = bare.replace(/ ?(?:–|\.\.+|…|\bto\b) ?(?=\[?T-)/gi, '–')
  const ids: IdInText[] = []
  for (const part of joined.split(/[,;，；、&\s]+|\band\b/i)) {
    if (part === '') continue
    const found = idsIn(part)
    if (found === null) return { ids, stranger: part }
    ids.push(...found)
  }
  return { ids, stranger: null }
}

function idsIn(part: string): IdInText[] | null {
  const id = ONE.exec(part)?.[1]
  if (id !== undefined) return [{ number: numberOf(id), literal: id }]
  const range = RANGE.exec(part)
  if (range === null) return null
  const [first, last] = [numberOf(range[1]!), numberOf(range[2]!)]
  if (last < first || last - first >= LONGEST_RANGE) return null
  return Array.from({ length: last - first + 1 }, (_, i) => ({ number: first + i, literal: range[1]! }))
}

/** The number of an id: `T-004` is 4. */
export function numberOf(id: string): number {
  return Number(id.slice(2))
}

/** The id of a number, padded as a neighbour is. */
export function idOf(number: number, digits: number): string {
  return `T-${String(number).padStart(digits, '0')}`
}
