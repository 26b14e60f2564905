import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { UserError } from '../base/errors.ts'
import { deepFolder } from '../base/folder.ts'
import type { Config } from './defaults.ts'
import { entriesIn, folderNamesIn } from '../base/folder.ts'
import { nativePath, pathKey, pathWithin } from '../base/paths.ts'
import { USUAL_IDS, taskIds } from '../backlog/ids.ts'
import { type TaskFolders, fileIn, taskFoldersOf } from '../backlog/task-folders.ts'

/** Whether the folder leads out of the project. A missing folder does not: reading it reports that. */
function leadsOut(root: string, dir: string): boolean {
  try {
    return pathWithin(realpathSync(root), realpathSync(join(root, dir))) === null
  } catch {
    return false
  }
}

/** The task folders of a project: from the command line, else from the configuration. */
export async function taskFolders(
  root: string,
  { tasks }: Pick<Config, 'tasks'>,
  named?: string,
): Promise<TaskFolders> {
  const { dir, ignore, id } = typeof tasks === 'string' ? { dir: tasks, ignore: [], id: null } : tasks
  const [first = '', ...more] = [named ?? dir].flat()
  const names = [taskFolder(root, first), ...more.map((one) => taskFolder(root, one))] as const
  return taskFoldersOf(
    names,
    ignore.length > 0 ? await ignoring(ignore) : undefined,
    id === null ? USUAL_IDS : taskIds([id].flat()),
  )
}

async function ignoring(patterns: readonly string[]): Promise<(name: string) => boolean> {
  // Loaded only for patterns: most projects have none.
  const { parseGlob } = await import('../base/glob.ts')
  const globs = patterns.map(
    (pattern) => parseGlob(pattern) ?? { matches: (name: string) => name === pattern },
  )
  return (name) => globs.some((glob) => glob.matches(name))
}

/** The task folder relative to the root, with forward slashes. Throws if it is outside, because no commit could hold it. */
export function taskFolder(root: string, named: string): string {
  const deep = deepFolder(named)
  if (deep !== null) return fileIn(taskFolder(root, deep), '**')
  const full = resolve(root, named)
  const dir = pathWithin(root, full) ?? pathWithin(root, nativePath(full))
  if (dir === null) {
    throw new UserError(
      `the task folder ${named} is outside of the project at ${root}`,
      'Name it relative to there, as in --dir docs/tasks; -C <path> works on another project.',
    )
  }
  if (leadsOut(root, dir)) {
    throw new UserError(
      `the task folder ${named} is a link that leads out of the project at ${root}`,
      'No commit could hold a task there. Make it a folder, or work on the other project with -C <path>.',
    )
  }
  return spelledAsOnDisk(root, dir) || '.'
}

/** The spelling on disk: `Docs/Tasks` may be `docs/tasks` here, and git knows only the latter. A link keeps its own name. */
function spelledAsOnDisk(root: string, dir: string): string {
  const onDisk = pathWithin(root, nativePath(join(root, dir)))
  const same = { ignorecase: true, precomposeunicode: true }
  return onDisk !== null && pathKey(onDisk, same) === pathKey(dir, same) ? onDisk : dir
}

/** The folder at most two below the root with the most task files, such as `tasks`; null if none has several. */
export function findTaskFolder(root: string): { readonly dir: string; readonly count: number } | null {
  const [best] = foldersIn(root, '')
    .flatMap((dir) => [dir, ...foldersIn(root, `${dir}/`)])
    .map((dir) => {
      const files = entriesIn(join(root, dir)).filter((entry) => entry.isFile())
      return { dir, count: files.filter(({ name }) => USUAL_IDS.inFileName(name) !== null).length }
    })
    .toSorted((a, b) => b.count - a.count)
  return best && best.count >= FEWEST_TASKS ? best : null
}

/** One file with such a name may be anything. */
const FEWEST_TASKS = 2
/** Packages, what programs make, and task files that nobody is to do. */
export const NO_BACKLOG =
  /^(?:\.git|\.ralph|node_modules|vendor|target|dist|build|tests?|fixtures?|examples?|templates?|archived?)$/i
const MOST_FOLDERS = 200

function foldersIn(root: string, above: string): readonly string[] {
  const names = folderNamesIn(join(root, above)).filter((name) => !NO_BACKLOG.test(name))
  return names.slice(0, MOST_FOLDERS).map((name) => above + name)
}
