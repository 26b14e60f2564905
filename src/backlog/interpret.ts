import { placeAt } from '../base/diagnostic.ts'
import { dependsSection, readDependencies, strayIds } from './depends.ts'
import { readValues } from './field-values.ts'
import type { Field, FieldName, Problem, Section, Task } from './model.ts'
import {
  conflicts,
  outlineProblems,
  statusProblems,
  templateProblems,
  type TaskOutline,
  type UnplacedProblem,
} from './problems.ts'
import { numberOf } from './values.ts'
import { idInPath } from './file-name.ts'
import { lookUp, lookUpMarked, type TaskVocabulary } from './vocabulary.ts'

/** The outline of an empty document. */
export const EMPTY_OUTLINE: TaskOutline = {
  heading: null,
  fields: [],
  sections: [],
  lists: new Map(),
  error: null,
}

/** Reads the values in an outline. */
export function interpret(
  file: string,
  source: string,
  bom: boolean,
  outline: TaskOutline,
  vocabulary: TaskVocabulary,
): Task {
  const id = idInPath(file)
  const { fields, sections } = outline
  const first = firstFields(fields)
  const raw = (name: FieldName): string => first[name]?.value ?? ''
  const heading = readHeading(outline.heading?.text ?? '', numberOf(id))
  const depends = readDependencies(
    first.Depends ?? sectionOfDepends(source, sections, vocabulary),
    source,
    id,
  )
  const ofOutline = outlineProblems(outline, heading.number, id)
  const conflicting = conflicts(fields, vocabulary)
  // Problems that follow from another one would only hide that.
  const isNoTask = outline.error !== null || (outline.heading === null && fields.length === 0)
  const mayNameStrays = depends.problems.length === 0 && conflicting.every(({ field }) => field !== 'Depends')
  const isOpen = lookUpMarked(vocabulary.statuses, raw('Status')) === 'TODO'
  const problems = [
    ...ofOutline,
    ...(first.Status === undefined && isNoTask ? [] : statusProblems(first.Status, vocabulary)),
    ...depends.problems,
    ...(!mayNameStrays
      ? []
      : strayIds(source, outline, { own: numberOf(id), isOpen, found: depends.found }, vocabulary)),
    ...conflicting,
  ]
  // Two statuses in a file make both unreliable.
  const isClear = problems.every(({ field }) => field !== 'Status')
  const status = isClear ? (lookUpMarked(vocabulary.statuses, raw('Status')) ?? null) : null
  if (status === 'TODO') problems.push(...templateProblems(source, sections))
  const produces = outline.lists.get('Produces') ?? null
  return {
    id,
    number: numberOf(id),
    file,
    source,
    bom,
    title: heading.title,
    status,
    held: status === 'TODO' && sections.some(({ name, form }) => name === 'Blocked' && form === 'heading'),
    needs: depends.found.map(({ number }) => number),
    depends: depends.found,
    ...readValues(raw, vocabulary),
    produces,
    outputs: produces?.length ?? 0,
    fields,
    sections,
    problems: placed(source, problems),
  }
}

/** A section named Depends replaces the field if it is only a list. */
function sectionOfDepends(
  source: string,
  sections: readonly Section[],
  { fields }: TaskVocabulary,
): Pick<Field, 'value' | 'valueSpan'> | undefined {
  const section = sections.find(
    ({ title, form }) => form === 'heading' && lookUp(fields, title) === 'Depends',
  )
  return (section && dependsSection(source, section)) ?? undefined
}

function firstFields(fields: readonly Field[]): Partial<Record<FieldName, Field>> {
  const first: Partial<Record<FieldName, Field>> = {}
  for (const field of fields) if (field.name !== null) first[field.name] ??= field
  return first
}

function placed(source: string, problems: readonly UnplacedProblem[]): readonly Problem[] {
  return problems.length === 0
    ? NO_PROBLEMS
    : problems.map((problem) => ({ ...problem, line: placeAt(source, problem.span.start).line }))
}

const NO_PROBLEMS: readonly Problem[] = []

/**
 * The id and the title in a heading. `Task` may come before the id, and any other word if the id is the file's own (a
 * heading in another language), as `Fix T-003` in the file of T-004 is a title.
 */
function readHeading(text: string, own: number): { number: number | null; title: string } {
  // The first id is the heading's: the words before it must not contain one.
  const match = /^(?:((?!\[?T-\d)\S+)\s+)?\[?(T-\d{1,12})\]?(?![\w-])\s*[:：—–·.-]?\s*(.*)$/isu.exec(text)
  if (match === null) return { number: null, title: text }
  const number = numberOf(match[2]!)
  const isTitle = match[1] !== undefined && match[1].toLowerCase() !== 'task' && number !== own
  return isTitle ? { number: null, title: text } : { number, title: match[3]! }
}
