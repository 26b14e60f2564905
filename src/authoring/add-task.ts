import { UserError } from '../base/errors.ts'
import { startLint } from '../backlog/lint/lint.ts'
import type { SignalInput } from '../agents/signal/signal.ts'
import type { TaskDraft } from '../agents/signals.ts'
import { type Draft, draftOf, openCriteria } from '../backlog/draft.ts'
import { compareNumbers } from '../backlog/ids.ts'
import type { FieldName, Task } from '../backlog/model.ts'
import { parseTask } from '../backlog/parse.ts'
import { findTask } from '../config/find-task.ts'
import { lintContext } from './lint-context.ts'
import { composeTask, milestoneLike, pathIn } from './new-task.ts'
import type { Place } from '../config/project.ts'

/**
 * Composes the tasks that agents of a run add: each lands with the commit of the task whose agent found it. A run uses each
 * number once; `highestOf` returns the highest number in use anywhere.
 */
export function taskAdder(place: Place, highestOf: (tasks: readonly Task[]) => Promise<number>) {
  const added: Task[] = []
  return async (draft: SignalInput<'add_task'>, known: readonly Task[]): Promise<TaskDraft> => {
    const tasks = [
      ...known,
      ...added.filter(({ number }) => known.every((task) => task.number !== number)),
    ].sort((one, other) => compareNumbers(one.number, other.number))
    try {
      const composed = composeTask({ ...place, tasks }, (await highestOf(tasks)) + 1, draftIn(draft, tasks))
      const task = await parseTask(composed, place.vocabulary)
      refuseUnlessMeant(task, draft, tasks)
      const found = startLint([...tasks, task], await lintContext(place))(task)
      const wrong = found.find(({ severity }) => severity === 'error')
      if (wrong) throw new UserError(`the task would be invalid: ${wrong.message}`)
      added.push(task)
      return composed
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      return { problem: [error.message, error.fix].filter(Boolean).join('. ') }
    }
  }
}

function draftIn(
  {
    title,
    description,
    criteria,
    depends,
    touches,
    produces,
    milestone,
    complexity,
  }: SignalInput<'add_task'>,
  tasks: readonly Task[],
): Draft {
  return draftOf({
    title,
    milestone: milestoneLike(milestone, tasks),
    depends: depends.map((id) => findTask(tasks, id).id),
    touches: touches.map((path) => pathIn(path, 'touches')),
    complexity,
    provenance: 'agent',
    description,
    criteria: openCriteria(criteria),
    produces: produces.map((path) => `\`${pathIn(path, 'produces')}\``),
  })
}

/** The only fields of a task that an agent adds: its agent and its limits are the defaults. */
const FIELDS = new Set<FieldName | null>([
  'Status',
  'Milestone',
  'Depends',
  'Touches',
  'Complexity',
  'Provenance',
])

/** Refuses text of an agent that would set more than it may: a status, an agent, a limit, or that the task needs nothing. */
function refuseUnlessMeant(
  { status, held, depends, fields }: Task,
  draft: SignalInput<'add_task'>,
  known: readonly Task[],
): void {
  const needed = new Set(depends.map(({ number }) => number)).size
  if (
    status === 'TODO' &&
    !held &&
    fields.every(({ name }) => FIELDS.has(name)) &&
    needed === new Set(draft.depends.map((id) => findTask(known, id).number)).size
  )
    return
  throw new UserError('its text would be read as fields of the task', 'Use prose without field syntax.')
}
