import { placeAt } from '../base/diagnostic.ts'
import { parseDuration } from '../base/duration.ts'
import { readDependencies } from './depends.ts'
import { readHeading } from './heading.ts'
import { type Field, type FieldName, type Task, TIERS } from './model.ts'
import { conflicts, outlineProblems, statusProblems, type TaskOutline } from './problems.ts'
import { isNone, numberOf, splitList, splitPaths, splitReferences } from './values.ts'
import { idInPath } from './file-name.ts'
import { type TaskVocabulary, wordKey } from './vocabulary.ts'

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
  const fields = firstFields(outline.fields)
  const raw = (name: FieldName): string => fields.get(name)?.value ?? ''
  const text = (name: FieldName): string | null => (isNone(raw(name)) ? null : raw(name))
  const heading = readHeading(outline.heading?.text ?? '', numberOf(id))
  const depends = readDependencies(fields.get('Depends'), source, id)
  const status = vocabulary.statuses.get(wordKey(raw('Status'))) ?? null
  return {
    id,
    number: numberOf(id),
    file,
    source,
    bom,
    title: heading.title,
    status,
    held:
      status === 'TODO' &&
      outline.sections.some((section) => section.name === 'Blocked' && section.form === 'heading'),
    milestone: text('Milestone'),
    needs: depends.found.map(({ number }) => number),
    depends: depends.found,
    prdReference: splitReferences(raw('PRD Reference')),
    touches: splitPaths(raw('Touches')),
    context: splitPaths(raw('Context')),
    complexity: TIERS.find((tier) => wordKey(tier) === wordKey(raw('Complexity'))) ?? null,
    discipline: text('Discipline'),
    feature: text('Feature'),
    agent: text('Agent'),
    model: text('Model'),
    turns: readCount(raw('Turns')),
    timeoutSeconds: parseDuration(raw('Timeout')) ?? null,
    priority: text('Priority'),
    tags: splitList(raw('Tags')).map((tag) => tag.replace(/^#/, '')),
    provenance: text('Provenance'),
    completed: text('Completed'),
    commit: text('Commit'),
    cost: text('Cost'),
    produces: outline.lists.get('Produces') ?? null,
    fields: outline.fields,
    sections: outline.sections,
    problems: [
      ...outlineProblems(outline, heading.number, id),
      ...statusProblems(fields.get('Status'), vocabulary),
      ...depends.problems,
      ...conflicts(outline.fields, fields, vocabulary),
    ].map((problem) => ({ ...problem, line: placeAt(source, problem.span.start).line })),
  }
}

function firstFields(all: readonly Field[]): ReadonlyMap<FieldName, Field> {
  const fields = new Map<FieldName, Field>()
  for (const field of all) if (field.name !== null && !fields.has(field.name)) fields.set(field.name, field)
  return fields
}

function readCount(value: string): number | null {
  return /^\d{1,6}$/.test(value.trim()) ? Number(value) || null : null
}
