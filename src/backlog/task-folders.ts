import { deepFolder } from '../base/folder.ts'
import { type TaskIds, USUAL_IDS } from './ids.ts'

/** The folders of a project's tasks, relative to its root, with forward slashes. */
export interface TaskFolders {
  /** `docs/tasks/**` means all folders below it, too. */
  readonly names: readonly string[]
  /** New tasks go into this one. */
  readonly first: string
  /** Whether a path, relative to the root, is a task file's. */
  readonly includes: (path: string) => boolean
  /** Whether a file of that name is configured to be no task. */
  readonly ignores: (name: string) => boolean
  readonly ids: TaskIds
}

/** The folders of these names. */
export function taskFoldersOf(
  names: readonly [string, ...string[]],
  ignores: TaskFolders['ignores'] = () => false,
  ids: TaskIds = USUAL_IDS,
): TaskFolders {
  const all = new Set(names)
  const deep = [...all].flatMap((name) => deepFolder(name) ?? [])
  const isBelow = (folder: string): string | undefined =>
    deep.find((top) => top === '.' || folder === top || folder.startsWith(`${top}/`))
  // Each folder once.
  const found = [...all].filter((name) => deepFolder(name) !== null || isBelow(name) === undefined)
  return {
    names: found,
    first: deepFolder(names[0]) ?? names[0],
    ignores,
    ids,
    includes(path) {
      const name = path.slice(path.lastIndexOf('/') + 1)
      if (ids.inFileName(name) === null || ignores(name)) return false
      const folder = path.slice(0, -name.length - 1) || '.'
      if (all.has(folder)) return true
      const top = deep.length === 0 ? undefined : isBelow(folder)
      return (
        top !== undefined &&
        !NO_FOLDER.test(path) &&
        !ignores(top === '.' ? path : path.slice(top.length + 1))
      )
    },
  }
}

/** A path through a hidden folder, or packages. */
const NO_FOLDER = /(?:^|\/)(?:\.[^/]*|node_modules)\//

/** The folders without a configuration. */
export const USUAL_FOLDERS = taskFoldersOf(['docs/tasks'])

/** The path of a file in a folder, which may be the root. */
export function fileIn(folder: string, name: string): string {
  return folder === '.' ? name : `${folder}/${name}`
}
