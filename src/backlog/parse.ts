import { BeyondReason } from './markdown/blocks.ts'
import type { Field, FieldName, Problem, Section, Task } from './model.ts'
import { type Parsers, loadParsers } from './reading.ts'
import { outlineWith, scanOutline } from './read-outline.ts'
import { TASK_VOCABULARY, type TaskVocabulary, lookUp, lookUpMarked } from './vocabulary.ts'
import { placeAt } from '../base/diagnostic.ts'
import { dependsSection, readDependencies, strayIds } from './depends.ts'
import { readValues } from './field-values.ts'
import {
  type TaskOutline,
  type UnplacedProblem,
  conflicts,
  outlineProblems,
  statusProblems,
  templateProblems,
} from './problems.ts'
import { numberOf } from './values.ts'
import { idInPath } from './task-folders.ts'

/** A task file on disk. */
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
  const scanned = unlessBeyondReason(taskFile.file, () => scanTask(taskFile, vocabulary))
  return scanned ?? parseTaskWith(taskFile, vocabulary, await loadParsers())
}

/** Reads a task file in the ordinary style; null if it needs the parsers. */
function scanTask({ file, text }: TaskFile, vocabulary: TaskVocabulary): Task | null {
  const { source, bom } = withoutMark(text)
  const outline = scanOutline(source, vocabulary, null)
  return outline && interpret(file, source, bom, outline, vocabulary)
}

/** Reads a task file of any style with loaded parsers. If they fail, the task has that as its problem. */
export function parseTaskWith({ file, text }: TaskFile, vocabulary: TaskVocabulary, parsers: Parsers): Task {
  const { source, bom } = withoutMark(text)
  return unlessBeyondReason(file, () =>
    interpret(file, source, bom, outlineWith(source, vocabulary, parsers), vocabulary),
  )
}

/** The parser is recursive and rejects extreme nesting; one such file must not stop the others. */
function unlessBeyondReason<T extends Task | null>(file: string, read: () => T): T | Task {
  try {
    return read()
  } catch (error) {
    // A regular expression that runs out of stack throws a RangeError or, when compiled, a SyntaxError.
    if (error instanceof RangeError || error instanceof SyntaxError || error instanceof BeyondReason)
      return unreadableTask(file, error.message)
    throw error
  }
}

/** A task of which only the file name is known, and the reason. */
export function unreadableTask(file: string, message: string): Task {
  const problem: Task['problems'][number] = {
    kind: 'unreadable',
    field: null,
    message,
    span: { start: 0, end: 0 },
    line: 1,
  }
  return { ...interpret(file, '', false, EMPTY_OUTLINE, TASK_VOCABULARY), problems: [problem] }
}

function withoutMark(text: string): { source: string; bom: boolean } {
  const bom = text.charCodeAt(0) === 0xfeff
  return { source: bom ? text.slice(1) : text, bom }
}

/** The outline of an empty document. */
const EMPTY_OUTLINE: TaskOutline = {
  heading: null,
  fields: [],
  sections: [],
  lists: new Map(),
  error: null,
}

/** Reads the values in an outline. */
function interpret(
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
