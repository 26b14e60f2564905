import type { KeyMeaning, Layout, LayoutRow, PlainWords } from './plain-words.ts'
import { hasLoneLineEnd } from './scan.ts'

/** Takes one field of the block: what its key means, and where its value stands. */
export type TakeField = (meaning: KeyMeaning, start: number, end: number) => void

/**
 * Reads the head of a file in the plainest style: `# T-004: …`, then nothing but blank lines and bullets of one line,
 * `- **Key**: value`, no field twice, up to the first `## `. Gives where that begins; null for any other style.
 * The source is the file's bytes, each as one unit: all that counts for the structure is ASCII, and most of the rest
 * is never looked at.
 */
export function scanPlainBlock(
  source: string,
  id: string,
  words: PlainWords,
  take: TakeField,
): number | null {
  if (!startsWithHeading(source, id) || hasLoneLineEnd(source)) return null
  const start = nextLine(source, 0)
  for (const layout of words.layouts) {
    const end = readLayout(source, start, layout, take)
    if (end !== null) return end
  }
  return readLines(source, start, words, take)
}

/** By one regular expression, where the block has the fields of one that was read before. */
function readLayout(
  source: string,
  start: number,
  { pattern, rows }: Layout,
  take: TakeField,
): number | null {
  pattern.lastIndex = start
  const match = pattern.exec(source)
  if (match === null) return null
  let at = start
  for (let i = 0; i < rows.length; i++) {
    const { field, blankLines } = rows[i]!
    const valueStart = at + blankLines + field.start.length
    at = valueStart + match[i + 1]!.length
    take(field, valueStart, at)
    at++
  }
  return pattern.lastIndex
}

function readLines(source: string, start: number, words: PlainWords, take: TakeField): number | null {
  const rows: LayoutRow[] = []
  let seen = 0
  let blankLines = 0
  let at = start
  while (at < source.length) {
    const next = nextLine(source, at)
    const end = textEnd(source, at, next)
    if (end === at) {
      blankLines++
    } else if (source.startsWith('## ', at)) {
      if (words.layouts.length < MOST_LAYOUTS) words.layouts.push(layoutOf(rows, blankLines))
      return at
    } else {
      const field = fieldAt(source, at, end, words)
      if (field === null || (seen & field.bit) !== 0) return null
      seen |= field.bit
      take(field, at + field.start.length, end)
      rows.push({ field, blankLines })
      blankLines = 0
    }
    at = next
  }
  return at
}

const MOST_LAYOUTS = 8

function layoutOf(rows: readonly LayoutRow[], blankLines: number): Layout {
  const lines = rows.map(
    ({ field, blankLines }) => `\\n{${blankLines}}${escaped(field.start)}([^\\r\\n]*)\\n`,
  )
  return { rows, pattern: new RegExp(`${lines.join('')}\\n{${blankLines}}(?=## )`, 'y') }
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
