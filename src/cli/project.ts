import { relative, resolve } from 'node:path'
import type { Config } from '../config/defaults.ts'
import { loadConfig } from '../config/load.ts'
import { findRoot } from '../config/root.ts'
import { select, type Selection } from '../select/selection.ts'
import { tierOf, type TierChoice } from '../select/tier.ts'
import type { Task } from '../task/model.ts'
import { readBacklog } from '../task/read.ts'
import { taskVocabulary, type TaskVocabulary } from '../task/vocabulary.ts'
import type { Context } from './command.ts'

/** Where a command works: the root, its configuration and its task folder. */
export interface Place {
  readonly root: string
  readonly config: Config
  /** The task folder, relative to the root. */
  readonly dir: string
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
export async function openPlace({ io, options }: Context): Promise<Place> {
  const asked = options.text('dir')
  const root = findRoot(io.cwd, asked)
  const config = await loadConfig(root)
  const dir = relative(root, resolve(root, asked ?? config.tasks)) || '.'
  return { root, config, dir: dir.replaceAll('\\', '/'), vocabulary: taskVocabulary(config.aliases) }
}

/** The same, with the backlog read. */
export async function openProject(context: Context): Promise<Project> {
  const place = await openPlace(context)
  const { root, dir, config, vocabulary } = place
  const { tasks } = await readBacklog({ root, dir, vocabulary })
  return { ...place, tasks, selection: select(tasks), tierOf: (task) => tierOf(task, config.tiers) }
}
