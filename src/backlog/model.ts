import type { Span } from '../base/diagnostic.ts'
import type { TaskNumber } from './ids.ts'

/** The states of a task. */
export const STATUSES = ['TODO', 'DONE', 'BLOCKED'] as const
/** The state of a task. */
export type Status = (typeof STATUSES)[number]

export const TIERS = ['Light', 'Standard', 'Heavy'] as const
/** How hard a task is, which decides what it may take. */
export type Tier = (typeof TIERS)[number]

/** The known field keys, in the format's order: a missing field is added after its nearest predecessor in this list. */
export const FIELD_NAMES = [
  'Status',
  'Milestone',
  'Depends',
  'PRD Reference',
  'Touches',
  'Complexity',
  'Discipline',
  'Feature',
  'Context',
  'Agent',
  'Model',
  'Turns',
  'Timeout',
  'Priority',
  'Tags',
  'Tests',
  'Review',
  'Provenance',
  'Origin',
  'Completed',
  'Commit',
  'Cost',
] as const
/** The name of a known field. */
export type FieldName = (typeof FIELD_NAMES)[number]

/** The known sections; all others are the author's own. */
export const SECTION_NAMES = [
  'Description',
  'Acceptance Criteria',
  'Hints',
  'Produces',
  'Comments',
  'Previous Attempts',
  'Completion Notes',
  'Blocked',
] as const
/** The name of a known section. */
export type SectionName = (typeof SECTION_NAMES)[number]

/** One `Key: value` of the metadata block, or of the frontmatter. */
export interface Field<Name extends string = FieldName> {
  /** The known field, or null for one that ralph does not know. */
  readonly name: Name | null
  /** The key as its author wrote it. */
  readonly key: string
  /** Plain text: no emphasis, code marks, link targets or comments, wrapped lines joined by a space. */
  readonly value: string
  /** The whole field: from its bullet (or key) to the end of its last line, without the line ending. */
  readonly span: Span
  /** The part of the file that an edit of the value replaces. */
  readonly valueSpan: Span
  readonly form: FieldForm
}

/** How a field is written: `- **Key**: value`, `**Key**: value`, a key of the frontmatter, a row of a table. */
export type FieldForm = 'item' | 'line' | 'frontmatter' | 'row'

/** A part of the file under an H2, or a field that stands for one (`- **Hints**:` with a nested list). */
export interface Section<Name extends string = SectionName> {
  readonly name: Name | null
  /** The heading as plain text. */
  readonly title: string
  /** From the start of the heading to the next H2, or to the end of the file. */
  readonly span: Span
  /** The text below the heading. */
  readonly bodySpan: Span
  readonly form: 'heading' | 'field'
}

/** A problem of the file: a task with a problem is not eligible. */
export interface Problem {
  readonly kind: ProblemKind
  /** The field with the problem, if it is in a field. */
  readonly field: FieldName | null
  readonly message: string
  readonly span: Span
  /** Line number, from 1. */
  readonly line: number
}

/** Each kind is the name of the lint rule that reports it. */
export type ProblemKind =
  | 'unreadable'
  | 'bad-frontmatter'
  | 'no-heading'
  | 'heading-id'
  | 'no-status'
  | 'bad-status'
  | 'bad-depends'
  | 'field-conflict'
  | 'unfilled-template'

/** A task that this one needs, and where the file names it. */
export interface Dependency {
  readonly id: string
  readonly number: TaskNumber
  readonly span: Span
}

/** What a task must produce: a path that must exist, or something that only a person can check (`Tests`). */
export interface Product {
  readonly text: string
  readonly path: string | null
}

/** The part of a task that its file name holds. */
export interface TaskName {
  /** `T-004`, as in the file name. */
  readonly id: string
  readonly number: TaskNumber
  /** Relative to the project root, with forward slashes. */
  readonly file: string
}

/** The status of a task, and its commit: all that is read from files in history. */
export interface TaskEnd extends TaskName {
  /** Null if it is missing, unknown, or given twice with different values. */
  readonly status: Status | null
  readonly commit: string | null
}

/** The part of a task that selection needs: all that `next` reads of a file. */
export interface TaskHead extends TaskName {
  /** Null if it is missing, unknown, or given twice with different values; then there is a problem too. */
  readonly status: Status | null
  /** The numbers of the tasks that it needs, each once. */
  readonly needs: readonly TaskNumber[]
  /** Whether it is a TODO with a Blocked section. */
  readonly held: boolean
  readonly problems: readonly Problem[]
}

/** The values of the other fields; null, or empty, for a missing one. */
export interface FieldValues {
  readonly milestone: string | null
  readonly prdReference: readonly string[]
  readonly touches: readonly string[]
  readonly context: readonly string[]
  /** Null if it is missing, or no known tier. */
  readonly complexity: Tier | null
  readonly discipline: string | null
  readonly feature: string | null
  readonly agent: string | null
  readonly model: string | null
  readonly turns: number | null
  readonly timeoutSeconds: number | null
  readonly priority: string | null
  readonly tags: readonly string[]
  /** The agent that reviews it, besides those of the configuration. */
  readonly review: string | null
  /** Whether tests that are there may be changed; null if the configuration decides. */
  readonly testPolicy: 'keep' | 'may change' | null
  readonly provenance: string | null
  /** The place in another tool's backlog that it came from. */
  readonly origin: string | null
  readonly completed: string | null
  readonly commit: string | null
  readonly cost: string | null
}

/** A task without its text and the positions in it, for overviews. */
export interface TaskFacts extends TaskHead, FieldValues {
  readonly title: string
  /** The tasks in `needs`, by their ids. */
  readonly depends: readonly Pick<Dependency, 'id' | 'number'>[]
  /** The items under Produces; null if there is no such section, empty if it says `none`. */
  readonly produces: readonly Product[] | null
  /** The number of these items. */
  readonly outputs: number
  /** All fields, or at least those that ralph does not know. */
  readonly fields: readonly Pick<Field, 'name' | 'key' | 'value'>[]
}

/** The name of a fact beside those in the head. */
export type FactName = Exclude<keyof TaskFacts, keyof TaskHead>

/** The head of a task, and the facts with these names. */
export type Facts<K extends FactName> = TaskHead & Pick<TaskFacts, K>

/** A task with the whole text of its file. */
export interface Task extends TaskFacts {
  /** The text of the file without its byte order mark; every span is an offset into it. */
  readonly source: string
  readonly bom: boolean
  /** The tasks in `needs`, and where the file names them. */
  readonly depends: readonly Dependency[]
  readonly fields: readonly Field[]
  readonly sections: readonly Section[]
}

/** The section of that name, if the task has it. */
export function sectionOf(task: Task, name: SectionName): Section | undefined {
  return task.sections.find((section) => section.name === name)
}

/** The line of the H1; the file's first character if there is none. */
export function headingSpan(task: Task): Span {
  const heading = /^#[ \t].*$/m.exec(task.source)
  return heading ? { start: heading.index, end: heading.index + heading[0].length } : { start: 0, end: 0 }
}

/** The field of that name, if the task has it; the first one of several. */
export function fieldOf(task: Task, name: FieldName): Field | undefined {
  return task.fields.find((field) => field.name === name)
}
