import type { Severity } from '../base/diagnostic.ts'
import { UserError } from '../base/errors.ts'
import { misspelling } from '../base/spelling.ts'
import { type Outline, outlineOf } from '../backlog/read-outline.ts'
import { withParsers } from '../backlog/markdown/reading.ts'
import type { Vocabulary } from '../backlog/vocabulary.ts'
import { closed } from '../backlog/markdown/fence.ts'

/** A name in the file that others can check. */
export interface Mention {
  readonly kind: 'agent' | 'path'
  readonly text: string
  readonly offset: number
}

/** A problem in a discipline or a feature file, with its offset. */
export interface DocumentProblem {
  readonly severity: Severity
  readonly offset: number
  readonly message: string
}

/** Reads a document in the style of a task file. */
export async function readDocument<F extends string, S extends string>(
  name: string,
  source: string,
  vocabulary: Vocabulary<F, S>,
) {
  const text = source.replace(/^\ufeff/, '')
  try {
    const outline = await withParsers(() => outlineOf(text, vocabulary))
    return { ...documentOf(name, text, outline), problems: problemsOf(outline, vocabulary) }
  } catch (error) {
    // The parser is recursive, and rejects extreme nesting.
    if (error instanceof RangeError || (error instanceof Error && error.name === 'BeyondReason')) {
      throw new UserError(
        `${name}.md is nested too deeply to be read`,
        'Take some levels out of its lists or quotes.',
      )
    }
    throw error
  }
}

function documentOf<F extends string, S extends string>(
  name: string,
  source: string,
  outline: Outline<F, S>,
) {
  const fieldOf = (wanted: F) => outline.fields.find((field) => field.name === wanted)
  const bodyOf = (wanted: S): string =>
    outline.sections
      .filter((section) => section.name === wanted)
      .map(({ bodySpan }) => source.slice(bodySpan.start, bodySpan.end).trim())
      .filter((text) => text !== '')
      .map(closed)
      .join('\n\n')
  const own = outline.sections
    .filter((section) => section.name === null)
    .map(({ span }) => source.slice(span.start, span.end).trim())
  return {
    /** The heading, or else the name. */
    title: outline.heading?.text.trim() || name,
    field: (wanted: F): string | null => fieldOf(wanted)?.value.trim() || null,
    /** These texts of the field's value, with their positions. */
    mentions(kind: Mention['kind'], wanted: F, texts: readonly string[]): readonly Mention[] {
      const start = fieldOf(wanted)?.valueSpan.start ?? 0
      return texts.map((text) => ({ kind, text, offset: Math.max(start, source.indexOf(text, start)) }))
    },
    /** The text of all sections of that name, as written. */
    body: bodyOf,
    /** All other text of the author: above the sections, and in sections of their own. */
    rest: [preamble(source, outline), ...own]
      .filter((text) => text !== '')
      .map(closed)
      .join('\n\n'),
    startOf: (wanted: S) => outline.sections.find((section) => section.name === wanted)?.span.start ?? null,
  }
}

function problemsOf<F extends string, S extends string>(
  { error, fields, sections }: Outline<F, S>,
  vocabulary: Vocabulary<F, S>,
): readonly DocumentProblem[] {
  const slip = (word: string, offset: number, known: Iterable<string>): DocumentProblem[] => {
    const meant = misspelling(word, known)
    if (meant === undefined) return []
    return [{ severity: 'warning', offset, message: `"${word}" means nothing here; did you mean ${meant}?` }]
  }
  const known = {
    fields: new Set(vocabulary.fields.values()),
    sections: new Set(vocabulary.sections.values()),
  }
  return [
    ...(error ? [{ severity: 'error', offset: error.span.start, message: error.message } as const] : []),
    ...fields.flatMap(({ name, key, span }) => (name === null ? slip(key, span.start, known.fields) : [])),
    ...sections.flatMap(({ name, title, span }) =>
      name === null ? slip(title, span.start, known.sections) : [],
    ),
  ]
}

/** The text between the heading and the first section, without fields. */
function preamble(source: string, { heading, fields, sections }: Outline): string {
  const start = heading?.span.end ?? fields.find((field) => field.form !== 'frontmatter')?.span.start ?? 0
  const end = Math.min(source.length, ...sections.map((section) => section.span.start))
  let [text, from] = ['', start]
  for (const { span } of fields.toSorted((a, b) => a.span.start - b.span.start)) {
    if (span.start < from || span.end > end) continue
    text += source.slice(from, span.start)
    from = span.end
  }
  return (text + source.slice(from, end)).trim().replace(/\n{3,}/g, '\n\n')
}
