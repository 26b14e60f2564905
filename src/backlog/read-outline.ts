import type { Span } from '../base/diagnostic.ts'
import type { FrontmatterEntry } from './markdown/frontmatter.ts'
import { frontmatterIn } from './markdown/lines.ts'
import { FieldReader, isAllFields } from './fields.ts'
import type { Field, Product, Section } from './model.ts'
import { readProducts } from './products.ts'
import { lineAfter } from './markdown/splice.ts'
import { loadParsers, parsedReading, type Parsers, type TaskReading, scannedReading } from './reading.ts'
import { lookUp, sectionNamed, type Vocabulary, wordKey } from './vocabulary.ts'

/** A document in the style of a task file, before its values are read. */
export interface Outline<F extends string = string, S extends string = string> {
  /** The first-level heading, as plain text. */
  readonly heading: { readonly text: string; readonly span: Span } | null
  readonly fields: readonly Field<F>[]
  readonly sections: readonly Section<S>[]
  /** The items of each section that the vocabulary defines as a list. */
  readonly lists: ReadonlyMap<S, readonly Product[]>
  /** Why the document, or a part of it, cannot be read. */
  readonly error: { readonly message: string; readonly span: Span } | null
}

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

/** The text between two `---` lines at the start of a document. */
interface Frontmatter {
  readonly entries: readonly FrontmatterEntry[]
  readonly error: Outline['error']
  /** The offset of the Markdown after it. */
  readonly end: number
}

const NO_FRONTMATTER: Frontmatter = { entries: [], error: null, end: 0 }

// Keys between a rule and the heading: hardly anything but frontmatter without its end.
const OPEN_FRONTMATTER = /^---[ \t]*(?:\r\n|\n|\r)[A-Za-z][\w -]*:(?:[ \t]|\r|\n|$)/
const UNCLOSED = {
  message: 'the frontmatter is not closed: a line --- is missing',
  span: { start: 0, end: 3 },
}

/** Reads the frontmatter, if there is any; null if it needs parsers that are not passed. */
function readFrontmatter(source: string, parsers: Parsers | null): Frontmatter | null {
  const place = frontmatterIn(source)
  if (place === null) return { ...NO_FRONTMATTER, error: OPEN_FRONTMATTER.test(source) ? UNCLOSED : null }
  if (parsers === null) return null
  const reading = parsers.parseFrontmatter(source, place.yaml)
  if (reading.kind === 'not-frontmatter') return NO_FRONTMATTER
  if (reading.kind === 'entries') return { entries: reading.entries, error: null, end: place.end }
  const { message, at } = reading
  const error = { message: `the frontmatter cannot be read: ${message}`, span: { start: at, end: at } }
  return { entries: [], error, end: place.end }
}

function buildOutline<F extends string, S extends string>(
  reading: TaskReading,
  { entries, error, end }: Frontmatter,
  vocabulary: Vocabulary<F, S>,
): Outline<F, S> {
  const { source, headings } = reading
  const h1 = headings[0]?.depth === 1 ? headings[0] : null
  const block = {
    start: h1 ? lineAfter(source, h1.span.end) : end,
    end: headings[h1 ? 1 : 0]?.span.start ?? source.length,
  }
  const isTitle = ({ key }: FrontmatterEntry): boolean => wordKey(key) === 'title'
  const ahead = entries
    .filter((entry) => !isTitle(entry))
    .map((entry): Field<F> => ({
      ...entry,
      name: lookUp(vocabulary.fields, entry.key) ?? null,
      form: 'frontmatter',
    }))
  const found = new FieldReader(reading, vocabulary)
  found.read(reading.within(block))
  const under = sectionsUnder(reading, vocabulary)
  if (lacksStatus([...ahead, ...found.fields], vocabulary)) {
    found.readQuotes(block)
    const [first] = under
    if (first?.name === null && first.span.start === block.end && isAllFields(bodyOf(source, first)))
      found.read(reading.within(first.bodySpan), true)
    found.fields.sort((a, b) => a.span.start - b.span.start)
  }
  const { fields, sections, lists } = found
  for (const { name, bodySpan } of under)
    if (name !== null && vocabulary.lists.has(name))
      lists.set(name, [...(lists.get(name) ?? []), ...readProducts(reading, reading.within(bodySpan))])
  // A title in the frontmatter replaces a missing heading.
  const title = entries.find(isTitle)
  const titleHeading = title ? { text: title.value, span: title.valueSpan } : null
  const heading = h1 ? { text: textOf(reading, h1.text), span: h1.span } : titleHeading
  return { heading, fields: [...ahead, ...fields], sections: [...sections, ...under], lists, error }
}

/** Whether a task's block has no Status, which may then be elsewhere. Other documents have none. */
function lacksStatus(fields: readonly Field<string>[], { fields: words }: Vocabulary): boolean {
  return lookUp(words, 'Status') !== undefined && fields.every(({ name }) => name !== 'Status')
}

/** The sections under second-level headings. */
function sectionsUnder<S extends string>(
  reading: TaskReading,
  vocabulary: Vocabulary<string, S>,
): readonly Section<S>[] {
  const { source, headings } = reading
  return headings.flatMap(({ depth, span, text }, index): readonly Section<S>[] => {
    if (depth !== 2) return []
    const end = headings[index + 1]?.span.start ?? source.length
    const bodySpan = { start: Math.min(lineAfter(source, span.end), end), end }
    const title = textOf(reading, text)
    const name = sectionNamed(vocabulary, title) ?? null
    return [{ name, title, span: { start: span.start, end }, bodySpan, form: 'heading' }]
  })
}

function bodyOf(source: string, { bodySpan }: Section<string>): string {
  return source.slice(bodySpan.start, bodySpan.end)
}

function textOf(reading: TaskReading, { start, end }: Span): string {
  return reading.inlineText(reading.source.slice(start, end)).trim()
}
