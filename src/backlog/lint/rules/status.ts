import { blankComments } from '../../markdown/inline.ts'
import { sectionOf, STATUSES } from '../../model.ts'
import { readOrigin } from '../../origin.ts'
import { hasText, nearKey, quote, titleSpan, valueSpan } from '../place.ts'
import { error, problem, warning } from '../rule.ts'

/** Rules for the status of a task, here and in its origin. */
export const STATUS_RULES = {
  'blocked-without-reason': warning((task) => {
    const reason = sectionOf(task, 'Blocked')
    if (task.status !== 'BLOCKED' || (reason && hasText(task, reason))) return []
    return [{ span: valueSpan(task, 'Status'), message: 'BLOCKED, and no "## Blocked" says why' }]
  }),

  'no-status': error((task) => {
    const meant = task.fields.find((field) => nearKey(field) === 'Status')
    return problem('no-status')(task).map((found) =>
      meant
        ? {
            span: meant.span,
            message: `no Status; ${quote(meant.key)} is not a known field: did you mean Status?`,
          }
        : found,
    )
  }),

  'origin-status': warning((task, { context: { origins = {} } }) => {
    const { status } = task
    const origin = readOrigin(task.origin)
    if (!origin || !Object.hasOwn(origins, origin.path)) return []
    const { path, key } = origin
    const statuses = origins[path]!
    const there = Object.hasOwn(statuses, key) ? statuses[key] : undefined
    const span = valueSpan(task, 'Origin')
    if (there === undefined) return [{ span, message: `${key} is not in ${path} any more` }]
    // Most other tools have no status for blocked tasks.
    const isSame = (status === 'DONE') === (there === 'DONE') && !(status === 'TODO' && there === 'BLOCKED')
    if (isSame || status === null) return []
    return [{ span, message: `the task is ${status}, and ${key} in ${path} is ${there}` }]
  }),

  'status-case': warning((task, { context: { aliases } }) =>
    task.fields.flatMap(({ name, value, valueSpan: { start, end } }) => {
      const status = STATUSES.find((word) => word === value.toUpperCase())
      const isOwn = Object.values(aliases?.statuses ?? {}).some((words) => words.includes(value))
      if (name !== 'Status' || !status || value === status || isOwn) return []
      const at = blankComments(task.source.slice(start, end)).indexOf(value)
      if (at < 0) return []
      const span = { start: start + at, end: start + at + status.length }
      const message = `Status ${quote(value)} is written ${status}`
      return [{ span, message, fix: { ...span, text: status } }]
    }),
  ),

  'waiting-todo': warning((task) => {
    const blocked = sectionOf(task, 'Blocked')
    if (task.status !== 'TODO' || !blocked) return []
    const message = 'the task is TODO, but waits as long as this section is here'
    return [{ span: titleSpan(blocked), message }]
  }),
}
