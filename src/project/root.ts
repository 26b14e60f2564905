import { statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { UserError } from '../base/errors.ts'
import { CONFIG_FILES } from '../base/names.ts'
import { nativePath } from '../base/paths.ts'
import { TASK_FOLDER } from './config/defaults.ts'
import { isConfiguredByManifest } from './config/load.ts'

const MARKERS = ['.git', 'package.json', 'Cargo.toml', 'go.mod', 'pyproject.toml', 'mix.exs']

/** Whether something is at a path. */
type Probe = (path: string) => boolean

/**
 * The project's root, seen from a folder inside it: the closest one upward that looks like a project.
 * Where that one has no task folder and one further up in the same repository has, it is that one.
 */
export function findRoot(cwd: string, tasks: string = TASK_FOLDER, exists: Probe = existsOnDisk): string {
  const closest = upward(cwd).find((folder) => MARKERS.some((marker) => exists(join(folder, marker))))
  if (closest === undefined) {
    throw new UserError('No project root found. Please run ralph from within a project directory.')
  }
  // A configuration says that the tasks are looked for from there, also where their folder has another name.
  const signs = [tasks, ...CONFIG_FILES]
  const holdsTasks = (folder: string): boolean =>
    signs.some((sign) => exists(resolve(folder, sign))) || isConfiguredByManifest(folder)
  return withinRepository(closest, exists).find(holdsTasks) ?? closest
}

/** From the folder up to the one that holds `.git`; the folder alone where no repository is around it. */
function withinRepository(folder: string, exists: Probe): readonly string[] {
  const folders = upward(folder)
  const top = folders.findIndex((candidate) => exists(join(candidate, '.git')))
  return top === -1 ? [folder] : folders.slice(0, top + 1)
}

function upward(folder: string): readonly string[] {
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
    // A folder that may not be entered, or a file in place of one: nothing there that ralph could use.
    return false
  }
}
