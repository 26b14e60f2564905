import type { Span } from '../base/diagnostic.ts'
import type { MarkdownBlock, BlockSource, HeadingBlock } from './markdown/blocks.ts'
import type { FrontmatterReading } from './markdown/frontmatter.ts'
import { joinLines, scanInlineText } from './markdown/inline.ts'
import { scanBlocks, scanHeadings } from './markdown/scan.ts'

/** The parsers that a document may need. They are slow to load, so they are loaded for the first document that needs one. */
export interface Parsers {
  readonly parseBlocks: (source: string, span: Span) => BlockSource
  readonly parseInlineText: (raw: string) => string
  readonly parseFrontmatter: (source: string, span: Span) => FrontmatterReading
}

/** The parsers, loaded once. */
export function loadParsers(): Promise<Parsers> {
  return (parsers ??= load())
}

let parsers: Promise<Parsers> | undefined

async function load(): Promise<Parsers> {
  const [{ parseBlocks, parseInlineText }, { parseFrontmatter }] = await Promise.all([
    import('./markdown/parse.ts'),
    import('./markdown/frontmatter.ts'),
  ])
  return { parseBlocks, parseInlineText, parseFrontmatter }
}

/** A document that is being read: its structure and texts, from the scanner or the parser. */
export interface TaskReading {
  readonly source: string
  readonly headings: readonly HeadingBlock[]
  within(span: Span): readonly MarkdownBlock[]
  /** A part of the source as one line of plain text. */
  inlineText(raw: string): string
  /** Whether a parser was needed and missing: then the result is invalid. */
  readonly lacksParser: () => boolean
}

/** The reference implementation: everything comes from the Markdown parser. */
export function parsedReading(source: string, from: number, parsers: Parsers): TaskReading {
  const { headings, within } = parsers.parseBlocks(source, { start: from, end: source.length })
  const inlineText = (raw: string): string => parsers.parseInlineText(joinLines(raw))
  return { source, headings, within, inlineText, lacksParser: () => false }
}

/**
 * The same from the scanner, with the parser only for the parts that the scanner declines; null if it declines the
 * whole document.
 */
export function scannedReading(source: string, from: number, parsers: Parsers | null): TaskReading | null {
  const headings = scanHeadings(source, from)
  if (headings === null) return null
  let lacksParser = false
  const lacking = <T>(value: T): T => {
    lacksParser = true
    return value
  }
  return {
    source,
    headings,
    within: (span) =>
      scanBlocks(source, span) ??
      (parsers ? parsers.parseBlocks(source, span).within(span) : lacking<readonly MarkdownBlock[]>([])),
    inlineText(raw) {
      const line = joinLines(raw)
      return scanInlineText(line) ?? (parsers ? parsers.parseInlineText(line) : lacking(line))
    },
    // No getter: an object literal with one has a hidden class of its own, and the engine keeps it with all that it
    // reads.
    lacksParser: () => lacksParser,
  }
}
