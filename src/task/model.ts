import type { Span } from '../base/diagnostic.ts'

/** How a task can stand. */
export const STATUSES = ['TODO', 'DONE', 'BLOCKED'] as const
/** How a task stands. */
export type Status = (typeof STATUSES)[number]

export const TIERS = ['Light', 'Standard', 'Heavy'] as const
/** How hard a task is, which decides what it may take. */
export type Tier = (typeof TIERS)[number]

/** The keys with a meaning, in the order in which the format lists them: a missing field is added after its nearest predecessor here. */
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
  'Provenance',
  'Origin',
  'Completed',
  'Commit',
  'Cost',
] as const
/** The name of a field with a meaning. */
export type FieldName = (typeof FIELD_NAMES)[number]

/** The sections with a meaning; every other one is the author's own. */
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
/** The name of a section with a meaning. */
export type SectionName = (typeof SECTION_NAMES)[number]

/** One `Key: value` of the metadata block, or of the frontmatter. */
export interface Field<Name extends string = FieldName> {
  /** The key that is meant, or null for one that ralph does not know. */
  readonly name: Name | null
  /** The key as its author wrote it. */
  readonly key: string
  /** Plain text: no emphasis, code marks, link targets or comments, wrapped lines joined by a space. */
  readonly value: string
  /** The whole field: from its bullet (or key) to the end of its last line, without the line ending. */
  readonly span: Span
  /** What an edit of the value replaces. */
  readonly valueSpan: Span
  readonly form: FieldForm
}

/** How a field is written: `- **Key**: value`, `**Key**: value`, a key of the frontmatter, a row of a table. */
export type FieldForm = 'item' | 'line' | 'frontmatter' | 'row'

/** A part of the file under an H2, or a field of the block that stands for one (`- **Hints**:` with a nested list). */
export interface Section<Name extends string = SectionName> {
  readonly name: Name | null
  /** The heading's text as plain text. */
  readonly title: string
  /** From the heading's first character to where the next H2 begins, or to the end of the file. */
  readonly span: Span
  /** What stands below the heading. */
  readonly bodySpan: Span
  readonly form: 'heading' | 'field'
}

/** A reason not to trust the file: while a task has one it is not eligible. */
export interface Problem {
  readonly kind: ProblemKind
  /** The field it is about, where there is one. */
  readonly field: FieldName | null
  readonly message: string
  readonly span: Span
  /** Counts from 1. */
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

/** A task that this one needs, and where it is named. */
export interface Dependency {
  readonly id: string
  readonly number: number
  readonly span: Span
}

/** What a task is to leave behind: a path that must exist, or something that only a person can judge (`Tests`). */
export interface Product {
  readonly text: string
  readonly path: string | null
}

/** What a task file's name tells. */
export interface TaskName {
  /** `T-004`, as the file's name writes it. */
  readonly id: string
  readonly number: number
  /** Relative to the project root, with forward slashes. */
  readonly file: string
}

/** How a task stands, and the commit that it names: what is read of a file to look for its end in history. */
export interface TaskEnd extends TaskName {
  /** Null where it is missing, none of the three, or two of them. */
  readonly status: Status | null
  readonly commit: string | null
}

/** What selection needs of a task: all that is read of a file when only the next task is asked for. */
export interface TaskHead extends TaskName {
  /** Null where it is missing, none of the three, or two of them; a problem says so. */
  readonly status: Status | null
  /** The numbers of the tasks that it depends on, each once. */
  readonly needs: readonly number[]
  /** Whether it is a TODO with a Blocked section. */
  readonly held: boolean
  readonly problems: readonly Problem[]
}

/** What the fields of a task say beside its Status and Depends; null, or nothing, where one is not there. */
export interface FieldValues {
  readonly milestone: string | null
  readonly prdReference: readonly string[]
  readonly touches: readonly string[]
  readonly context: readonly string[]
  /** Null where it is not said, or says none of the three tiers. */
  readonly complexity: Tier | null
  readonly discipline: string | null
  readonly feature: string | null
  readonly agent: string | null
  readonly model: string | null
  readonly turns: number | null
  readonly timeoutSeconds: number | null
  readonly priority: string | null
  readonly tags: readonly string[]
  readonly provenance: string | null
  /** Where in another tool's backlog it came from. */
  readonly origin: string | null
  readonly completed: string | null
  readonly commit: string | null
  readonly cost: string | null
}

/** What an overview tells of a task: all but its text, and where in it something stands. */
export interface TaskFacts extends TaskHead, FieldValues {
  readonly title: string
  /** The tasks in `needs`, by their ids. */
  readonly depends: readonly Pick<Dependency, 'id' | 'number'>[]
  /** The items under Produces; null where there is no such section, empty where it says `none`. */
  readonly produces: readonly Product[] | null
  /** How many those are. */
  readonly outputs: number
  /** At least the fields that ralph does not know. */
  readonly fields: readonly Pick<Field, 'name' | 'key' | 'value'>[]
}

/** What may be asked of a task beside its head. */
export type FactName = Exclude<keyof TaskFacts, keyof TaskHead>

/** The head of a task, and of the other facts those of these names. */
export type Facts<K extends FactName> = TaskHead & Pick<TaskFacts, K>

/** One task file, as it was meant. */
export interface Task extends TaskFacts {
  /** The file's text without its byte order mark; every span is an offset into it. */
  readonly source: string
  readonly bom: boolean
  /** The tasks in `needs`, and where they are named. */
  readonly depends: readonly Dependency[]
  readonly fields: readonly Field[]
  readonly sections: readonly Section[]
}

/** The section of that name, if the task has it. */
export function sectionOf(task: Task, name: SectionName): Section | undefined {
  return task.sections.find((section) => section.name === name)
}

/** The field of that name, if the task has it; the first where it stands in two places. */
export function fieldOf(task: Task, name: FieldName): Field | undefined {
  return task.fields.find((field) => field.name === name)
}
