import { placeAt } from '../base/diagnostic.ts'
import { parseDuration } from '../base/duration.ts'
import { readDependencies } from './depends.ts'
import { readHeading } from './heading.ts'
import { type Field, type FieldName, type Problem, type Task, TIERS } from './model.ts'
import {
  conflicts,
  outlineProblems,
  statusProblems,
  type TaskOutline,
  type UnplacedProblem,
} from './problems.ts'
import { isNone, numberOf, splitPaths, splitReferences, splitTags } from './values.ts'
import { idInPath } from './file-name.ts'
import { lookUp, type TaskVocabulary, wordMap } from './vocabulary.ts'

/** The outline of a document that says nothing. */
export const EMPTY_OUTLINE: TaskOutline = {
  heading: null,
  fields: [],
  sections: [],
  lists: new Map(),
  error: null,
}

/** Gives an outline its meaning. */
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
  const text = (name: FieldName): string | null => {
    const value = raw(name)
    return value === '' || isNone(value) ? null : value
  }
  const heading = readHeading(outline.heading?.text ?? '', numberOf(id))
  const depends = readDependencies(first.Depends, source, id)
  const status = lookUp(vocabulary.statuses, raw('Status')) ?? null
  return {
    id,
    number: numberOf(id),
    file,
    source,
    bom,
    title: heading.title,
    status,
    held: status === 'TODO' && sections.some(({ name, form }) => name === 'Blocked' && form === 'heading'),
    milestone: text('Milestone'),
    needs: depends.found.map(({ number }) => number),
    depends: depends.found,
    prdReference: splitReferences(raw('PRD Reference')),
    touches: splitPaths(raw('Touches')),
    context: splitPaths(raw('Context')),
    complexity: lookUp(TIER_WORDS, raw('Complexity')) ?? null,
    discipline: text('Discipline'),
    feature: text('Feature'),
    agent: text('Agent'),
    model: text('Model'),
    turns: readCount(raw('Turns')),
    timeoutSeconds: readDuration(raw('Timeout')),
    priority: text('Priority'),
    tags: splitTags(raw('Tags')),
    provenance: text('Provenance'),
    completed: text('Completed'),
    commit: text('Commit'),
    cost: text('Cost'),
    produces: outline.lists.get('Produces') ?? null,
    fields,
    sections,
    problems: placed(source, [
      ...outlineProblems(outline, heading.number, id),
      ...statusProblems(first.Status, vocabulary),
      ...depends.problems,
      ...conflicts(fields, vocabulary),
    ]),
  }
}

function firstFields(fields: readonly Field[]): Partial<Record<FieldName, Field>> {
  const first: Partial<Record<FieldName, Field>> = {}
  for (const field of fields) if (field.name !== null) first[field.name] ??= field
  return first
}

const TIER_WORDS = wordMap(TIERS, {})

function readCount(value: string): number | null {
  return value !== '' && /^\d{1,6}$/.test(value.trim()) ? Number(value) || null : null
}

function readDuration(value: string): number | null {
  return value === '' ? null : (parseDuration(value) ?? null)
}

function placed(source: string, problems: readonly UnplacedProblem[]): readonly Problem[] {
  return problems.length === 0
    ? NO_PROBLEMS
    : problems.map((problem) => ({ ...problem, line: placeAt(source, problem.span.start).line }))
}

const NO_PROBLEMS: readonly Problem[] = []
