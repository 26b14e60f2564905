import type { Config } from './config/defaults.ts'
import { loadConfig } from './config/load.ts'
import { findRoot } from './root.ts'
import { select, type Selection } from '../select/selection.ts'
import { tierOf, type TierChoice } from '../select/tier.ts'
import type { Task, TaskHead } from '../task/model.ts'
import { readBacklog, readHeads } from '../task/read.ts'
import { asSpelled } from '../task/status-spelling.ts'
import { taskVocabulary, type TaskVocabulary } from '../task/vocabulary.ts'
import { checkConfiguredAgents } from './configured-agents.ts'
import { taskFolders } from './task-folder.ts'

/** From where a command was started. */
export interface Where {
  readonly cwd: string
  /** The task folder that was named. */
  readonly dir: string | undefined
}

/** Where a command works: the root, its configuration and its task folder. */
export interface Place {
  readonly root: string
  readonly config: Config
  /** The task folder, relative to the root. */
  readonly dir: string
  /** More folders of tasks, relative to the root. */
  readonly moreDirs: readonly string[]
  /** Whether the file of that name is no task, whatever it is called. */
  readonly isIgnored: ((name: string) => boolean) | undefined
  /** The words of the task files, with the team's own. */
  readonly vocabulary: TaskVocabulary
}

/** A place with its tasks read and decided on. */
export interface Project extends Place {
  readonly tasks: readonly Task[]
  readonly selection: Selection
  readonly tierOf: (task: Task) => TierChoice
}

/** Finds the root from where the command was started, and reads its configuration. */
export async function openPlace({ cwd, dir: asked }: Where): Promise<Place> {
  const root = findRoot(cwd, asked)
  const config = await loadConfig(root)
  await checkConfiguredAgents(root, config)
  const folders = await taskFolders(root, config, asked)
  return { root, config, ...folders, vocabulary: taskVocabulary(config.aliases) }
}

/** The words of a place, its statuses as its tasks spell them: for an edit of one of them. */
export async function spelledWords(place: Place): Promise<TaskVocabulary> {
  const { tasks } = await readBacklog(place, ({ id, number, file, status, fields }) => {
    const own = fields.filter(({ name }) => name === 'Status')
    return { id, number, file, status, fields: own }
  })
  return asSpelled(place.vocabulary, tasks)
}

/** Decides on the backlog by the heads of its tasks: several times as fast as by whole tasks, and in less memory. */
export async function selectByHeads(place: Place): Promise<Selection<TaskHead>> {
  return select((await readHeads(place)).tasks)
}

/** Finds the place, and reads and decides on its whole backlog. */
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
