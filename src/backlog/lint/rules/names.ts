import { whyOutside } from '../../../base/paths.ts'
import { nameAmong } from '../../../base/spelling.ts'
import type { Task } from '../../model.ts'
import { readOrigin } from '../../origin.ts'
import { quote, spansInValue, suggestion, valueSpan } from '../place.ts'
import type { Finding, LintedBacklog, Rule } from '../rule.ts'

const unknownAgent: Rule = {
  name: 'unknown-agent',
  severity: 'error',
  start: ({ context }) => {
    const known = new Set(context.agents)
    return (task) => {
      const name = task.agent
      if (name === null || known.size === 0 || known.has(name)) return []
      const message = `Agent ${quote(name)} is none that ralph knows${suggestion(name, known)}`
      return [{ span: valueSpan(task, 'Agent'), message }]
    }
  },
}

const unknownDiscipline: Rule = {
  name: 'unknown-discipline',
  severity: 'error',
  start: ({ context }) => unknownName('Discipline', 'docs/disciplines', context.disciplines),
}

const unknownFeature: Rule = {
  name: 'unknown-feature',
  severity: 'error',
  start: ({ context }) => unknownName('Feature', 'docs/features', context.features),
}

/** Checks a field that names a file in a folder; finds nothing if the folder's names are not passed. */
function unknownName(
  field: 'Discipline' | 'Feature',
  folder: string,
  names: readonly string[] | undefined,
): (task: Task) => readonly Finding[] {
  if (!names) return () => []
  return (task) => {
    const name = field === 'Discipline' ? task.discipline : task.feature
    if (name === null || nameAmong(names, name) !== undefined) return []
    const message = `${field} ${quote(name)} has no file in ${folder}${suggestion(name, names)}`
    return [{ span: valueSpan(task, field), message }]
  }
}

const originStatus: Rule = {
  name: 'origin-status',
  severity: 'warning',
  start:
    ({ context: { origins = {} } }) =>
    (task) => {
      const origin = readOrigin(task.origin)
      if (!origin || !Object.hasOwn(origins, origin.path)) return []
      const statuses = origins[origin.path]!
      const there = Object.hasOwn(statuses, origin.key) ? statuses[origin.key] : undefined
      const span = valueSpan(task, 'Origin')
      if (there === undefined) return [{ span, message: `${origin.key} is not in ${origin.path} any more` }]
      // Most other tools have no status for blocked tasks.
      const isSame =
        (task.status === 'DONE') === (there === 'DONE') && !(task.status === 'TODO' && there === 'BLOCKED')
      if (isSame || task.status === null) return []
      return [
        { span, message: `the task is ${task.status}, and ${origin.key} in ${origin.path} is ${there}` },
      ]
    },
}

const outsidePath: Rule = {
  name: 'outside-path',
  severity: 'error',
  start: (backlog) => (task) => [
    ...outsideIn(task, 'Touches', task.touches, backlog),
    ...outsideIn(task, 'Context', task.context, backlog),
  ],
}

function outsideIn(
  task: Task,
  field: 'Touches' | 'Context',
  paths: readonly string[],
  { context }: LintedBacklog,
): Finding[] {
  const problemOf = (path: string): string | null => whyOutside(path, context.isOutside)
  const wrong = paths.filter((path) => problemOf(path) !== null)
  const spans = spansInValue(task, field, wrong)
  return wrong.map((path, index) => ({ span: spans[index]!, message: `${quote(path)} ${problemOf(path)}` }))
}

/** The rules about what a task names outside of the backlog: agents, disciplines, features, origins, files. */
export const NAME_RULES: readonly Rule[] = [
  originStatus,
  outsidePath,
  unknownAgent,
  unknownDiscipline,
  unknownFeature,
]
