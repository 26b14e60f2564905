import type { TaskState } from '../../select/selection.ts'
import type { Task } from '../../task/model.ts'
import { listView } from '../../ui/list-view.ts'
import type { Context } from '../command.ts'
import { isMilestone } from '../milestone.ts'
import type { Options } from '../options.ts'
import { openProject } from '../project.ts'
import { taskJson } from '../task-json.ts'

/** Shows the backlog, or the part of it that the filters leave. */
export async function run(context: Context): Promise<number> {
  const { options, json, print, printJson } = context
  const { selection, tierOf, dir } = await openProject(context)
  const matches = filterOf(options)
  const states = selection.states.filter(({ task }) => matches(task))
  if (json) {
    printJson({ version: 1, tasks: states.map((state) => taskJson(state, tierOf)), counts: countsOf(states) })
  } else {
    await print(listView({ states, tierOf, folder: dir, isEmpty: selection.states.length === 0 }))
  }
  return 0
}

function filterOf(options: Options): (task: Task) => boolean {
  const status = options.text('status')
  const tags = options.list('tag')
  const milestone = options.text('milestone')
  const discipline = options.text('discipline')
  const feature = options.text('feature')
  return (task) =>
    (status === undefined || task.status === status) &&
    tags.every((tag) => task.tags.some((own) => same(own, tag))) &&
    (milestone === undefined || (task.milestone !== null && isMilestone(task.milestone, milestone))) &&
    (discipline === undefined || same(task.discipline, discipline)) &&
    (feature === undefined || same(task.feature, feature))
}

function same(own: string | null, asked: string): boolean {
  return own !== null && own.trim().toLowerCase() === asked.trim().toLowerCase()
}

function countsOf(states: readonly TaskState[]): Record<string, number> {
  const counts = { TODO: 0, DONE: 0, BLOCKED: 0 }
  for (const { task } of states) if (task.status) counts[task.status]++
  return counts
}
