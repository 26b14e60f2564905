import type { Span } from '../base/diagnostic.ts'
import type { Block, ItemBlock } from './blocks.ts'
import { bulletText, htmlEnd, isBlank, isWordUnit, lineEnd, trimGaps } from './scan.ts'

type LineKind = 'blank' | 'item' | 'text' | 'quote' | 'comment'

/**
 * The blocks of a stretch between two headings, where each line says by its beginning what it is: a bullet of one line,
 * a line of a paragraph or of a table, a quote, a comment. Null where a line may belong to the one before it in another
 * way, or is anything else.
 */
export function scanBlocks(source: string, span: Span): readonly Block[] | null {
  const blocks: Block[] = []
  let items: ItemBlock[] = []
  let last: LineKind = 'blank'
  let textStart = 0
  let at = span.start
  while (at < span.end) {
    const end = lineEnd(source, at)
    const kind = kindOf(source, at, end.text)
    if (kind === null || isUnclear(last, kind)) return null
    if (kind === 'text') {
      if (last === 'text') blocks.pop()
      else textStart = at
      blocks.push({ kind: 'text', span: { start: textStart, end: trimGaps(source, at, end.text) } })
    }
    if (kind === 'item') {
      const text = bulletText(source, at, end.text)!
      if (blocks.at(-1)?.kind !== 'list') blocks.push({ kind: 'list', items: (items = []) })
      items.push({ span: { start: at, end: text.end }, text, inner: null, nested: [] })
    }
    last = kind
    at = kind === 'comment' ? Math.max(end.next, htmlEnd(source, at) ?? end.next) : end.next
  }
  return blocks
}

function kindOf(source: string, start: number, end: number): LineKind | null {
  if (isBlank(source, start, end)) return 'blank'
  const first = source[start]!
  if (first === '>') return 'quote'
  if (source.startsWith('<!--', start)) return 'comment'
  if (first === '|' || isWordUnit(source.charCodeAt(start))) return 'text'
  const isBold = source.startsWith('**', start) || source.startsWith('__', start)
  if (isBold && isWordUnit(source.charCodeAt(start + 2))) return 'text'
  return bulletText(source, start, end) === null ? null : 'item'
}

/** Text goes on in the bullet or the quote above it; a bullet below text or a quote is left to the parser. */
function isUnclear(last: LineKind, kind: LineKind): boolean {
  if (kind === 'text') return last === 'item' || last === 'quote'
  return kind === 'item' && (last === 'text' || last === 'quote')
}
