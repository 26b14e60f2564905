import { placesIn } from '../../../base/places.ts'
import { misspelling } from '../../../base/spelling.ts'
import { sectionOf, SECTION_NAMES, type Section } from '../../model.ts'
import { hasText, headingSpan, quote, titleSpan, valueSpan } from '../place.ts'
import { standsAsTask, type Rule } from '../rule.ts'

const blockedWithoutReason: Rule = {
  name: 'blocked-without-reason',
  severity: 'warning',
  start: () => (task) => {
    const reason = sectionOf(task, 'Blocked')
    if (task.status !== 'BLOCKED' || (reason && hasText(task, reason))) return []
    return [{ span: valueSpan(task, 'Status'), message: 'BLOCKED, and no "## Blocked" says why' }]
  },
}

const duplicateSection: Rule = {
  name: 'duplicate-section',
  severity: 'warning',
  start: () => (task) => {
    const first = new Map<string, Section>()
    const placeOf = placesIn(task.source)
    return task.sections.flatMap((section) => {
      if (section.name === null) return []
      const earlier = first.get(section.name)
      if (!earlier) first.set(section.name, section)
      if (!earlier) return []
      const { line } = placeOf(earlier.span.start)
      return [{ span: titleSpan(section), message: `${section.name} is already in line ${line}` }]
    })
  },
}

const misspelledSection: Rule = {
  name: 'misspelled-section',
  severity: 'warning',
  start: () => (task) => {
    const present = new Set<string | null>(task.sections.map((section) => section.name))
    return task.sections.flatMap((section) => {
      const near = section.name === null ? misspelling(section.title, SECTION_NAMES) : undefined
      if (near === undefined || present.has(near)) return []
      const message = `${quote(section.title)} is not a known section; did you mean ${near}?`
      return [{ span: titleSpan(section), message }]
    })
  },
}

/** A task that is not done, and has text in none of the sections that count. */
function missing(name: string, message: string, counts: (section: Section) => boolean): Rule {
  return {
    name,
    severity: 'warning',
    start: () => (task) => {
      if (task.status === 'DONE' || !standsAsTask(task)) return []
      const isSaid = task.sections.some((section) => counts(section) && hasText(task, section))
      return isSaid ? [] : [{ span: headingSpan(task), message }]
    },
  }
}

const missingCriteria = missing(
  'missing-criteria',
  'no "## Acceptance Criteria" says when it is done',
  ({ name }) => name === 'Acceptance Criteria',
)

const missingDescription = missing(
  'missing-description',
  'nothing says what to do; add a "## Description"',
  ({ name }) => name === 'Description' || name === null,
)

const waitingTodo: Rule = {
  name: 'waiting-todo',
  severity: 'warning',
  start: () => (task) => {
    const blocked = sectionOf(task, 'Blocked')
    if (task.status !== 'TODO' || !blocked) return []
    return [
      { span: titleSpan(blocked), message: 'the task is TODO, but waits as long as this section is here' },
    ]
  },
}

/** The rules about sections: those that are missing, misspelled, or at odds with the Status. */
export const SECTION_RULES: readonly Rule[] = [
  blockedWithoutReason,
  duplicateSection,
  misspelledSection,
  missingCriteria,
  missingDescription,
  waitingTodo,
]
