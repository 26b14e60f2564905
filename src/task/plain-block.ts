import type { KeyMeaning, PlainWords } from './plain-words.ts'
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
  let seen = 0
  let row = 0
  let at = nextLine(source, 0)
  while (at < source.length) {
    const next = nextLine(source, at)
    const end = textEnd(source, at, next)
    if (end > at) {
      if (source.startsWith('## ', at)) return at
      const field = words.usual[row]
      const found =
        field !== undefined && source.startsWith(field.start, at) ? field : fieldAt(source, at, end, words)
      if (found === null || (seen & found.bit) !== 0) return null
      words.usual[row++] = found
      seen |= found.bit
      take(found, at + found.start.length, end)
    }
    at = next
  }
  return at
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
