import { BeyondReason, type HeadingBlock } from './blocks.ts'
import { frontmatterIn } from './lines.ts'
import { scanHeadings } from './scan.ts'

/** A heading of a document, with its position. */
export interface DocumentHeading {
  readonly depth: number
  readonly text: string
  readonly offset: number
}

const DEEPEST = 6

/** The top-level headings of a Markdown document: from the scanner if it is certain, else from the parser. */
export async function headingsOf(source: string): Promise<readonly DocumentHeading[]> {
  return scannedHeadings(source) ?? (await parsedHeadings(source))
}

/** The headings, from a test of each line; null if a line may have another meaning. */
export function scannedHeadings(source: string): readonly DocumentHeading[] | null {
  const headings = scanHeadings(source, bodyStart(source), DEEPEST)
  return headings?.map((heading) => documentHeading(source, heading)) ?? null
}

/** The headings according to the parser; none for a text that would take it minutes. */
export async function parsedHeadings(source: string): Promise<readonly DocumentHeading[]> {
  const { parseBlocks } = await import('./parse.ts')
  try {
    const span = { start: bodyStart(source), end: source.length }
    return parseBlocks(source, span, DEEPEST).headings.map((heading) => documentHeading(source, heading))
  } catch (error) {
    if (error instanceof BeyondReason) return []
    throw error
  }
}

function documentHeading(source: string, { depth, span, text }: HeadingBlock): DocumentHeading {
  const raw = source.slice(text.start, text.end)
  return { depth, text: raw.replace(/[*`]|\\(?=[^\w\s])/g, '').trim(), offset: span.start }
}

function bodyStart(source: string): number {
  return frontmatterIn(source)?.end ?? (source.startsWith('\uFEFF') ? 1 : 0)
}
