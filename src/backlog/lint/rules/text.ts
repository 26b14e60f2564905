import { misspelling } from '../../../base/spelling.ts'
import { placesIn } from '../../../base/places.ts'
import { frontmatterIn, linesOf } from '../../markdown/lines.ts'
import { headingSpan, type SectionName, SECTION_NAMES, type Task } from '../../model.ts'
import { hasText, quote, titleSpan } from '../place.ts'
import { error, type Finding, standsAsTask, warning } from '../rule.ts'

/** Rules for the document: its frontmatter, its headings and its sections. */
export const TEXT_RULES = {
  'duplicate-section': warning((task) => {
    const placeOf = placesIn(task.source)
    const first = new Map(task.sections.toReversed().map((section) => [section.name, section]))
    return task.sections.flatMap((section) => {
      const earlier = first.get(section.name)!
      if (section.name === null || earlier === section) return []
      const message = `${section.name} is already in line ${placeOf(earlier.span.start).line}`
      return [{ span: titleSpan(section), message }]
    })
  }),

  'empty-title': error((task) => {
    if (task.title !== '' || !standsAsTask(task)) return []
    return [{ span: headingSpan(task), message: `${task.id} has no title` }]
  }),

  'missing-criteria': warning((task) =>
    unsaid(task, ['Acceptance Criteria'], 'no "## Acceptance Criteria" says when it is done'),
  ),

  'missing-description': warning((task) =>
    unsaid(task, ['Description', null], 'nothing says what to do; add a "## Description"'),
  ),

  'misspelled-section': warning((task) => {
    const present = new Set<string | null>(task.sections.map(({ name }) => name))
    return task.sections.flatMap((section) => {
      const near = section.name === null ? misspelling(section.title, SECTION_NAMES) : undefined
      if (near === undefined || present.has(near)) return []
      const message = `${quote(section.title)} is not a known section; did you mean ${near}?`
      return [{ span: titleSpan(section), message }]
    })
  }),

  'second-heading': warning((task) =>
    [...secondOfBlock(task), ...gapsAfterSections(task)].map((start) => ({
      span: { start, end: start },
      message: 'a second first-level heading; a file is one task',
    })),
  ),
}

/** What an open task does not say in any of these sections. */
function unsaid(task: Task, names: readonly (SectionName | null)[], message: string): readonly Finding[] {
  if (task.status === 'DONE' || !standsAsTask(task)) return []
  const isSaid = task.sections.some((section) => names.includes(section.name) && hasText(task, section))
  return isSaid ? [] : [{ span: headingSpan(task), message }]
}

function secondOfBlock({ source, sections }: Task): number[] {
  const end = sections.find(({ form }) => form === 'heading')?.span.start ?? source.length
  const start = frontmatterIn(source)?.end ?? 0
  const lines = [...linesOf(source.slice(start, end))]
  const headings = lines.filter(({ kind, text }) => kind === 'heading' && /^#[ \t]/.test(text))
  return headings.slice(1, 2).map(({ at }) => start + at)
}

function gapsAfterSections({ source, sections }: Task): number[] {
  const spans = sections.flatMap(({ form, span }) => (form === 'heading' ? [span] : []))
  const begins = new Set(spans.map(({ start }) => start))
  return spans.flatMap(({ end }) => (end < source.length && !begins.has(end) ? [end] : []))
}
