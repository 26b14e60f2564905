import type { Span } from '../../base/diagnostic.ts'

/** A span of a source, and its replacement. */
export interface Splice extends Span {
  readonly text: string
}

/** Applies all splices; their offsets refer to the original source. Splices at the same offset keep their order. */
export function applySplices(source: string, splices: readonly Splice[]): string {
  const ordered = splices.toSorted((a, b) => a.start - b.start || a.end - b.end)
  let out = ''
  let at = 0
  for (const splice of ordered) {
    if (splice.start < at) throw new Error('two edits of one place')
    out += source.slice(at, splice.start) + splice.text
    at = splice.end
  }
  return out + source.slice(at)
}

/** The text of a file with the splices applied. */
export function edited(
  { source, bom }: { source: string; bom: boolean },
  splices: readonly Splice[],
): string {
  return (bom ? '\uFEFF' : '') + applySplices(source, splices)
}

/** The line ending of the source; a line feed if it has none. */
export function lineEnding(source: string): string {
  return /\r\n|\n|\r/.exec(source)?.[0] ?? '\n'
}

/** A text converted to the line endings of the source that it is inserted into. */
export function withEndings(text: string, ending: string): string {
  return text.replace(/\r\n|\n|\r/g, ending)
}

/** The start of the line with this offset. */
export function lineStart(source: string, offset: number): number {
  return Math.max(source.lastIndexOf('\n', offset - 1), source.lastIndexOf('\r', offset - 1)) + 1
}

/** The end of the text of the line with this offset, before its ending. */
export function lineTextEnd(source: string, offset: number): number {
  const match = /[\r\n]/g
  match.lastIndex = offset
  return match.exec(source)?.index ?? source.length
}

/** The start of the next line, or the end of the source. */
export function lineAfter(source: string, offset: number): number {
  const end = lineTextEnd(source, offset)
  return end + (source.startsWith('\r\n', end) ? 2 : end < source.length ? 1 : 0)
}
