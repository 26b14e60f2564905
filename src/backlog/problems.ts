import { readDepends } from './depends.ts'
import {
  type Field,
  type FieldName,
  type Problem,
  type Section,
  type SectionName,
  STATUSES,
} from './model.ts'
import type { Outline } from './read-outline.ts'
import { unfilledAt } from './template.ts'
import { isNone, numberOf, splitPaths } from './values.ts'
import { lookUpMarked, type TaskVocabulary, wordKey } from './vocabulary.ts'

/** The outline of a task file. */
export type TaskOutline = Outline<FieldName, SectionName>

/** A problem whose line is not computed yet. */
export type UnplacedProblem = Omit<Problem, 'line'>

/** The problems of the document: its frontmatter, its heading. */
export function outlineProblems(
  outline: TaskOutline,
  headingNumber: number | null,
  id: string,
): UnplacedProblem[] {
  const problems: UnplacedProblem[] = []
  if (outline.error) problems.push({ kind: 'bad-frontmatter', field: null, ...outline.error })
  const heading = outline.heading
  if (heading === null) {
    // The title may be in the frontmatter that cannot be read.
    if (outline.error) return problems
    problems.push({
      kind: 'no-heading',
      field: null,
      message: `no heading; expected "# ${id}: …"`,
      span: { start: 0, end: 0 },
    })
  } else if (headingNumber !== null && headingNumber !== numberOf(id)) {
    const message = `the heading says ${/T-\d+/i.exec(heading.text)?.[0]}, the file's name ${id}`
    problems.push({ kind: 'heading-id', field: null, message, span: heading.span })
  }
  return problems
}

/** The problems of the Status. */
export function statusProblems(field: Field | undefined, vocabulary: TaskVocabulary): UnplacedProblem[] {
  const expected = STATUSES.join(', ')
  if (field === undefined) {
    const message = `no Status; expected a line "- **Status**: TODO" below the heading (one of ${expected})`
    return [{ kind: 'no-status', field: 'Status', message, span: { start: 0, end: 0 } }]
  }
  if (lookUpMarked(vocabulary.statuses, field.value) !== undefined) return []
  const message = `${field.value === '' ? 'Status is empty' : `Status "${field.value}" is none of these`}; expected one of ${expected}`
  return [{ kind: 'bad-status', field: 'Status', message, span: field.valueSpan }]
}

/** The problem of a new file that nobody has filled in. */
export function templateProblems(source: string, sections: readonly Section[]): UnplacedProblem[] {
  const section = unfilledAt(source, sections)
  if (section === null) return []
  const message = `nobody has written yet what is to be done: fill in the ${section.title}`
  return [{ kind: 'unfilled-template', field: null, message, span: section.span }]
}

/** Fields that are given twice with different values. */
export function conflicts(fields: readonly Field[], vocabulary: TaskVocabulary): readonly UnplacedProblem[] {
  const first = new Map<FieldName, Field>()
  return fields.flatMap((field): readonly UnplacedProblem[] => {
    const { name, value, valueSpan: span } = field
    if (name === null) return []
    const other = first.get(name) ?? field
    first.set(name, other)
    if (meaningOf(field, vocabulary) === meaningOf(other, vocabulary)) return []
    const message = `${name} is given twice with different values: "${other.value}" and "${value}"`
    return [{ kind: 'field-conflict', field: name, message, span }]
  })
}

/** The same text for two spellings of one value. */
function meaningOf(field: Field, vocabulary: TaskVocabulary): string {
  switch (field.name) {
    case 'Status':
      return lookUpMarked(vocabulary.statuses, field.value) ?? wordKey(field.value)
    case 'Depends': {
      const { ids, stranger } = readDepends(field.value)
      return `${[...new Set(ids.map(({ number }) => number))].sort((a, b) => a - b).join()} ${stranger ?? ''}`
    }
    case 'Touches':
    case 'Context':
      return splitPaths(field.value).join('\n')
    default:
      return isNone(field.value) ? '' : wordKey(field.value)
  }
}
