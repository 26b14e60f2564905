import { type Section, type SectionName, type Task } from '../task/model.ts'
import { closed } from '../markdown/fence.ts'

/** The task in its author's own words, as the parts of a prompt that it makes. */
interface AuthorText {
  /** The heading, the fields and every section that has no part of its own. */
  readonly body: string
  readonly acceptance: string
  readonly produces: string
  readonly hints: string
  readonly comments: string
  /** What ralph wrote when it last gave up: it belongs to the earlier attempts. */
  readonly past: string
  /** What was noted when the task was done before it was opened again. */
  readonly notes: string
}

/** Cuts the source of a task into its parts; every byte of the author's is in one of them, as it was written. */
export function authorText(task: Task): AuthorText {
  const moved = task.sections.filter((section) => MOVED.some((name) => name === section.name))
  const textOf = (...names: SectionName[]): string =>
    moved
      .filter((section) => names.some((name) => name === section.name))
      .map((section) => sectionText(task.source, section))
      .filter((text) => text !== '')
      .join('\n\n')
  return {
    body: closed(upToLastWord(without(task.source, moved))),
    acceptance: textOf('Acceptance Criteria'),
    produces: textOf('Produces'),
    hints: textOf('Hints'),
    comments: textOf('Comments'),
    past: textOf('Previous Attempts', 'Blocked'),
    notes: textOf('Completion Notes'),
  }
}

/** What stands under the sections of that name, without their headings. */
export function sectionBody(task: Task, name: SectionName): string {
  return task.sections
    .filter((section) => section.name === name)
    .map((section) => bodyText(task.source, section))
    .filter((text) => text !== '')
    .join('\n\n')
}

const MOVED = [
  'Acceptance Criteria',
  'Produces',
  'Hints',
  'Comments',
  'Previous Attempts',
  'Completion Notes',
  'Blocked',
] as const satisfies readonly SectionName[]

function without(source: string, sections: readonly Section[]): string {
  let text = ''
  let from = 0
  for (const { span } of sections.toSorted((a, b) => a.span.start - b.span.start)) {
    text += source.slice(from, span.start)
    from = Math.max(from, lineEnd(source, span.end))
  }
  return text + source.slice(from)
}

/** A field's span ends before its line does. */
function lineEnd(source: string, offset: number): number {
  return offset + /^(?:[ \t]*(?:\r\n|\r|\n|$))?/.exec(source.slice(offset, offset + 200))![0].length
}

/** A field that stands for a section is given as the item that it is. */
function sectionText(source: string, section: Section): string {
  const { span, form } = section
  const text = closed(upToLastWord(source.slice(span.start, lineEnd(source, span.end))))
  return form === 'field' || bodyText(source, section) !== '' ? text : ''
}

function bodyText(source: string, { span, bodySpan, form }: Section): string {
  const { start, end } = form === 'field' ? span : bodySpan
  const text = upToLastWord(source.slice(start, lineEnd(source, end)))
  return closed(text.replace(/^(?:[ \t]*(?:\r\n|\r|\n))+/, ''))
}

/** Without the blank lines at the end, but with the blanks of the last line, which may be a hard break. */
function upToLastWord(text: string): string {
  const end = text.trimEnd().length
  return end === 0 ? '' : text.slice(0, end) + /^[^\r\n]*/.exec(text.slice(end))![0]
}
