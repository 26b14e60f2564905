import { placeAt } from '../base/diagnostic.ts'
import { dependsSection, readDependencies, readDepends, strayIds } from './depends.ts'
import { readValues } from './field-values.ts'
import { BeyondReason } from './markdown/blocks.ts'
import {
  type Field,
  type FieldName,
  type Problem,
  type Section,
  type Status,
  STATUSES,
  type Task,
} from './model.ts'
import { type Outline, outlineOf } from './read-outline.ts'
import { withParsers } from './markdown/reading.ts'
import { compareNumbers, partsOf, readId, type TaskIds, type TaskNumber } from './ids.ts'
import { unfilledAt } from './template.ts'
import { isNone, splitPaths } from './values.ts'
import { TASK_VOCABULARY, type TaskVocabulary, lookUp, lookUpMarked, wordKey } from './vocabulary.ts'

/** A task file on disk. */
export interface TaskFile {
  /** Relative to the project root, with forward slashes. */
  readonly file: string
  readonly text: string
}

/** Reads one task file of any style. */
export function parseTask(
  { file, text }: TaskFile,
  vocabulary: TaskVocabulary = TASK_VOCABULARY,
): Promise<Task> {
  const bom = text.startsWith('\uFEFF')
  const source = bom ? text.slice(1) : text
  return withParsers(() => {
    try {
      return interpret({ file, source, bom }, vocabulary)
    } catch (error) {
      // The parser is recursive and rejects extreme nesting; one such file must not stop the others. A regular
      // expression that runs out of stack throws a RangeError or, when compiled, a SyntaxError.
      if (error instanceof RangeError || error instanceof SyntaxError || error instanceof BeyondReason)
        return unreadableTask(file, error.message, vocabulary)
      throw error
    }
  })
}

/** A task of which only the file name is known, and the reason. */
export function unreadableTask(
  file: string,
  message: string,
  vocabulary: TaskVocabulary = TASK_VOCABULARY,
): Task {
  const span = { start: 0, end: 0 }
  const problem = { kind: 'unreadable', field: null, message, span, line: 1 } as const
  return { ...interpret({ file, source: '', bom: false }, vocabulary), problems: [problem] }
}

/** Reads the values in a task's text. */
function interpret(
  { file, source, bom }: Pick<Task, 'file' | 'source' | 'bom'>,
  vocabulary: TaskVocabulary,
): Task {
  const { ids } = vocabulary
  const id = ids.inPath(file)
  const number = ids.numberOf(id)
  const outline = outlineOf(source, vocabulary)
  const { fields, sections } = outline
  const first: Partial<Record<FieldName, Field>> = {}
  for (const field of fields) if (field.name !== null) first[field.name] ??= field
  const raw = (name: FieldName): string => first[name]?.value ?? ''
  const known = lookUpMarked(vocabulary.statuses, raw('Status')) ?? null
  const heading = readHeading(outline.heading?.text ?? '', { own: number, ids })
  const depends = readDependencies(first.Depends ?? sectionOfDepends(source, sections, vocabulary), source, {
    id,
    ids,
  })
  const conflicting = fields.flatMap((field) => conflict(field, first, vocabulary))
  // Problems that follow from another one would only hide that.
  const mayNameStrays = [...depends.problems, ...conflicting].every(({ field }) => field !== 'Depends')
  const strays = { own: number, isOpen: known === 'TODO', found: depends.found }
  const problems = [
    ...outlineProblems(outline, heading, { id, number }),
    ...statusProblems(outline, first.Status, known),
    ...depends.problems,
    ...(mayNameStrays ? strayIds(source, outline, strays, vocabulary) : []),
    ...conflicting,
  ]
  // Two statuses in a file make both unreliable.
  const status = problems.every(({ field }) => field !== 'Status') ? known : null
  if (status === 'TODO') problems.push(...templateProblems(source, sections))
  const produces = outline.lists.get('Produces') ?? null
  return {
    id,
    number,
    file,
    source,
    bom,
    title: heading.title,
    status,
    held: status === 'TODO' && sections.some(({ name, form }) => name === 'Blocked' && form === 'heading'),
    needs: depends.found.map((dependency) => dependency.number),
    depends: depends.found,
    ...readValues(raw, vocabulary),
    produces,
    outputs: produces?.length ?? 0,
    fields,
    sections,
    problems: problems.map((problem) => ({ ...problem, line: placeAt(source, problem.span.start).line })),
  }
}

/** A section named Depends replaces the field if it is only a list. */
function sectionOfDepends(source: string, sections: readonly Section[], { fields, ids }: TaskVocabulary) {
  const section = sections.find(
    ({ title, form }) => form === 'heading' && lookUp(fields, title) === 'Depends',
  )
  return section && dependsSection(source, section, ids)
}

/**
 * The id and the title in a heading. `Task` may come before the id, and any other word if the id is the file's own (a
 * heading in another language), as `Fix T-003` in the file of T-004 is a title.
 */
function readHeading(text: string, { own, ids }: { own: TaskNumber; ids: TaskIds }): Heading {
  // The first id is the heading's: the words before it must not contain one.
  const match = ids.regex(HEADING, 'isu').exec(text)
  const [, before, id = '', rest = ''] = match ?? []
  const number = ids.numberOf(id)
  if (match === null || (before !== undefined && before.toLowerCase() !== 'task' && number !== own))
    return ownNumber(text, own, ids) ?? { id: null, number: null, title: text }
  return { id, number, title: rest }
}

/** A bare number, perhaps after `Task`, is an id only if it is the file's own, and a sign follows it. */
function ownNumber(text: string, own: TaskNumber, ids: TaskIds): Heading | null {
  const [, id = '', title = ''] = ids.regex(OWN_NUMBER, 'is').exec(text) ?? []
  const { first, suffix } = partsOf(own)
  return readId(id)?.number === `${first}${suffix}` ? { id, number: own, title } : null
}

const OWN_NUMBER = String.raw`^(<id>|task\s+\d[\d.a-z]*)\s*[:：—–·.-]\s+(.*)$`
const HEADING = String.raw`^(?:((?!\[?<named>)\S+)\s+)?\[?(<named>)\]?(?![\w-])\s*[:：—–·.-]?\s*(.*)$`

interface Heading {
  readonly id: string | null
  readonly number: TaskNumber | null
  readonly title: string
}

type UnplacedProblem = Omit<Problem, 'line'>

const NOWHERE = { start: 0, end: 0 }

/** The problems of the document: its frontmatter, its heading. */
function outlineProblems(
  { error, heading }: Outline,
  named: Heading,
  { id, number }: Pick<Task, 'id' | 'number'>,
) {
  const problems: UnplacedProblem[] = error ? [{ kind: 'bad-frontmatter', field: null, ...error }] : []
  // The title may be in the frontmatter that cannot be read.
  if (heading === null && !error) {
    const message = `no heading; expected "# ${id}: …"`
    problems.push({ kind: 'no-heading', field: null, message, span: NOWHERE })
  }
  if (heading !== null && named.number !== null && named.number !== number) {
    const message = `the heading says ${named.id}, the file's name ${id}`
    problems.push({ kind: 'heading-id', field: null, message, span: heading.span })
  }
  return problems
}

/** The problem of the Status. */
function statusProblems(
  { error, heading, fields }: Outline,
  field: Field | undefined,
  status: Status | null,
): UnplacedProblem[] {
  const expected = STATUSES.join(', ')
  if (status !== null) return []
  if (field === undefined) {
    // A file that is no task at all has no other problem.
    if (error !== null || (heading === null && fields.length === 0)) return []
    const message = `no Status; expected a line "- **Status**: TODO" below the heading (one of ${expected})`
    return [{ kind: 'no-status', field: 'Status', message, span: NOWHERE }]
  }
  const message = `${field.value === '' ? 'Status is empty' : `Status "${field.value}" is none of these`}; expected one of ${expected}`
  return [{ kind: 'bad-status', field: 'Status', message, span: field.valueSpan }]
}

/** The problem of a new file that nobody has filled in. */
function templateProblems(source: string, sections: readonly Section[]): UnplacedProblem[] {
  const section = unfilledAt(source, sections)
  if (section === null) return []
  const message = `the ${section.title} is still the template: fill it in`
  return [{ kind: 'unfilled-template', field: null, message, span: section.span }]
}

/** The problem of a field that is given before with a different value. */
function conflict(
  field: Field,
  known: Partial<Record<FieldName, Field>>,
  vocabulary: TaskVocabulary,
): UnplacedProblem[] {
  const { name, value, valueSpan: span } = field
  const first = name === null ? field : known[name]!
  if (name === null || field === first || meaningOf(field, vocabulary) === meaningOf(first, vocabulary))
    return []
  const message = `${name} is given twice with different values: "${first.value}" and "${value}"`
  return [{ kind: 'field-conflict', field: name, message, span }]
}

/** The same text for two spellings of one value. */
function meaningOf({ name, value }: Field, { statuses, ids: known }: TaskVocabulary): string {
  switch (name) {
    case 'Status':
      return lookUpMarked(statuses, value) ?? wordKey(value)
    case 'Depends': {
      const { ids, stranger } = readDepends(value, known)
      return `${[...new Set(ids.map(({ number }) => number))].sort(compareNumbers).join()} ${stranger ?? ''}`
    }
    case 'Touches':
    case 'Context':
      return splitPaths(value).join('\n')
    default:
      return isNone(value) ? '' : wordKey(value)
  }
}
