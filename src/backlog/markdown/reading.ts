import type { Span } from '../../base/diagnostic.ts'
import { BeyondReason } from './blocks.ts'
import { joinLines, scanInlineText } from './inline.ts'
import { frontmatterIn } from './lines.ts'
import { scanBlocks, scanHeadings } from './scan.ts'

/** The parsers that a document may need: slow to load, so they are loaded for the first that needs one. */
async function load() {
  const [{ parseBlocks, parseInlineText }, { parseFrontmatter }] = await Promise.all([
    import('./parse.ts'),
    import('./frontmatter.ts'),
  ])
  return { parseBlocks, parseInlineText, parseFrontmatter }
}

let loaded: Awaited<ReturnType<typeof load>> | null = null
const NOT_LOADED = new Error('a parser is used outside of withParsers')

/** The parsers, inside of `withParsers`. */
export function parsers() {
  if (loaded === null) throw NOT_LOADED
  return loaded
}

/** Reads something; if that needs the parsers, they are loaded first. */
export async function withParsers<T>(read: () => T): Promise<T> {
  try {
    return read()
  } catch (error) {
    if (error !== NOT_LOADED) throw error
  }
  loaded = await load()
  return read()
}

/** The structure of a document, from the scanner; from the parser, which is the reference, where the scanner declines. */
export function readingOf(source: string, from: number) {
  const headings = scanHeadings(source, from)
  if (headings === null) return parsers().parseBlocks(source, { start: from, end: source.length })
  const within = (span: Span) => scanBlocks(source, span) ?? parsers().parseBlocks(source, span).within(span)
  return { headings, within }
}

/** A part of a document as one line of plain text. */
export function inlineText(raw: string, keepsTags = false): string {
  const line = joinLines(raw)
  return scanInlineText(line) ?? parsers().parseInlineText(line, keepsTags)
}

/** A heading of a document, with its position. */
export type DocumentHeading = Awaited<ReturnType<typeof headingsOf>>[number]

/** The top-level headings of a Markdown document; none for a text that would take the parser minutes. */
export async function headingsOf(text: string) {
  const source = text.replace(/^\uFEFF/, '\n')
  const from = frontmatterIn(text)?.end ?? 0
  const headings = await withParsers(() => readingOf(source, from).headings).catch((error: unknown) => {
    if (error instanceof BeyondReason) return []
    throw error
  })
  return headings.map(({ depth, span, text: { start, end } }) => ({
    depth,
    text: source
      .slice(start, end)
      .replace(/[*`]|\\(?=[^\w\s])/g, '')
      .trim(),
    offset: span.start,
  }))
}
