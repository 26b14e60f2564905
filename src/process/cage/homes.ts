import { copyFileSync, cpSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { AgentHome } from '../../base/cage-needs.ts'
import type { CarriedFile } from './carried-files.ts'
import { real, type MountRule } from './mounts.ts'
import type { CagePolicy } from './policy.ts'

/** Larger things are no settings: a file is left out, and a folder is bound as it is. */
const MOST_BYTES = 64 * 1024 * 1024
const MOST_FILES = 400

/** The homes and files of an agent, as a cage has them. */
export interface Homes {
  readonly rules: readonly MountRule[]
  /** The copies whose changes stay. */
  readonly carried: readonly CarriedFile[]
}

/** Copies the homes and files of an agent into a folder of the cage. */
export function layOutHomes({ homes, files }: Pick<CagePolicy, 'homes' | 'files'>, below: string): Homes {
  const laidOut = homes.map((home, index) => layOutHome(home, join(below, `home-${index}`)))
  const rules = laidOut.flatMap((home) => home.rules)
  for (const path of files) {
    if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) continue
    const copy = join(below, basename(path))
    copyFileSync(path, copy)
    rules.push({ kind: 'write', path, from: copy })
  }
  return { rules, carried: laidOut.flatMap((home) => home.carried) }
}

/**
 * Lays out an agent's own folder for a cage: a copy, which it may write and which is deleted with the cage, so that
 * no setting, hook or server that it adds remains. Of what it `keeps`, folders are bound into the copy, and changed
 * files are carried back.
 */
function layOutHome({ folder, keeps }: AgentHome, copy: string): Homes {
  mkdirSync(copy, { mode: 0o700 })
  // The agent would make these folders at its first start, which it cannot in a cage.
  const folders = keeps.filter((name) => !/\.\w+$/.test(name)).map((name) => join(folder, name))
  for (const path of [folder, ...folders]) mkdirSync(path, { recursive: true, mode: 0o700 })
  const home = real(folder) ?? folder
  const rules: MountRule[] = [{ kind: 'write', path: folder, from: copy }]
  const carried: CarriedFile[] = []
  for (const entry of readdirSync(home, { withFileTypes: true })) {
    const [path, place] = [join(home, entry.name), join(copy, entry.name)]
    if (keeps.includes(entry.name) && entry.isDirectory()) {
      mkdirSync(place)
      rules.push({ kind: 'write', path })
    } else if (keeps.includes(entry.name)) {
      const file = real(path)
      if (file === null || !lstatSync(file).isFile()) continue
      copyFileSync(file, place)
      carried.push({ path: file, copy: place, draft: `${copy}.draft` })
    } else if (entry.isFile() && lstatSync(path).size <= MOST_BYTES) copyFileSync(path, place)
    else if (entry.isDirectory()) {
      const size = sizeOf(path)
      if (size.files <= MOST_FILES && size.bytes <= MOST_BYTES) cpSync(path, place, { recursive: true })
      else {
        mkdirSync(place)
        rules.push({ kind: 'read', path })
      }
    }
  }
  return { rules, carried }
}

/** Stops counting when it is too much. */
function sizeOf(folder: string): { readonly files: number; readonly bytes: number } {
  let [files, bytes] = [0, 0]
  const folders = [folder]
  for (
    let at = folders.pop();
    at !== undefined && files <= MOST_FILES && bytes <= MOST_BYTES;
    at = folders.pop()
  ) {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      files++
      const path = join(at, entry.name)
      if (entry.isDirectory()) folders.push(path)
      else bytes += lstatSync(path).size
    }
  }
  return { files, bytes }
}
