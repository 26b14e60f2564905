import type { KeyMeaning, PlainWords } from './plain-words.ts'
import { hasLoneLineEnd, lineEnd } from './markdown/scan.ts'
import type { TaskBytes } from './task-files.ts'

/** The block of a file in the plainest style. */
export interface PlainBlock {
  /** The wanted fields that the block may have; null for others. */
  readonly fields: readonly (KeyMeaning | null)[]
  /** The bytes after each key; undefined for a field that the block does not have. */
  readonly values: readonly (string | undefined)[]
  /** The offset of the first section, or the end of the source. */
  readonly end: number
}

type IsWanted = (meaning: KeyMeaning) => boolean

/**
 * Reads the blocks of files in the plainest style: `# T-004: …`, then only blank lines and bullets of one line, `-
 * **Key**: value`, no field twice, up to the first `## `; null for any other. Only wanted fields are returned. A
 * backlog has its fields in one order or a few, thousands of times, so an order that was read once by lines is then
 * read by one regular expression. That leaves the engine little to compile, which would take most of the time.
 */
export function plainBlockScanner(
  words: PlainWords,
  isWanted: IsWanted,
): (file: Pick<TaskBytes, 'id' | 'bytes'>) => PlainBlock | null {
  const layouts: Layout[] = []
  const learn = ({ rows: read, blankLines }: BlockLines): void => {
    // The engine could not compile a pattern of thousands of lines.
    if (read.length > MOST_ROWS || [...read, { blankLines }].some((row) => row.blankLines > MOST_ROWS)) return
    // Without the values, which are parts of the whole text.
    const rows = read.map(({ field, blankLines }) => ({ field, blankLines }))
    for (const [i, layout] of layouts.entries()) {
      const merged = layout.blankLines === blankLines ? merge(layout.rows, rows) : null
      if (merged === null) continue
      if (merged.length > layout.rows.length) layouts[i] = layoutOf(merged, blankLines, isWanted)
      return
    }
    if (layouts.length < MOST_LAYOUTS) layouts.push(layoutOf(rows, blankLines, isWanted))
  }
  return ({ id, bytes }) => {
    for (const { pattern, fields } of layouts) {
      pattern.lastIndex = 0
      const values = pattern.exec(bytes)
      if (values === null || values[1] !== id) continue
      const end = pattern.lastIndex
      return hasKeyInRow(bytes, end) ? null : { fields, values, end }
    }
    const lines = startsWithHeading(bytes, id) ? readLines(bytes, lineEnd(bytes, 0).next, words) : null
    if (lines === null || hasKeyInRow(bytes, lines.end)) return null
    if (lines.end < bytes.length) learn(lines)
    const wanted = lines.rows.filter(({ field }) => isWanted(field))
    const fields = wanted.map(({ field }) => field)
    return { fields, values: wanted.map(({ value }) => value), end: lines.end }
  }
}

const MOST_LAYOUTS = 8

/** Optional fields in an order, and the pattern that matches files with that order. */
interface Layout {
  readonly rows: readonly LayoutRow[]
  /** The number of blank lines below the last field. */
  readonly blankLines: number
  /** Sticky. Captures the id and the values of the wanted fields. */
  readonly pattern: RegExp
  /** The field of each capture; null for the whole match and the id. */
  readonly fields: readonly (KeyMeaning | null)[]
}

/** A field, and the number of blank lines above it. */
interface LayoutRow {
  readonly field: KeyMeaning
  readonly blankLines: number
}

function layoutOf(rows: readonly LayoutRow[], blankLines: number, isWanted: IsWanted): Layout {
  const lines = rows.map(({ field, blankLines }) => {
    const text = field.mayNeed ? '(?:[^\\r\\nTt]|[Tt](?!-\\d))*' : '[^\\r\\n]*'
    const value = isWanted(field) ? `(${text})` : text
    return `(?:\\n{${blankLines}}${escaped(field.start)}${value}\\n)?`
  })
  const fields = rows.map(({ field }) => field).filter(isWanted)
  const heading = '# (T-\\d{1,12}):[^\\r\\n]*\\n'
  const pattern = new RegExp(`${heading}${lines.join('')}\\n{${blankLines}}(?=## )`, 'y')
  return { rows, blankLines, pattern, fields: [null, null, ...fields] }
}

function escaped(text: string): string {
  return text.replace(/[*-]/g, '\\$&')
}

/** One order that covers two; null if there is none, or if it would allow a field twice. */
function merge(rows: readonly LayoutRow[], others: readonly LayoutRow[]): readonly LayoutRow[] | null {
  const merged = [...rows]
  let at = 0
  for (const other of others) {
    const found = merged.findIndex(({ field }) => field === other.field)
    const isAnew = found < 0 && merged.every(({ field }) => (field.bit & other.field.bit) === 0)
    if (isAnew && merged.length < MOST_ROWS) merged.splice(at++, 0, other)
    else if (found < at || merged[found]!.blankLines !== other.blankLines) return null
    else at = found + 1
  }
  return merged
}

const MOST_ROWS = 40

/** A block that was read by lines. */
interface BlockLines {
  readonly rows: readonly (LayoutRow & { readonly value: string })[]
  /** The number of blank lines below the last field. */
  readonly blankLines: number
  /** The offset of the first section, or the end of the source. */
  readonly end: number
}

function readLines(source: string, start: number, words: PlainWords): BlockLines | null {
  if (hasLoneLineEnd(source)) return null
  const rows: (LayoutRow & { readonly value: string })[] = []
  let seen = 0
  let blankLines = 0
  let at = start
  while (at < source.length && !source.startsWith('## ', at)) {
    const { text: end, next } = lineEnd(source, at)
    if (end === at) {
      blankLines++
    } else {
      const field = fieldAt(source, at, end, words)
      if (field === null || (seen & field.bit) !== 0) return null
      seen |= field.bit
      const value = source.slice(at + field.start.length, end)
      if (field.mayNeed && HAS_ID.test(value)) return null
      rows.push({ field, blankLines, value })
      blankLines = 0
    }
    at = next
  }
  return { rows, blankLines, end: at }
}

const HAS_ID = /T-\d/i

/** Whether a line may have several fields: another bold key, or a key after a separator. */
function hasKeyInRow(bytes: string, end: number): boolean {
  return KEY_IN_ROW.test(bytes.slice(0, end))
}

// Separators beyond ASCII are matched by their last byte.
const KEY_IN_ROW =
  /(?<!\n- )\*\*[^\s*:][^*\n]*(?::\*\*|\*\*:)|(?:[|;\xb7\x9c\xa2]|  )[ \t]*[^\s:|;][^\n:|;]{0,40}:/

function startsWithHeading(source: string, id: string): boolean {
  return source.startsWith('# ') && source.startsWith(id, 2) && source.charCodeAt(2 + id.length) === COLON
}

const COLON = 58
/** The key of a line `- **Key**: …`; null for any other line. */
function fieldAt(source: string, at: number, end: number, words: PlainWords): KeyMeaning | null {
  if (!source.startsWith('- **', at)) return null
  const mark = source.indexOf('**:', at + 4)
  return mark < 0 || mark >= end ? null : words.key(source.slice(at, mark + 3))
}
