import type { Task } from '../../model.ts'
import { idOf } from '../../values.ts'
import { headingSpan } from '../place.ts'
import { standsAsTask, type Rule } from '../rule.ts'

const duplicateId: Rule = {
  name: 'duplicate-id',
  severity: 'error',
  start:
    ({ claims }) =>
    (task) => {
      const rivals = claims.rivals.get(task.number)
      if (!rivals) return []
      const [first, second] = rivals.files
      const other = first === task.file ? second : first
      const more = rivals.files.length > 2 ? ` and ${rivals.files.length - 2} more` : ''
      return [{ span: headingSpan(task), message: `${task.id} is also the number of ${other}${more}` }]
    },
}

const emptyTitle: Rule = {
  name: 'empty-title',
  severity: 'error',
  start: () => (task) => {
    if (task.title !== '' || !standsAsTask(task)) return []
    return [{ span: headingSpan(task), message: `${task.id} has no title` }]
  },
}

const idWidth: Rule = {
  name: 'id-width',
  severity: 'warning',
  start:
    ({ idWidth }) =>
    (task) => {
      const usual = idWidth === null ? task.id : idOf(task.number, idWidth)
      if (task.id === usual) return []
      return [{ span: headingSpan(task), message: `${task.id} would be ${usual} among the others` }]
    },
}

const secondHeading: Rule = {
  name: 'second-heading',
  severity: 'warning',
  start: () => (task) =>
    [...secondOfBlock(task), ...gapsAfterSections(task)].map((start) => ({
      span: { start, end: start },
      message: 'a second first-level heading; a file is one task',
    })),
}

/** The second heading above the first section, which also has the file's own. */
function secondOfBlock(task: Task): number[] {
  const first = task.sections.find((section) => section.form === 'heading')
  const block = task.source.slice(0, first?.span.start)
  if (headingsIn(block).length < 2) return []
  const second = headingsIn(block.replace(NO_HEADINGS, (text) => ' '.repeat(text.length)))[1]
  return second === undefined ? [] : [second]
}

/** Parts without headings: frontmatter, fences and comments. */
const NO_HEADINGS = /^---\r?\n[^]*?\n---$|^(```+|~~~+)[^]*?(?:^\1|$(?![^]))|<!--[^]*?(?:-->|$(?![^]))/gm

function headingsIn(text: string): number[] {
  return Array.from(text.matchAll(/^#(?=[ \t])/gm), (match) => match.index)
}

/** A section ends at the next one or at the end of the file: if it ends earlier, a first-level heading follows. */
function gapsAfterSections(task: Task): number[] {
  const sections = task.sections.filter((section) => section.form === 'heading')
  const begins = new Set(sections.map((section) => section.span.start))
  const ends = sections.map((section) => section.span.end)
  return ends.filter((end) => end < task.source.length && !begins.has(end))
}

/** The rules about a task's heading and its number. */
export const HEADING_RULES: readonly Rule[] = [duplicateId, emptyTitle, idWidth, secondHeading]
