import type { Span } from '../base/diagnostic.ts'

/** One stretch of a source, and what stands there instead. */
export interface Splice extends Span {
  readonly text: string
}

/** The source with every splice made; each counts its places in the source as it was. Of several at one place the order stays. */
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

/** The text of a file with the splices made. */
export function edited(
  { source, bom }: { readonly source: string; readonly bom: boolean },
  splices: readonly Splice[],
): string {
  return (bom ? '\uFEFF' : '') + applySplices(source, splices)
}

/** How the source ends its lines; a new one by a line feed. */
export function lineEnding(source: string): string {
  return /\r\n|\n|\r/.exec(source)?.[0] ?? '\n'
}

/** Text from elsewhere with the line endings of the source that it goes into. */
export function withEndings(text: string, ending: string): string {
  return text.replace(/\r\n|\n|\r/g, ending)
}

/** Where the line that holds this offset begins. */
export function lineStart(source: string, offset: number): number {
  return Math.max(source.lastIndexOf('\n', offset - 1), source.lastIndexOf('\r', offset - 1)) + 1
}

/** Where the text of the line that holds this offset ends, before its ending. */
export function lineTextEnd(source: string, offset: number): number {
  const match = /[\r\n]/g
  match.lastIndex = offset
  return match.exec(source)?.index ?? source.length
}

/** Where the next line begins, or the source ends. */
export function lineAfter(source: string, offset: number): number {
  const end = lineTextEnd(source, offset)
  return end + (source.startsWith('\r\n', end) ? 2 : end < source.length ? 1 : 0)
}
