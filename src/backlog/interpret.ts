import { placeAt } from '../base/diagnostic.ts'
import type { Span } from '../base/diagnostic.ts'
import { dependsSection, readDependencies, strayIds } from './depends.ts'
import { readHeading } from './heading.ts'
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
  const problems = [
    ...ofOutline,
    ...(first.Status === undefined && isNoTask ? [] : statusProblems(first.Status, vocabulary)),
    ...depends.problems,
    ...(!mayNameStrays
      ? []
      : strayIds(source, {
          own: numberOf(id),
          isOpen: lookUpMarked(vocabulary.statuses, raw('Status')) === 'TODO',
          fields,
          found: depends.found,
          block: blockOf(outline, source),
          sections,
          words: vocabulary.fields,
          others: vocabulary.others,
        })),
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

/** The block between the heading and the first section. */
function blockOf({ heading, sections }: TaskOutline, source: string): Span {
  const start = heading?.span.end ?? 0
  const end = sections.find(({ form }) => form === 'heading')?.span.start ?? source.length
  return { start: Math.min(start, end), end }
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
