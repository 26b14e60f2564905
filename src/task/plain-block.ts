import type { KeyMeaning, PlainWords } from './plain-words.ts'
import { hasLoneLineEnd } from './scan.ts'

/** Takes one field of the block: what its key means, and where its value stands. */
export type TakeField = (meaning: KeyMeaning, start: number, end: number) => void

type IsWanted = (meaning: KeyMeaning) => boolean

/** Reads the block of one file; gives where the first section begins, null for any style but the plainest. */
export type ScanPlainBlock = (source: string, id: string, take: TakeField) => number | null

/**
 * Reads the heads of files in the plainest style: `# T-004: …`, then nothing but blank lines and bullets of one line,
 * `- **Key**: value`, no field twice, up to the first `## `. Of the fields only the wanted ones are taken.
 * The source is the file's bytes, each as one unit: all that counts for the structure is ASCII, and most of the rest
 * is never looked at.
 * A backlog has its fields in one order or a few, thousands of times: what was read line by line once is read by one
 * regular expression from then on.
 */
export function plainBlockScanner(words: PlainWords, isWanted: IsWanted): ScanPlainBlock {
  const layouts: Layout[] = []
  const learn = (block: PlainBlock): void => {
    for (const [i, { rows, blankLines }] of layouts.entries()) {
      const merged = blankLines === block.blankLines ? merge(rows, block.rows) : null
      if (merged === null) continue
      if (merged.length > rows.length) layouts[i] = layoutOf(merged, blankLines, isWanted)
      return
    }
    if (layouts.length < MOST_LAYOUTS) layouts.push(layoutOf(block.rows, block.blankLines, isWanted))
  }
  return (source, id, take) => {
    if (!startsWithHeading(source, id) || hasLoneLineEnd(source)) return null
    const start = nextLine(source, 0)
    for (const layout of layouts) {
      const end = readLayout(source, start, layout, take)
      if (end !== null) return end
    }
    const block = readLines(source, start, words)
    if (block === null) return null
    for (const { field, start, end } of block.rows) if (isWanted(field)) take(field, start, end)
    if (block.end < source.length) learn(block)
    return block.end
  }
}

const MOST_LAYOUTS = 8

/** Fields in an order, each of which may be left out, and what matches them from the line below the heading. */
interface Layout {
  readonly rows: readonly LayoutRow[]
  /** Those below the last field. */
  readonly blankLines: number
  /** Sticky. */
  readonly pattern: RegExp
  /** What the pattern captures: with null, a stretch that is not wanted. */
  readonly captures: readonly (LayoutRow | null)[]
}

/** A field, and the blank lines above it. */
interface LayoutRow {
  readonly field: KeyMeaning
  readonly blankLines: number
}

function readLayout(
  source: string,
  start: number,
  { pattern, captures }: Layout,
  take: TakeField,
): number | null {
  pattern.lastIndex = start
  const match = pattern.exec(source)
  if (match === null) return null
  let at = start
  for (let i = 0; i < captures.length; i++) {
    const row = captures[i]!
    const captured: string | undefined = match[i + 1]
    if (captured === undefined) continue
    if (row !== null) {
      at += row.blankLines + row.field.start.length
      take(row.field, at, at + captured.length)
      at++
    }
    at += captured.length
  }
  return pattern.lastIndex
}

function layoutOf(rows: readonly LayoutRow[], blankLines: number, isWanted: IsWanted): Layout {
  const captures: (LayoutRow | null)[] = []
  let pattern = ''
  let unwanted = ''
  for (const row of rows) {
    const lead = `\\n{${row.blankLines}}${escaped(row.field.start)}`
    if (!isWanted(row.field)) {
      unwanted += `(?:${lead}[^\\r\\n]*\\n)?`
      continue
    }
    if (unwanted !== '') captures.push(null)
    pattern += `${unwanted && `(${unwanted})`}(?:${lead}([^\\r\\n]*)\\n)?`
    captures.push(row)
    unwanted = ''
  }
  const whole = new RegExp(`${pattern}${unwanted}\\n{${blankLines}}(?=## )`, 'y')
  return { rows, blankLines, pattern: whole, captures }
}

/** One order for two; null where none holds both, or it would let a field be there twice. */
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

/** A block as it was read line by line. */
interface PlainBlock {
  readonly rows: readonly BlockRow[]
  /** Those below the last field. */
  readonly blankLines: number
  /** Where the first section begins; the end of the source, where none does. */
  readonly end: number
}

/** A field as it stands in a file, and where its value does. */
interface BlockRow extends LayoutRow {
  readonly start: number
  readonly end: number
}

function readLines(source: string, start: number, words: PlainWords): PlainBlock | null {
  const rows: BlockRow[] = []
  let seen = 0
  let blankLines = 0
  let at = start
  while (at < source.length && !source.startsWith('## ', at)) {
    const next = nextLine(source, at)
    const end = textEnd(source, at, next)
    if (end === at) {
      blankLines++
    } else {
      const field = fieldAt(source, at, end, words)
      if (field === null || (seen & field.bit) !== 0) return null
      seen |= field.bit
      rows.push({ field, blankLines, start: at + field.start.length, end })
      blankLines = 0
    }
    at = next
  }
  return { rows, blankLines, end: at }
}

function escaped(text: string): string {
  return text.replace(/[*-]/g, '\\$&')
}

function startsWithHeading(source: string, id: string): boolean {
  return source.startsWith('# ') && source.startsWith(id, 2) && source.charCodeAt(2 + id.length) === COLON
}

const COLON = 58
const CARRIAGE_RETURN = 13
const LINE_FEED = 10

function nextLine(source: string, at: number): number {
  const feed = source.indexOf('\n', at)
  return feed < 0 ? source.length : feed + 1
}

function textEnd(source: string, at: number, next: number): number {
  let end = next
  if (end > at && source.charCodeAt(end - 1) === LINE_FEED) end--
  if (end > at && source.charCodeAt(end - 1) === CARRIAGE_RETURN) end--
  return end
}

/** What stands before a value, `- **Key**:`; null where the line is anything else. */
function fieldAt(source: string, at: number, end: number, words: PlainWords): KeyMeaning | null {
  if (!source.startsWith('- **', at)) return null
  const mark = source.indexOf('**:', at + 4)
  return mark < 0 || mark >= end ? null : words.key(source.slice(at, mark + 3))
}
