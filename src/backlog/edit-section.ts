import type { Span } from '../base/diagnostic.ts'
import { speaksOwnWords } from './edit-field.ts'
import { closed } from './markdown/fence.ts'
import { linesOf, unclosed, withoutBullet } from './markdown/lines.ts'
import type { Section, SectionName, Task } from './model.ts'
import { applySplices, lineEnding, type Splice, withEndings } from './markdown/splice.ts'
import { fieldStart } from './field-syntax.ts'
import { lookUp, type TaskVocabulary } from './vocabulary.ts'

/**
 * Sets the body of a section: the last one of that name, or a new one at the end of the file. Fields at its
 * beginning, and a rule with a footer at its end, stay.
 */
export function setSection(
  task: Task,
  name: SectionName,
  body: string,
  vocabulary: TaskVocabulary,
): readonly Splice[] {
  const section = sectionsOf(task, name).at(-1)
  if (section !== undefined)
    return [bodySplice(task, { ...section, bodySpan: ownSpan(task, section, vocabulary) }, body)]
  const field = task.sections.findLast((candidate) => candidate.name === name)
  if (field !== undefined) return [fieldSplice(task, field, body)]
  return [appendedSection(task, name, body, vocabulary, unclosed(task.source))]
}

/** The body of a section without its fields and footer. */
function ownSpan(task: Task, { bodySpan }: Section, { fields }: TaskVocabulary): Span {
  const body = task.source.slice(bodySpan.start, bodySpan.end)
  let start = 0
  for (const [line] of body.matchAll(/[^\r\n]*(?:\r\n|\n|\r)/g)) {
    const field = fieldStart(withoutBullet(line))
    const isField = field !== null && field.bold && lookUp(fields, field.key) !== undefined
    if (!isField && line.trim() !== '') break
    if (isField) start = body.indexOf(line, start) + line.length
  }
  return { start: bodySpan.start + start, end: bodySpan.start + Math.max(start, footerStart(body)) }
}

/** The offset of a rule below a blank line that only a few lines follow; the end if there is none. */
function footerStart(body: string): number {
  const lines = [...linesOf(body)]
  const rule = lines.findLastIndex(({ kind }, index) => kind === 'rule' && lines[index - 1]?.kind === 'blank')
  if (rule === -1) return body.length
  const footer = lines.slice(rule + 1).filter(({ kind }) => kind !== 'blank')
  return footer.length > 0 && footer.length <= MOST_FOOTER_LINES ? lines[rule]!.at : body.length
}

const MOST_FOOTER_LINES = 5

/** A field that stands for a section has its text after or below its key, indented. */
function fieldSplice(task: Task, { span }: Section, body: string): Splice {
  const item = task.source.slice(span.start, span.end)
  const bullet = /^(?:[-*+]|\d+[.)])[ \t]+/.exec(item)?.[0] ?? ''
  const valueAt = span.start + bullet.length + (fieldStart(item.slice(bullet.length))?.valueAt ?? 0)
  const key = task.source.slice(span.start, valueAt).trimEnd()
  const margin = /[ \t]*$/.exec(task.source.slice(0, span.start))![0]
  const lines = body.trim().split('\n')
  const indent = margin + ' '.repeat(bullet.length)
  const text =
    lines.length === 1 && /^[\p{L}\p{N}]/u.test(body)
      ? ` ${body.trim()}`
      : `\n${lines.map((line) => (line === '' ? '' : indent + line)).join('\n')}`
  return { start: span.start + key.length, end: span.end, text: withEndings(text, lineEnding(task.source)) }
}

/** Appends to a section, which is added if missing, and removes `removed` at the same time. */
export function extendSection(
  task: Task,
  name: SectionName,
  addition: string,
  vocabulary: TaskVocabulary,
  removed: readonly Splice[] = [],
): readonly Splice[] {
  const section = sectionsOf(task, name).at(-1)
  if (section === undefined) {
    const left = applySplices(task.source, removed)
    return [appendedSection(task, name, addition, vocabulary, unclosed(left))]
  }
  const body = [bodyOf(task, section), addition].filter(Boolean).join(lineEnding(task.source).repeat(2))
  return [bodySplice(task, section, body)]
}

/** Removes all sections of that name with their headings. */
export function removeSection(task: Task, name: SectionName): readonly Splice[] {
  const spans: Span[] = []
  for (const { span } of sectionsOf(task, name)) {
    const before = spans.at(-1)
    if (before?.end === span.start) spans[spans.length - 1] = { start: before.start, end: span.end }
    else spans.push(span)
  }
  return spans.map((span) => removedSpan(task.source, span))
}

/** The bodies of the sections of that name, trimmed and with open Markdown closed. */
export function sectionBodies(task: Task, name: SectionName): readonly string[] {
  const gap = lineEnding(task.source).repeat(2)
  return sectionsOf(task, name).flatMap((section) => {
    // The heading may contain the reason too.
    const heading = /[:：—–(（]\s*\S/.test(section.title) ? section.title : ''
    const body = [heading, bodyOf(task, section)].filter(Boolean).join(gap)
    return body === '' ? [] : [closed(body)]
  })
}

function bodyOf(task: Task, { bodySpan }: Section): string {
  return task.source.slice(bodySpan.start, bodySpan.end).trim()
}

function sectionsOf(task: Task, name: SectionName): readonly Section[] {
  return task.sections.filter((section) => section.name === name && section.form === 'heading')
}

/** Keeps the blank lines around the old body. */
function bodySplice(task: Task, section: Section, body: string): Splice {
  const { start, end } = section.bodySpan
  const ending = lineEnding(task.source)
  const old = task.source.slice(start, end)
  const text = withEndings(body.trim(), ending)
  const content = old.trim()
  if (content !== '') {
    const at = start + old.indexOf(content)
    return { start: at, end: at + content.length, text }
  }
  // The heading may end the file without a line ending.
  const gap = /[\r\n]$/.test(task.source.slice(0, start)) ? '' : ending
  return { start, end: start, text: gap + text + (gap === '' ? ending : '') }
}

/** A section at the end adds exactly one line ending before it, so that `removeSection` restores the file. */
function appendedSection(
  task: Task,
  name: SectionName,
  body: string,
  vocabulary: TaskVocabulary,
  closer: string | null,
): Splice {
  const { source } = task
  const ending = lineEnding(source)
  const hasFinalEnding = /[\r\n]$/.test(source)
  const title = speaksOwnWords(task) ? (vocabulary.own.sections.get(name) ?? name) : name
  const heading = `## ${title}${ending}${headingsAreSpaced(task) ? ending : ''}`
  const gap = (hasFinalEnding ? '' : ending) + (closer === null ? '' : closer + ending) + ending
  const text = gap + heading + withEndings(body.trim(), ending) + (hasFinalEnding ? ending : '')
  return { start: source.length, end: source.length, text }
}

/** Whether this file has a blank line after its headings. */
function headingsAreSpaced(task: Task): boolean {
  const first = task.sections.find((section) => section.form === 'heading')
  return (
    first !== undefined && /^[ \t]*[\r\n]/.test(task.source.slice(first.bodySpan.start, first.bodySpan.end))
  )
}

/** The last section is removed with the line ending before it; another one ends where the next begins. */
function removedSpan(source: string, { start, end }: Span): Splice {
  if (end < source.length) return { start, end, text: '' }
  const gap = /[\r\n]$/.test(source) ? /(?:\r\n|\n|\r)$/ : /(?:\r\n|\n|\r){1,2}$/
  return { start: start - (gap.exec(source.slice(0, start))?.[0].length ?? 0), end, text: '' }
}
