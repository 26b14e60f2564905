import { statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { UserError } from '../base/errors.ts'
import { CONFIG_FILES } from '../base/names.ts'
import { nativePath } from '../base/paths.ts'
import { TASK_FOLDER } from './defaults.ts'
import { isConfiguredByManifest } from './load.ts'

const MARKERS = ['.git', 'package.json', 'Cargo.toml', 'go.mod', 'pyproject.toml', 'mix.exs', ...CONFIG_FILES]

/** Whether a path exists. */
type Probe = (path: string) => boolean

/**
 * The project's root for a folder inside it: the closest parent that looks like a project.
 * If that has no task folder, and a parent in the same repository has one, it is the parent.
 */
export function findRoot(cwd: string, tasks: string = TASK_FOLDER, exists: Probe = existsOnDisk): string {
  const closest = closestProject(cwd, exists)
  if (closest === undefined) {
    throw new UserError(
      'No project root found. Please run ralph from within a project directory.',
      'A project is a git repository: git init makes one here.',
    )
  }
  // A configuration makes a folder the root, even if the tasks' folder has another name.
  const signs = [tasks, ...CONFIG_FILES]
  const holdsTasks = (folder: string): boolean =>
    signs.some((sign) => exists(resolve(folder, sign))) || isConfiguredByManifest(folder)
  return withinRepository(closest, exists).find(holdsTasks) ?? closest
}

/** The closest folder upward that looks like a project. */
export function closestProject(cwd: string, exists: Probe = existsOnDisk): string | undefined {
  return upward(cwd).find((folder) => MARKERS.some((marker) => exists(join(folder, marker))))
}

/** The folder and its parents up to the one with `.git`; only the folder if there is no repository. */
export function withinRepository(folder: string, exists: Probe = existsOnDisk): readonly string[] {
  const folders = upward(folder)
  const top = folders.findIndex((candidate) => exists(join(candidate, '.git')))
  return top === -1 ? [folder] : folders.slice(0, top + 1)
}

/** Whether a folder is in a repository. */
export function isInRepository(folder: string): boolean {
  return upward(folder).some((one) => existsOnDisk(join(one, '.git')))
}

/** The folder and all its parents. */
export function upward(folder: string): readonly string[] {
  const folders = [nativePath(folder)]
  for (;;) {
    const last = folders.at(-1)!
    const parent = dirname(last)
    if (parent === last) return folders
    folders.push(parent)
  }
}

function existsOnDisk(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    // The folder may not be entered, or is a file: nothing in it is usable.
    return false
  }
}
