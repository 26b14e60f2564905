import { misspelling } from '../../../base/spelling.ts'
import { blankComments } from '../../markdown/inline.ts'
import { FIELD_NAMES, fieldOf, STATUSES, TIERS, type Field, type FieldName, type Task } from '../../model.ts'
import { isNone } from '../../values.ts'
import { FIELD_SYNONYMS } from '../../vocabulary.ts'
import { quote, suggestion, valueSpan } from '../place.ts'
import type { Finding, LintedTask, Rule } from '../rule.ts'

/** A field whose value was not understood, so that `read` found nothing in it. */
function badValue(
  field: FieldName,
  read: (task: Task) => unknown,
  describe: (value: string) => string,
): Rule {
  return {
    name: `bad-${field.toLowerCase()}`,
    severity: 'error',
    start: () => (task) => {
      const found = fieldOf(task, field)
      if (!found || read(task) !== null || isNone(found.value)) return []
      return [{ span: found.valueSpan, message: `${field} ${quote(found.value)} ${describe(found.value)}` }]
    },
  }
}

const badComplexity = badValue(
  'Complexity',
  ({ complexity }) => complexity,
  (value) => `is none of ${TIERS.join(', ')}${suggestion(value, TIERS)}`,
)

const badTimeout = badValue(
  'Timeout',
  ({ timeoutSeconds }) => timeoutSeconds,
  () => 'is not a duration such as 20m',
)

const badTurns = badValue(
  'Turns',
  ({ turns }) => turns,
  () => 'is not a number such as 40',
)

const badMilestone: Rule = {
  name: 'bad-milestone',
  severity: 'warning',
  start: () => (task) => {
    if (task.milestone === null || NUMBER_AND_NAME.test(task.milestone)) return []
    const message = `Milestone ${quote(task.milestone)} is not a number and a name, such as 1 — Authentication`
    return [{ span: valueSpan(task, 'Milestone'), message }]
  },
}

const NUMBER_AND_NAME = /^\d+(?:\.\d+)*(?:\s*[—–:.·-]\s*|\s+)\S/

const milestoneName: Rule = {
  name: 'milestone-name',
  severity: 'warning',
  start: ({ tasks }) => {
    const first = new Map<string, LintedTask>()
    for (const task of tasks) {
      const number = numberIn(task)
      if (number !== undefined && !first.has(number)) first.set(number, task)
    }
    return (task) => {
      const number = numberIn(task)
      const usual = number === undefined ? undefined : first.get(number)
      if (!usual || usual.milestone === task.milestone) return []
      const message = `Milestone ${quote(task.milestone ?? '')} is ${quote(usual.milestone ?? '')} in ${usual.id}`
      return [{ span: valueSpan(task, 'Milestone'), message }]
    }
  },
}

function numberIn({ milestone }: LintedTask): string | undefined {
  return /^\d+(?:\.\d+)*/.exec(milestone ?? '')?.[0]
}

const misspelledKey: Rule = {
  name: 'misspelled-key',
  severity: 'warning',
  start: () => (task) =>
    task.fields.flatMap((field) => {
      const near = nearKey(field)
      // Without another Status, no-status is the error there.
      if (near === undefined || (near === 'Status' && task.status === null)) return []
      return [
        { span: field.span, message: `${quote(field.key)} is not a known field; did you mean ${near}?` },
      ]
    }),
}

/** The field that an unknown key is similar to; undefined if there is none. */
function nearKey({ name, key }: Pick<Field, 'name' | 'key'>): string | undefined {
  return name === null ? misspelling(key, KNOWN) : undefined
}

const KNOWN = [...FIELD_NAMES, ...Object.values(FIELD_SYNONYMS).flat()]

const noStatus: Rule = {
  name: 'no-status',
  severity: 'error',
  start: () => (task) => {
    const meant = task.fields.find((field) => nearKey(field) === 'Status')
    return task.problems
      .filter(({ kind }) => kind === 'no-status')
      .map((problem) =>
        meant
          ? {
              span: meant.span,
              message: `no Status; ${quote(meant.key)} is not a known field: did you mean Status?`,
            }
          : problem,
      )
  },
}

const statusCase: Rule = {
  name: 'status-case',
  severity: 'warning',
  start: ({ context }) => {
    const own = new Set(Object.values(context.aliases?.statuses ?? {}).flat())
    const check = (task: Task, field: Field): readonly Finding[] => {
      const status = STATUSES.find((word) => word === field.value.toUpperCase())
      if (!status || field.value === status || own.has(field.value)) return []
      const raw = task.source.slice(field.valueSpan.start, field.valueSpan.end)
      const at = blankComments(raw).indexOf(field.value)
      if (at < 0) return []
      const start = field.valueSpan.start + at
      const span = { start, end: start + status.length }
      return [
        {
          span,
          message: `Status ${quote(field.value)} is written ${status}`,
          fix: { ...span, text: status },
        },
      ]
    }
    return (task) =>
      task.fields.filter(({ name }) => name === 'Status').flatMap((field) => check(task, field))
  },
}

/** The rules about the keys and the values of fields. */
export const FIELD_RULES: readonly Rule[] = [
  badComplexity,
  badMilestone,
  badTimeout,
  badTurns,
  milestoneName,
  misspelledKey,
  noStatus,
  statusCase,
]
