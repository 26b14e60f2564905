import type { Span } from '../base/diagnostic.ts'
import type { HeadingBlock } from './markdown/blocks.ts'
import type { FrontmatterEntry } from './markdown/frontmatter.ts'
import { frontmatterIn } from './markdown/lines.ts'
import { fieldsIn, fieldsInQuotes, isAllFields } from './fields.ts'
import type { Field, Product, Section } from './model.ts'
import { productOf, readProducts, splitProducts } from './products.ts'
import { lineAfter } from './markdown/splice.ts'
import { inlineText, parsers, readingOf } from './markdown/reading.ts'
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

/** Reads a document of any style, inside of `withParsers`. The source has no byte order mark. */
export function outlineOf<F extends string, S extends string>(
  source: string,
  vocabulary: Vocabulary<F, S>,
): Outline<F, S> {
  const { entries, error, end } = readFrontmatter(source)
  const { headings: all, within } = readingOf(source, end)
  const headings = all.filter(({ depth }) => depth <= 2)
  const [top] = headings
  // With an id, a heading of the second level is the title too, if there is no other.
  const isAlone = entries.length === 0 && headings.every(({ depth }) => depth === 2)
  const isTitled = top?.depth === 1 || (top && isAlone && NAMES_TASK.test(textAt(source, top.text)))
  const h1 = isTitled ? headings.shift() : undefined
  const block = {
    start: h1 ? lineAfter(source, h1.span.end) : end,
    end: headings[0]?.span.start ?? source.length,
  }
  const under = sectionsUnder(source, headings, vocabulary)
  // A skill's frontmatter has a name.
  const titleKey = ['title', 'name'].find((key) => entries.some((entry) => wordKey(entry.key) === key))
  const isTitle = ({ key }: FrontmatterEntry): boolean => wordKey(key) === titleKey
  const ahead = entries.filter((entry) => !isTitle(entry))
  const keys = { source, isKnown: (key: string) => lookUp(vocabulary.fields, key) !== undefined }
  const below = fieldsIn(within(block), keys)
  if (lacksStatus([...ahead, ...below], vocabulary)) {
    const [first] = under
    const isBlock = first?.name === null && first.span.start === block.end
    below.push(...fieldsInQuotes(block, keys))
    if (isBlock && isAllFields(textAt(source, first.bodySpan)))
      below.push(...fieldsIn(within(first.bodySpan), keys, true))
    below.sort((a, b) => a.span.start - b.span.start)
  }
  const { fields, sections, lists } = readFields(source, below, vocabulary)
  for (const { name, bodySpan } of under)
    if (name !== null && vocabulary.lists.has(name))
      lists.set(name, [...(lists.get(name) ?? []), ...readProducts(source, within(bodySpan))])
  // A title in the frontmatter replaces a missing heading.
  const title = entries.find(isTitle)
  const ofTitle = title ? { text: title.value, span: title.valueSpan } : null
  return {
    heading: h1 ? { text: inlineText(textAt(source, h1.text), true).trim(), span: h1.span } : ofTitle,
    fields: [
      ...ahead.map((entry) => ({
        ...entry,
        name: lookUp(vocabulary.fields, entry.key) ?? null,
        form: 'frontmatter' as const,
      })),
      ...fields,
    ],
    sections: [...sections, ...under],
    lists,
    error,
  }
}

const NAMES_TASK = /^[ \t]*(?:task[ \t]+)?\[?[A-Z]{1,10}-\d+\b/i

// Keys between a rule and the heading: hardly anything but frontmatter without its end.
const OPEN_FRONTMATTER = /^---[ \t]*(?:\r\n|\n|\r)[A-Za-z][\w -]*:(?:[ \t]|\r|\n|$)/
const UNCLOSED = {
  message: 'the frontmatter is not closed: a line --- is missing',
  span: { start: 0, end: 3 },
}

/** The text between two `---` lines at the start of a document, and the offset of the Markdown after it. */
function readFrontmatter(source: string) {
  const place = frontmatterIn(source)
  const found = place && parsers().parseFrontmatter(source, place.yaml)
  if (!found) {
    const error = place === null && OPEN_FRONTMATTER.test(source) ? UNCLOSED : null
    return { entries: [], error, end: 0 }
  }
  const { entries, error } = found
  if (error === null) return { entries, error, end: place.end }
  const span = { start: error.at, end: error.at }
  const message = `the frontmatter cannot be read: ${error.message}`
  return { entries, error: { message, span }, end: place.end }
}

/** The sections under second-level headings. */
function sectionsUnder<S extends string>(
  source: string,
  headings: readonly HeadingBlock[],
  vocabulary: Vocabulary<string, S>,
): readonly Section<S>[] {
  return headings.flatMap(({ depth, span, text }, index): readonly Section<S>[] => {
    if (depth !== 2) return []
    const end = headings[index + 1]?.span.start ?? source.length
    const bodySpan = { start: Math.min(lineAfter(source, span.end), end), end }
    const title = inlineText(textAt(source, text)).trim()
    const name = sectionNamed(vocabulary, title) ?? null
    return [{ name, title, span: { start: span.start, end }, bodySpan, form: 'heading' }]
  })
}

/** Whether a task's block has no Status, which may then be elsewhere. Other documents have none. */
function lacksStatus(keys: readonly { readonly key: string }[], { fields }: Vocabulary): boolean {
  return lookUp(fields, 'Status') !== undefined && keys.every(({ key }) => lookUp(fields, key) !== 'Status')
}

/** The values of fields; those that stand for sections become sections. */
function readFields<F extends string, S extends string>(
  source: string,
  found: ReturnType<typeof fieldsIn>,
  vocabulary: Vocabulary<F, S>,
) {
  const fields: Field<F>[] = []
  const sections: Section<S>[] = []
  const lists = new Map<S, readonly Product[]>()
  for (const { key, span, valueSpan, form, item } of found) {
    const value = textAt(source, valueSpan)
    const nested = item?.nested.flatMap(({ text }) => (text ? [textAt(source, text)] : [])) ?? []
    const section = item && lookUp(vocabulary.sections, key)
    if (item && section && vocabulary.fieldSections.has(section)) {
      const bodySpan = item.inner ?? valueSpan
      sections.push({ name: section, title: key, span: item.span, bodySpan, form: 'field' })
      if (vocabulary.lists.has(section))
        lists.set(section, nested.length > 0 ? nested.map((raw) => productOf(raw)) : splitProducts(value))
      continue
    }
    const texts = [value, ...nested].map((raw) => inlineText(raw))
    fields.push({
      name: lookUp(vocabulary.fields, key) ?? null,
      key,
      value: texts.filter((text) => text !== '').join(', '),
      span,
      valueSpan: item && nested.length > 0 ? { start: valueSpan.start, end: item.span.end } : valueSpan,
      form,
    })
  }
  return { fields, sections, lists }
}

function textAt(source: string, { start, end }: Span): string {
  return source.slice(start, end)
}
