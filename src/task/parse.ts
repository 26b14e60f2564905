import type { Span } from '../base/diagnostic.ts'
import { parseDuration } from '../base/duration.ts'
import { TooDeep } from './blocks.ts'
import {
  type Dependency,
  type Field,
  type FieldName,
  type Problem,
  type SectionName,
  STATUSES,
  type Task,
  TIERS,
} from './model.ts'
import type { Outline } from './outline.ts'
import { loadParsers, type Parsers } from './reading.ts'
import { outlineWith, scanOutline } from './read-outline.ts'
import { idOf, isNone, numberOf, readDepends, splitList, splitPaths, splitReferences } from './values.ts'
import { TASK_VOCABULARY, type TaskVocabulary, wordKey } from './vocabulary.ts'

/** A task file as it lies on the disk. */
export interface TaskFile {
  /** Relative to the project root, with forward slashes. */
  readonly file: string
  readonly text: string
}

/** Reads one task file of any style. */
export async function parseTask(
  taskFile: TaskFile,
  vocabulary: TaskVocabulary = TASK_VOCABULARY,
): Promise<Task> {
  return scanTask(taskFile, vocabulary) ?? parseTaskWith(taskFile, vocabulary, await loadParsers())
}

/** Reads a task file in the ordinary style; null where its style needs the parsers. */
export function scanTask({ file, text }: TaskFile, vocabulary: TaskVocabulary): Task | null {
  const { source, bom } = withoutMark(text)
  const outline = scanOutline(source, vocabulary, null)
  return outline && interpret(file, source, bom, outline, vocabulary)
}

/** Reads a task file of any style with parsers that are at hand. What they refuse is a task with that as its problem. */
export function parseTaskWith({ file, text }: TaskFile, vocabulary: TaskVocabulary, parsers: Parsers): Task {
  const { source, bom } = withoutMark(text)
  try {
    return interpret(file, source, bom, outlineWith(source, vocabulary, parsers), vocabulary)
  } catch (error) {
    // The parser recurses, and refuses nesting beyond reason; one such file must not stop the others.
    if (error instanceof RangeError || error instanceof TooDeep) return unreadableTask(file, error.message)
    throw error
  }
}

/** A task of which no more is known than its file's name, and why. */
export function unreadableTask(file: string, message: string): Task {
  const problem: Problem = { kind: 'unreadable', field: null, message, span: { start: 0, end: 0 } }
  return { ...interpret(file, '', false, EMPTY_OUTLINE, TASK_VOCABULARY), problems: [problem] }
}

/** The id in a task file's name: `T-004.md`, `T-004-some-slug.md`; null for a name that is not a task's. */
export function idInFileName(name: string): string | null {
  return /^(T-\d{1,12})(?:-.*)?\.md$/i.exec(name)?.[1]?.toUpperCase() ?? null
}

function withoutMark(text: string): { source: string; bom: boolean } {
  const bom = text.charCodeAt(0) === 0xfeff
  return { source: bom ? text.slice(1) : text, bom }
}

type TaskOutline = Outline<FieldName, SectionName>

const EMPTY_OUTLINE: TaskOutline = { heading: null, fields: [], sections: [], lists: new Map(), error: null }

/** Gives an outline its meaning. */
function interpret(
  file: string,
  source: string,
  bom: boolean,
  outline: TaskOutline,
  vocabulary: TaskVocabulary,
): Task {
  const id = idInFileName(file.slice(file.lastIndexOf('/') + 1)) ?? file
  const fields = firstFields(outline.fields)
  const raw = (name: FieldName): string => fields.get(name)?.value ?? ''
  const text = (name: FieldName): string | null => (isNone(raw(name)) ? null : raw(name))
  const heading = readHeading(outline.heading?.text ?? '', numberOf(id))
  const depends = readDependencies(fields.get('Depends'), source, id)
  return {
    id,
    number: numberOf(id),
    file,
    source,
    bom,
    title: heading.title,
    status: vocabulary.statuses.get(wordKey(raw('Status'))) ?? null,
    milestone: text('Milestone'),
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
      ...conflicts(outline.fields, vocabulary),
    ],
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

/**
 * The id and the title in a heading. `Task` may stand before the id; so may another word, where the id is the
 * file's own (a heading in another language), because `Fix T-003` in the file of T-004 is a title.
 */
function readHeading(text: string, own: number): { number: number | null; title: string } {
  const match = /^(?:(\S+)\s+)?(T-\d{1,12})(?![\w-])\s*[:：—–·.-]?\s*(.*)$/su.exec(text)
  if (match === null) return { number: null, title: text }
  const number = numberOf(match[2]!)
  const isTitle = match[1] !== undefined && match[1].toLowerCase() !== 'task' && number !== own
  return isTitle ? { number: null, title: text } : { number, title: match[3]! }
}

function outlineProblems(outline: TaskOutline, headingNumber: number | null, id: string): Problem[] {
  const problems: Problem[] = []
  if (outline.error) problems.push({ kind: 'bad-frontmatter', field: null, ...outline.error })
  const heading = outline.heading
  if (heading === null) {
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

function statusProblems(field: Field | undefined, vocabulary: TaskVocabulary): Problem[] {
  const expected = STATUSES.join(', ')
  if (field === undefined) {
    const message = `no Status; expected a line "- **Status**: TODO" below the heading (one of ${expected})`
    return [{ kind: 'no-status', field: 'Status', message, span: { start: 0, end: 0 } }]
  }
  if (vocabulary.statuses.has(wordKey(field.value))) return []
  const message = `${field.value === '' ? 'Status is empty' : `Status "${field.value}" is none of these`}; expected one of ${expected}`
  return [{ kind: 'bad-status', field: 'Status', message, span: field.valueSpan }]
}

function readDependencies(
  field: Field | undefined,
  source: string,
  id: string,
): { found: Dependency[]; problems: Problem[] } {
  if (field === undefined) return { found: [], problems: [] }
  const { ids, stranger } = readDepends(field.value)
  const digits = id.length - 2
  const found = new Map<number, Dependency>()
  let from = field.valueSpan.start
  for (const { number, literal } of ids) {
    const at = source.indexOf(literal, from)
    const span =
      at < 0 || at > field.valueSpan.end ? field.valueSpan : { start: at, end: at + literal.length }
    if (at >= 0) from = span.start
    if (!found.has(number)) found.set(number, { id: idOf(number, digits), number, span })
  }
  const message = `Depends: "${stranger}" is not a task id; expected ids such as T-001, T-003, a range T-001–T-003, or none`
  const problems: Problem[] =
    stranger === null ? [] : [{ kind: 'bad-depends', field: 'Depends', message, span: field.valueSpan }]
  return { found: [...found.values()], problems }
}

/** Fields that are given twice with different values: nobody can tell which is meant. */
function conflicts(fields: readonly Field[], vocabulary: TaskVocabulary): Problem[] {
  const problems: Problem[] = []
  const first = firstFields(fields)
  for (const field of fields) {
    if (field.name === null) continue
    const other = first.get(field.name)!
    if (other === field || meaningOf(field, vocabulary) === meaningOf(other, vocabulary)) continue
    const message = `${field.name} is given twice with different values: "${other.value}" and "${field.value}"`
    problems.push({ kind: 'field-conflict', field: field.name, message, span: field.valueSpan })
  }
  return problems
}

/** The same for two ways of writing one value. */
function meaningOf(field: Field, vocabulary: TaskVocabulary): string {
  switch (field.name) {
    case 'Status':
      return vocabulary.statuses.get(wordKey(field.value)) ?? wordKey(field.value)
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
