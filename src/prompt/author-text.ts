import { type Section, type SectionName, type Task } from '../backlog/model.ts'
import { closed } from '../backlog/markdown/fence.ts'

/** Splits the source of a task into parts; every byte of the author is in one of them, unchanged. */
export function authorText(task: Task) {
  const moved = task.sections.filter((section) => MOVED.some((name) => name === section.name))
  const textOf = (...names: SectionName[]): string =>
    moved
      .filter((section) => names.some((name) => name === section.name))
      .map((section) => sectionText(task.source, section))
      .filter((text) => text !== '')
      .join('\n\n')
  return {
    // The heading, the fields and all sections without a part of their own.
    body: closed(upToLastWord(without(task.source, moved))),
    acceptance: textOf('Acceptance Criteria'),
    produces: textOf('Produces'),
    hints: textOf('Hints'),
    comments: textOf('Comments'),
    // ralph's text about the attempts before it gave up: it belongs to the earlier attempts.
    past: textOf('Previous Attempts', 'Blocked'),
    // From before a finished task was opened again.
    notes: textOf('Completion Notes'),
  }
}

/** The text of all sections of that name, without headings. */
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

/** The offset after a field's line; its span ends earlier. */
function lineEnd(source: string, offset: number): number {
  return offset + /^(?:[ \t]*(?:\r\n|\r|\n|$))?/.exec(source.slice(offset, offset + 200))![0].length
}

/** A field that stands for a section is included as a list item. */
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

/** Without trailing blank lines, but with the trailing blanks of the last line, which may be a hard break. */
function upToLastWord(text: string): string {
  const end = text.trimEnd().length
  return end === 0 ? '' : text.slice(0, end) + /^[^\r\n]*/.exec(text.slice(end))![0]
}
