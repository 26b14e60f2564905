import type { Config } from './defaults.ts'
import { loadConfig } from './load.ts'
import { findRoot } from './root.ts'
import { select, type Selection } from '../backlog/select/selection.ts'
import { tierOf, type TierChoice } from '../backlog/select/tier.ts'
import type { Task, TaskHead } from '../backlog/model.ts'
import { mapTasks, readBacklog, readHeads, taskNames } from '../backlog/read.ts'
import type { TaskFolders } from '../backlog/task-folders.ts'
import { asSpelled } from '../backlog/status-spelling.ts'
import { taskVocabulary, type TaskVocabulary } from '../backlog/vocabulary.ts'
import { taskFolders } from './task-folder.ts'

/** Where a command was started. */
export interface Where {
  readonly cwd: string
  /** The task folder of the command line. */
  readonly dir: string | undefined
}

/** The place that a command works in: the root, its configuration and its task folders. */
export interface Place {
  readonly root: string
  readonly config: Config
  readonly folders: TaskFolders
  /** The words of the task files, the team's own included. */
  readonly vocabulary: TaskVocabulary
}

/** A place with its tasks and their states. */
export interface Project extends Place {
  readonly tasks: readonly Task[]
  readonly selection: Selection
  readonly tierOf: (task: Task) => TierChoice
}

/** Finds the root from the folder in which the command was started, and reads its configuration. */
export async function openPlace({ cwd, dir: named }: Where): Promise<Place> {
  const root = findRoot(cwd, named)
  const config = await loadConfig(root)
  const folders = await taskFolders(root, config, named)
  const ids = folders.ids.among(() => taskNames({ root, folders }))
  return { root, config, folders, vocabulary: taskVocabulary(config.aliases, ids) }
}

/** The words of a place, with the statuses as its tasks spell them: for editing a task. */
export async function spelledWords(place: Place): Promise<TaskVocabulary> {
  const tasks = await mapTasks(place, ({ status, fields }) => ({
    status,
    fields: fields.filter(({ name }) => name === 'Status'),
  }))
  return asSpelled(place.vocabulary, tasks)
}

/** Decides on the backlog from the heads of its tasks: several times as fast as from whole tasks, and with less memory. */
export async function selectByHeads(place: Place): Promise<Selection<TaskHead>> {
  return select((await readHeads(place)).tasks)
}

/** Finds the place, reads its whole backlog, and decides its tasks' states. */
export async function openProject(where: Where): Promise<Project> {
  const place = await openPlace(where)
  const { tasks } = await readBacklog(place)
  return {
    ...place,
    tasks,
    selection: select(tasks),
    tierOf: (task) => tierOf(task, place.config.tiers),
  }
}
