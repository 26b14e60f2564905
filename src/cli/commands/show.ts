import type { Selection, TaskState } from '../../select/selection.ts'
import { unblocks } from '../../select/selection.ts'
import type { Task } from '../../task/model.ts'
import { showView } from '../../ui/show-view.ts'
import type { Context } from '../command.ts'
import { findTask } from '../find-task.ts'
import { openProject, type Project } from '../project.ts'
import { taskJson } from '../task-json.ts'

/** Shows one task. */
export async function run(context: Context): Promise<number> {
  const project = await openProject(context)
  const { selection, tierOf, tasks } = project
  const task = findTask(tasks, context.args[0] ?? '')
  const state = stateOf(selection, task)
  if (context.json) context.printJson(showJson(state, project))
  else await context.print(showView({ state, selection, choice: tierOf(task) }))
  return 0
}

function stateOf(selection: Selection, task: Task): TaskState {
  const state = selection.states.find((state) => state.task === task)
  if (!state) throw new Error(`${task.id} is not in the selection`)
  return state
}

function showJson(state: TaskState, { selection, tierOf }: Project): object {
  const { task } = state
  const needsIt = (other: Task): boolean => other.depends.some(({ number }) => number === task.number)
  return {
    version: 1,
    task: taskJson(state, tierOf),
    dependants: selection.states.filter((other) => needsIt(other.task)).map((other) => other.task.id),
    unblocks: unblocks(selection, task.id).map(({ id }) => id),
    sections: task.sections.map(({ title }) => title),
  }
}
