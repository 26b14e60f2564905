import type { Cycle } from '../../select/cycles.ts'
import type { Task, TaskHead } from '../../model.ts'
import { idOf } from '../../values.ts'
import { valueSpan } from '../place.ts'
import type { Rule } from '../rule.ts'

const cycle: Rule = {
  name: 'cycle',
  severity: 'error',
  start: ({ cycles }) => {
    const rings = cycles.filter(({ tasks }) => tasks.length > 1)
    const cycleAt = new Map(rings.map((ring) => [ring.tasks[0]!.file, ring]))
    return (task) => {
      const found = cycleAt.get(task.file)
      return found ? [{ span: needSpan(task, found), message: describe(found) }] : []
    }
  },
}

/** The dependency that leads into the cycle. */
function needSpan(task: Task, { tasks }: Cycle<TaskHead>): { start: number; end: number } {
  const need = task.depends.find((dependency) => dependency.number === tasks[1]!.number)
  return need?.span ?? valueSpan(task, 'Depends')
}

function describe({ ids, tasks }: Cycle<TaskHead>): string {
  const shown = ids.length > MOST_SHOWN ? [...ids.slice(0, MOST_SHOWN), `… (${ids.length} tasks)`] : ids
  return isRing(tasks)
    ? `${[...shown, ids[0]].join(' → ')}: each waits for the next`
    : `${shown.join(', ')} wait for each other`
}

const MOST_SHOWN = 20

/** Whether each one needs the next, and the last one the first. */
function isRing(tasks: readonly TaskHead[]): boolean {
  return tasks.every((task, index) => {
    const next = tasks[(index + 1) % tasks.length]!
    return task.needs.includes(next.number)
  })
}

const dependencySpelling: Rule = {
  name: 'dependency-spelling',
  severity: 'warning',
  start:
    ({ claims, idWidth }) =>
    (task) =>
      task.depends.flatMap(({ number, span }) => {
        const meant = claims.first[number]
        const written = task.source.slice(span.start, span.end)
        if (BEGINS_RANGE.test(task.source.slice(span.end, span.end + LONGEST_MARK))) return []
        if (!meant || claims.rivals.has(number) || written === meant.id || !names(written, number)) return []
        // If a file's name has an unusual width, the name is wrong.
        if (idWidth !== null && meant.id !== idOf(meant.number, idWidth)) return []
        const message = `${written} is ${meant.id} by the name of its file`
        return [{ span, message, fix: { ...span, text: meant.id } }]
      }),
}

// A fix of one end of a range would be incomplete.
const BEGINS_RANGE = /^\]?\s*(?:–|\.\.+|…|to\s)\s*\[?T-/i
const LONGEST_MARK = 16

/** Whether a text is only an id, and of that number: text in a range may stand for other tasks too. */
function names(text: string, number: number): boolean {
  return /^T-\d+$/i.test(text) && Number(text.slice('T-'.length)) === number
}

const missingDependency: Rule = {
  name: 'missing-dependency',
  severity: 'error',
  start:
    ({ claims }) =>
    (task) => {
      const missing = task.depends.filter((dependency) => !claims.first[dependency.number])
      return missing.map(({ id, span }) => ({ span, message: `${id} does not exist` }))
    },
}

const selfDependency: Rule = {
  name: 'self-dependency',
  severity: 'error',
  start: () => (task) =>
    task.depends
      .filter((dependency) => dependency.number === task.number)
      .map(({ span }) => ({ span, message: `${task.id} depends on itself` })),
}

/** The rules about what a task depends on. */
export const DEPENDENCY_RULES: readonly Rule[] = [
  cycle,
  dependencySpelling,
  missingDependency,
  selfDependency,
]
