import type {
  Heading as MarkdownHeading,
  ListItem,
  Node,
  Paragraph,
  PhrasingContent,
  Root,
  RootContent,
} from 'mdast'
import { toString } from 'mdast-util-to-string'
import { unified } from 'unified'
import remarkParse from 'remark-parse'
import type { Span } from '../../base/diagnostic.ts'
import { BeyondReason, type HeadingBlock, type ItemBlock, type MarkdownBlock } from './blocks.ts'
import { linesOf } from './lines.ts'

/**
 * The block structure of a part of a document: the reference implementation for the scanner. Throws BeyondReason for
 * a text that no person writes and that would take the parser minutes.
 */
export function parseBlocks(source: string, span: Span) {
  const pieces = parseBlockPieces(source.slice(span.start, span.end))
  const blocks = pieces.flatMap(({ root, text, start }) =>
    root.children.flatMap((node) => toBlock(text, span.start + start, node)),
  )
  return {
    headings: blocks.filter((block) => block.kind === 'heading'),
    within: ({ start, end }: Span) =>
      blocks.filter((block) => {
        const at = block.kind === 'list' ? (block.items[0]?.span.start ?? 0) : block.span.start
        return block.kind !== 'heading' && at >= start && at < end
      }),
  }
}

/** One line of Markdown as plain text: no emphasis, code marks, link targets or comments. */
export function parseInlineText(raw: string, keepsTags = false): string {
  if (raw.length > LONGEST_INLINE) return raw
  // A word before it, so that the line is not read as a list, a heading or a quote.
  const source = `x ${raw}`
  const paragraph = inlineParser.parse(source).children[0]
  if (paragraph?.type !== 'paragraph') return raw
  return phrasingText(paragraph.children, source, keepsTags).slice(2).trim()
}

// The parser needs quadratic time for hostile inline constructs; titles and values are never this long.
const LONGEST_INLINE = 10_000
const inlineParser = unified().use(remarkParse).freeze()

const INLINE_CONSTRUCTS = [
  'attention',
  'autolink',
  'characterEscape',
  'characterReference',
  'codeText',
  'hardBreakEscape',
  'htmlText',
  'labelEnd',
  'labelStartImage',
  'labelStartLink',
]

/** Blocks alone: without inline constructs the parser is faster, and linear. */
const blockParser = unified()
  .use(remarkParse)
  .data('micromarkExtensions', [{ disable: { null: INLINE_CONSTRUCTS } }])
  .freeze()

/** Replaces a byte order mark, which the parser removes, so that all positions would be off by one. */
function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? `\uFFFC${text.slice(1)}` : text
}

function refuseDeepNesting(text: string): void {
  if (DEEP.test(text)) throw new BeyondReason(`lists or quotes are nested more than ${DEEPEST} deep`)
}

const DEEPEST = 60
const DEEP = new RegExp(
  `^(?:[ \\t]*(?:>|[-+*](?=[ \\t])|\\d{1,9}[.)](?=[ \\t]))){${DEEPEST}}|^[ \\t]{${2 * DEEPEST}}[ \\t]*(?:>|[-+*]|\\d{1,9}[.)])`,
  'm',
)

function toBlock(text: string, base: number, node: RootContent): readonly MarkdownBlock[] {
  if (node.type === 'list')
    return [{ kind: 'list', items: node.children.map((item) => toItem(text, base, item)) }]
  if (node.type === 'paragraph') return [{ kind: 'text', span: spanOf(text, base, node) }]
  return node.type === 'heading' ? [toHeading(text, base, node)] : []
}

function toHeading(text: string, base: number, node: MarkdownHeading): HeadingBlock {
  const span = spanOf(text, base, node)
  const [first, last] = [node.children[0], node.children.at(-1)]
  const start = first === undefined ? span.end : spanOf(text, base, first).start
  const end = last === undefined ? span.end : spanOf(text, base, last).end
  return { kind: 'heading', depth: node.depth, span, text: { start, end } }
}

function toItem(text: string, base: number, item: ListItem): ItemBlock {
  const span = spanOf(text, base, item)
  const [first, ...others] = item.children
  const paragraph: Paragraph | null = first?.type === 'paragraph' ? first : null
  const inner = paragraph === null ? item.children : others
  const innerStart = inner[0] === undefined ? null : spanOf(text, base, inner[0]).start
  return {
    span,
    text: paragraph && spanOf(text, base, paragraph),
    inner: innerStart === null ? null : { start: innerStart, end: span.end },
    nested: item.children.flatMap((child) =>
      child.type === 'list' ? child.children.map((nested) => toItem(text, base, nested)) : [],
    ),
  }
}

/** The node's span in the whole source, without blanks or line endings at its end. */
function spanOf(text: string, base: number, node: Node): Span {
  const start = node.position?.start.offset ?? 0
  let end = node.position?.end.offset ?? start
  while (end > start && ' \t\r\n'.includes(text[end - 1]!)) end--
  return { start: base + start, end: base + end }
}

function phrasingText(nodes: readonly PhrasingContent[], source: string, keepsTags: boolean): string {
  return nodes.map((node) => nodeText(node, source, keepsTags)).join('')
}

function nodeText(node: PhrasingContent, source: string, keepsTags: boolean): string {
  if (node.type === 'html') return keepsTags && /^<\/?[a-z]/i.test(node.value) ? node.value : ''
  if (node.type === 'emphasis' || node.type === 'strong') {
    const [start, end] = [node.position?.start.offset ?? 0, node.position?.end.offset ?? 0]
    // `src/*.ts` and `__init__.py` are not meant as emphasis.
    const isPartOfWord = isWordNeighbour(source[start - 1]) || isWordNeighbour(source[end])
    return isPartOfWord ? source.slice(start, end) : phrasingText(node.children, source, keepsTags)
  }
  return 'children' in node ? phrasingText(node.children, source, keepsTags) : toString(node)
}

function isWordNeighbour(unit: string | undefined): boolean {
  return unit !== undefined && /[\p{L}\p{N}/.*_\\-]/u.test(unit)
}

/** The blocks of a whole text, piece by piece: in linear time for any text. */
export function parseBlockPieces(source: string): readonly ParsedPiece[] {
  refuseDeepNesting(source)
  return parsePieces(source, (text) => blockParser.parse(withoutMark(text)))
}

/** A part of a text that was parsed separately. */
interface ParsedPiece {
  readonly root: Root
  readonly text: string
  /** Its offset in the whole text. */
  readonly start: number
}

/**
 * Parses a text piece by piece, because many texts take the parser quadratic time. The result is the same: each cut
 * is before a line that begins in the first column without a mark of a list or a quote, and after a blank line or a
 * rule, so that no paragraph, list or quote continues across it. A piece that ends inside a fence or an HTML block is
 * parsed again with more text.
 */
function parsePieces(text: string, parse: (text: string) => Root): readonly ParsedPiece[] {
  const pieces: ParsedPiece[] = []
  let start = 0
  do {
    let size = PIECE
    let piece = pieceOf(text, start, size, parse)
    while (start + piece.text.length < text.length && isOpen(piece)) {
      size *= 2
      piece = pieceOf(text, start, size, parse)
    }
    pieces.push(piece)
    start += piece.text.length
  } while (start < text.length)
  return pieces
}

const PIECE = 2048

function pieceOf(text: string, start: number, size: number, parse: (text: string) => Root): ParsedPiece {
  const part = text.slice(start, cutAfter(text, start + size))
  refuseEndless(part)
  return { text: part, start, root: parse(part) }
}

/** Throws for a piece with more lines than a person writes and the parser can read in reasonable time; a fence may have any number. */
function refuseEndless(text: string): void {
  let lines = 0
  for (const { kind } of linesOf(text)) if (kind !== 'fenced') lines++
  if (lines > MOST_LINES)
    throw new BeyondReason(
      `more than ${MOST_LINES} lines have no paragraph between them that begins after a blank line`,
    )
}

const MOST_LINES = 3000

function cutAfter(text: string, from: number): number {
  const cut = /\n(?:[ \t]*|---+[ \t]*)\r?\n(?=[^\s\-*+>0-9])/g
  cut.lastIndex = from
  const match = cut.exec(text)
  return match === null ? text.length : match.index + match[0].length
}

/** Whether the piece ends inside a fence or an HTML block: closed ones end before the blank line or the rule. */
function isOpen({ root, text }: ParsedPiece): boolean {
  const last = root.children.at(-1)
  return (
    (last?.type === 'code' || last?.type === 'html') &&
    (last.position?.end.offset ?? 0) >= text.trimEnd().length
  )
}
