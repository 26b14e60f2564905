import type { Span } from '../base/diagnostic.ts'
import type { MarkdownBlock, BlockSource, HeadingBlock } from '../markdown/blocks.ts'
import type { FrontmatterReading } from '../markdown/frontmatter.ts'
import { joinLines, scanInlineText } from '../markdown/inline.ts'
import { scanBlocks, scanHeadings } from '../markdown/scan.ts'

/** The parsers that a document may need. They are heavy, so they are loaded when the first document asks for one. */
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
    import('../markdown/parse.ts'),
    import('../markdown/frontmatter.ts'),
  ])
  return { parseBlocks, parseInlineText, parseFrontmatter }
}

/** One document being read: its structure and its texts, from whatever can tell them. */
export interface TaskReading {
  readonly source: string
  readonly headings: readonly HeadingBlock[]
  within(span: Span): readonly MarkdownBlock[]
  /** A stretch of the source, or a piece of it, as one line of plain text. */
  inlineText(raw: string): string
  /** Whether anything asked for a parser that was not there: then what was read counts for nothing. */
  readonly lacksParser: () => boolean
}

/** The definition: everything comes from the Markdown parser. */
export function parsedReading(source: string, from: number, parsers: Parsers): TaskReading {
  const { headings, within } = parsers.parseBlocks(source, { start: from, end: source.length })
  const inlineText = (raw: string): string => parsers.parseInlineText(joinLines(raw))
  return { source, headings, within, inlineText, lacksParser: () => false }
}

/**
 * The same from the scanner, with the parser only for the stretches that the scanner declines;
 * null where it declines the document as a whole.
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
    // No getter: one in a literal makes each such object a kind of its own to the engine, which remembers it and all that
    // it reads.
    lacksParser: () => lacksParser,
  }
}
