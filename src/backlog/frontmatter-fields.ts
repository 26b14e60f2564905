import { frontmatterIn } from './markdown/lines.ts'
import type { FrontmatterEntry } from './markdown/frontmatter.ts'
import type { Field } from './model.ts'
import type { OutlineError } from './outline.ts'
import type { Parsers } from './reading.ts'
import { lookUp, type Vocabulary, wordKey } from './vocabulary.ts'

/** The text between two `---` lines at the start of a document. */
export interface Frontmatter {
  readonly entries: readonly FrontmatterEntry[]
  readonly error: OutlineError | null
  /** The offset of the Markdown after it. */
  readonly end: number
}

const NO_FRONTMATTER: Frontmatter = { entries: [], error: null, end: 0 }

// Keys between a rule and the heading: hardly anything but frontmatter without its end.
const OPEN_FRONTMATTER = /^---[ \t]*(?:\r\n|\n|\r)[A-Za-z][\w -]*:(?:[ \t]|\r|\n|$)/
const UNCLOSED_FRONTMATTER: Frontmatter = {
  entries: [],
  error: { message: 'the frontmatter is not closed: a line --- is missing', span: { start: 0, end: 3 } },
  end: 0,
}

/** Reads the frontmatter, if there is any; null if it needs parsers that are not passed. */
export function readFrontmatter(source: string, parsers: Parsers | null): Frontmatter | null {
  const place = frontmatterIn(source)
  if (place === null) return OPEN_FRONTMATTER.test(source) ? UNCLOSED_FRONTMATTER : NO_FRONTMATTER
  if (parsers === null) return null
  const reading = parsers.parseFrontmatter(source, place.yaml)
  switch (reading.kind) {
    case 'not-frontmatter':
      return NO_FRONTMATTER
    case 'error':
      return {
        entries: [],
        error: {
          message: `the frontmatter cannot be read: ${reading.message}`,
          span: { start: reading.at, end: reading.at },
        },
        end: place.end,
      }
    case 'entries':
      return { entries: reading.entries, error: null, end: place.end }
  }
}

/** The keys of the frontmatter as fields, without `title`. */
export function frontmatterFields<F extends string, S extends string>(
  frontmatter: Frontmatter,
  vocabulary: Vocabulary<F, S>,
): Field<F>[] {
  return frontmatter.entries
    .filter((entry) => wordKey(entry.key) !== 'title')
    .map((entry) => ({
      name: lookUp(vocabulary.fields, entry.key) ?? null,
      key: entry.key,
      value: entry.value,
      span: entry.span,
      valueSpan: entry.valueSpan,
      form: 'frontmatter',
    }))
}
