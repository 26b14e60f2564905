import { fieldOf, type FieldName, type Task, TIERS } from '../../model.ts'
import { isNone } from '../../values.ts'
import { nearKey, quote, suggestion, valueSpan } from '../place.ts'
import { error, type Finding, milestoneNumber, warning } from '../rule.ts'

/** Rules for the other fields: their keys, and values that say nothing. */
export const FIELD_RULES = {
  'bad-complexity': error((task) =>
    unread(
      task,
      'Complexity',
      task.complexity,
      (value) => `is none of ${TIERS.join(', ')}${suggestion(value, TIERS)}`,
    ),
  ),

  'bad-milestone': warning((task) => {
    if (task.milestone === null || NUMBER_AND_NAME.test(task.milestone)) return []
    const message = `Milestone ${quote(task.milestone)} is not a number and a name, such as 1 — Authentication`
    return [{ span: valueSpan(task, 'Milestone'), message }]
  }),

  'bad-tests': warning((task) =>
    unread(task, 'Tests', task.testPolicy, () => 'is neither "keep" nor "may change", and has no effect'),
  ),

  'bad-timeout': error((task) =>
    unread(task, 'Timeout', task.timeoutSeconds, () => 'is not a duration such as 20m'),
  ),

  'bad-turns': error((task) => unread(task, 'Turns', task.turns, () => 'is not a number such as 40')),

  'milestone-name': warning((task, { milestones }) => {
    const number = milestoneNumber(task)
    const usual = milestones.get(number)
    if (number === '' || !usual || usual.milestone === task.milestone) return []
    const message = `Milestone ${quote(task.milestone ?? '')} is ${quote(usual.milestone ?? '')} in ${usual.id}`
    return [{ span: valueSpan(task, 'Milestone'), message }]
  }),

  'misspelled-key': warning((task) =>
    task.fields.flatMap((field) => {
      const near = nearKey(field)
      // Without another Status, no-status is the error there.
      if (near === undefined || (near === 'Status' && task.status === null)) return []
      const message = `${quote(field.key)} is not a known field; did you mean ${near}?`
      return [{ span: field.span, message }]
    }),
  ),
}

/** A field whose value could not be read. */
function unread(
  task: Task,
  name: FieldName,
  read: unknown,
  isWrong: (value: string) => string,
): readonly Finding[] {
  const field = fieldOf(task, name)
  if (!field || read !== null || isNone(field.value)) return []
  return [{ span: field.valueSpan, message: `${name} ${quote(field.value)} ${isWrong(field.value)}` }]
}

const NUMBER_AND_NAME = /^\d+(?:\.\d+)*(?:\s*[—–:.·-]\s*|\s+)\S/
