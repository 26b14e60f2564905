import { BeyondReason, type HeadingBlock } from './blocks.ts'
import { scanHeadings } from './scan.ts'

/** A heading of a document, with its position. */
export interface DocumentHeading {
  readonly depth: number
  readonly text: string
  readonly offset: number
}

const DEEPEST = 6

/** The top-level headings of a Markdown document: from the scanner if it is certain, else from remark. */
export async function headingsOf(source: string): Promise<readonly DocumentHeading[]> {
  return scannedHeadings(source) ?? (await parsedHeadings(source))
}

/** The headings, from a test of each line; null if a line may have another meaning. */
export function scannedHeadings(source: string): readonly DocumentHeading[] | null {
  const headings = scanHeadings(source, bodyStart(source), DEEPEST)
  return headings?.map((heading) => documentHeading(source, heading)) ?? null
}

function documentHeading(source: string, { depth, span, text }: HeadingBlock): DocumentHeading {
  return { depth, text: plain(source.slice(text.start, text.end)), offset: span.start }
}

/** The headings according to remark; none for a text that would take it minutes. */
export async function parsedHeadings(source: string): Promise<readonly DocumentHeading[]> {
  const [{ parsePieces }, { unified }, { default: remarkParse }, { toString }] = await Promise.all([
    import('./pieces.ts'),
    import('unified'),
    import('remark-parse'),
    import('mdast-util-to-string'),
  ])
  const start = bodyStart(source)
  if (TOO_DEEP.test(source)) return []
  try {
    const parser = unified().use(remarkParse)
    const pieces = parsePieces(source.slice(start), (text) => parser.parse(text))
    return pieces.flatMap((piece) =>
      piece.root.children.flatMap((node) => {
        if (node.type !== 'heading') return []
        const offset = start + piece.start + node.position!.start.offset!
        return [{ depth: node.depth, text: plain(toString(node)), offset }]
      }),
    )
  } catch (error) {
    if (error instanceof BeyondReason) return []
    throw error
  }
}

/** Lists and quotes that are nested deeper than any person nests them. */
const TOO_DEEP = /^(?:[ \t]*(?:>|[-+*]|\d{1,9}[.)])){100}/m

/** Removes emphasis and code marks from a heading. */
function plain(text: string): string {
  return text.replace(/[*`]|\\(?=[^\w\s])/g, '').trim()
}

/** The offset after a byte order mark and frontmatter. */
function bodyStart(source: string): number {
  return /^\ufeff?(?:---[ \t]*\r?\n(?:[\s\S]*?\r?\n)?---[ \t]*(?:\r?\n|$))?/.exec(source)?.[0].length ?? 0
}
