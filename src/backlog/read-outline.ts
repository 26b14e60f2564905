import type { Span } from '../base/diagnostic.ts'
import type { HeadingBlock } from './markdown/blocks.ts'
import { type BlockFields, readFields } from './fields.ts'
import { isAllFields, quotedFields } from './fields-elsewhere.ts'
import { type Frontmatter, frontmatterFields, readFrontmatter } from './frontmatter-fields.ts'
import type { Field, Product, Section } from './model.ts'
import type { Heading, Outline } from './outline.ts'
import { readProducts } from './products.ts'
import { lineAfter } from './markdown/splice.ts'
import { loadParsers, parsedReading, type Parsers, type TaskReading, scannedReading } from './reading.ts'
import { lookUp, sectionNamed, type Vocabulary, wordKey } from './vocabulary.ts'

/** Reads a document of any style, and loads the parsers if it needs them. The source has no byte order mark. */
export async function readOutline<F extends string, S extends string>(
  source: string,
  vocabulary: Vocabulary<F, S>,
): Promise<Outline<F, S>> {
  return scanOutline(source, vocabulary, null) ?? outlineWith(source, vocabulary, await loadParsers())
}

/** The same with loaded parsers. */
export function outlineWith<F extends string, S extends string>(
  source: string,
  vocabulary: Vocabulary<F, S>,
  parsers: Parsers,
): Outline<F, S> {
  return scanOutline(source, vocabulary, parsers) ?? parseOutline(source, vocabulary, parsers)
}

/** Reads a document with the scanner, helped by the parsers if they are passed; null if that is not enough. */
export function scanOutline<F extends string, S extends string>(
  source: string,
  vocabulary: Vocabulary<F, S>,
  parsers: Parsers | null,
): Outline<F, S> | null {
  const frontmatter = readFrontmatter(source, parsers)
  const reading = frontmatter && scannedReading(source, frontmatter.end, parsers)
  if (reading === null) return null
  const outline = buildOutline(reading, frontmatter!, vocabulary)
  return reading.lacksParser() ? null : outline
}

/** The reference implementation: parses the whole document as Markdown. */
export function parseOutline<F extends string, S extends string>(
  source: string,
  vocabulary: Vocabulary<F, S>,
  parsers: Parsers,
): Outline<F, S> {
  const frontmatter = readFrontmatter(source, parsers)!
  return buildOutline(parsedReading(source, frontmatter.end, parsers), frontmatter, vocabulary)
}

function buildOutline<F extends string, S extends string>(
  reading: TaskReading,
  frontmatter: Frontmatter,
  vocabulary: Vocabulary<F, S>,
): Outline<F, S> {
  const { source, headings } = reading
  const first = headings[0]
  const h1 = first?.depth === 1 ? first : null
  const blockSpan = {
    start: h1 ? lineAfter(source, h1.span.end) : frontmatter.end,
    end: headings[h1 ? 1 : 0]?.span.start ?? source.length,
  }
  const own = readFields(reading, reading.within(blockSpan), vocabulary)
  const ahead = frontmatterFields(frontmatter, vocabulary)
  const { fields, sections, lists } = lacksStatus([...ahead, ...own.fields], vocabulary)
    ? withFieldsElsewhere(reading, { block: blockSpan, own }, vocabulary)
    : own
  headings.forEach((heading, i) => {
    if (heading.depth !== 2) return
    const section = sectionUnder(reading, i, vocabulary)
    sections.push(section)
    readList(reading, section, vocabulary, lists)
  })
  return {
    heading: h1 ? headingOf(reading, h1) : titleOf(frontmatter),
    fields: [...ahead, ...fields],
    sections,
    lists,
    error: frontmatter.error,
  }
}

/** Whether a task's block has no Status, which may then be elsewhere. Other documents have none. */
function lacksStatus(fields: readonly Field<string>[], { fields: words }: Vocabulary): boolean {
  return lookUp(words, 'Status') !== undefined && fields.every(({ name }) => name !== 'Status')
}

/** Adds the fields of a quote in the block, and of the first section, if those consist of fields alone. */
function withFieldsElsewhere<F extends string, S extends string>(
  reading: TaskReading,
  { block, own }: { readonly block: Span; readonly own: BlockFields<F, S> },
  vocabulary: Vocabulary<F, S>,
): BlockFields<F, S> {
  const { source, headings } = reading
  const quoted = quotedFields(reading, block, vocabulary)
  const index = headings.findIndex(({ span }) => span.start >= block.end)
  const body = headings[index]?.depth === 2 ? bodyUnder(reading, index) : null
  const isBlock =
    body !== null &&
    sectionUnder(reading, index, vocabulary).name === null &&
    isAllFields(source.slice(body.start, body.end))
  const below = isBlock ? readFields(reading, reading.within(body), { ...vocabulary, everyKey: true }) : null
  return {
    // In the order of the source.
    fields: [...own.fields, ...quoted, ...(below?.fields ?? [])].toSorted(
      (a, b) => a.span.start - b.span.start,
    ),
    sections: [...own.sections, ...(below?.sections ?? [])],
    lists: new Map([...own.lists, ...(below?.lists ?? [])]),
  }
}

/** The span below the heading with that index. */
function bodyUnder({ source, headings }: TaskReading, index: number): Span {
  const end = headings[index + 1]?.span.start ?? source.length
  return { start: Math.min(lineAfter(source, headings[index]!.span.end), end), end }
}

function headingOf(reading: TaskReading, h1: HeadingBlock): Heading {
  return { text: textOf(reading, h1.text), span: h1.span }
}

/** A `title` in the frontmatter replaces a missing heading. */
function titleOf(frontmatter: Frontmatter): Heading | null {
  const entry = frontmatter.entries.find((candidate) => wordKey(candidate.key) === 'title')
  return entry ? { text: entry.value, span: entry.valueSpan } : null
}

function sectionUnder<F extends string, S extends string>(
  reading: TaskReading,
  index: number,
  vocabulary: Vocabulary<F, S>,
): Section<S> {
  const heading = reading.headings[index]!
  const title = textOf(reading, heading.text)
  const name = sectionNamed(vocabulary, title) ?? null
  const bodySpan = bodyUnder(reading, index)
  const span = { start: heading.span.start, end: bodySpan.end }
  return { name, title, span, bodySpan, form: 'heading' }
}

/** Reads the items of a list section; those of several with one name are joined. */
function readList<F extends string, S extends string>(
  reading: TaskReading,
  section: Section<S>,
  vocabulary: Vocabulary<F, S>,
  lists: Map<S, readonly Product[]>,
): void {
  if (section.name === null || !vocabulary.lists.has(section.name)) return
  const items = readProducts(reading, reading.within(section.bodySpan))
  lists.set(section.name, [...(lists.get(section.name) ?? []), ...items])
}

function textOf(reading: TaskReading, span: Span): string {
  return reading.inlineText(reading.source.slice(span.start, span.end)).trim()
}
