import { copyFileSync, cpSync, lstatSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { writeFileAtomic } from '../../base/atomic-file.ts'
import type { AgentHome } from '../../base/cage-needs.ts'
import { real, type CagePolicy, type MountRule } from './mounts.ts'
import { entriesIn } from '../../base/folder.ts'
import { readPlainFile } from '../../base/read-file.ts'

/** Larger things are no settings: a file is left out, and a folder is bound as it is. */
const MOST_BYTES = 64 * 1024 * 1024
const MOST_FILES = 400

/** Copies the homes and files of an agent into a folder of the cage; of some copies the changes stay. */
export function layOutHomes({ homes, files }: Pick<CagePolicy, 'homes' | 'files'>, below: string) {
  const rules: MountRule[] = []
  const carried: CarriedFile[] = []
  for (const [index, home] of homes.entries()) {
    const laidOut = layOutHome(home, join(below, `home-${index}`))
    rules.push(...laidOut.rules)
    carried.push(...laidOut.carried)
  }
  for (const path of files) {
    if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) continue
    const copy = join(below, basename(path))
    copyFileSync(path, copy)
    rules.push({ kind: 'write', path, from: copy })
  }
  return { rules, carried }
}

/**
 * Lays out an agent's own folder for a cage: a copy, which it may write and which is deleted with the cage, so that
 * no setting, hook or server that it adds remains. Of what it `keeps`, folders are bound into the copy, and changed
 * files are carried back.
 */
function layOutHome({ folder, keeps }: AgentHome, copy: string) {
  mkdirSync(copy, { mode: 0o700 })
  // The agent would make these folders at its first start, which it cannot in a cage.
  const folders = keeps.filter((name) => !/\.\w+$/.test(name)).map((name) => join(folder, name))
  for (const path of [folder, ...folders]) mkdirSync(path, { recursive: true, mode: 0o700 })
  const home = real(folder) ?? folder
  const rules: MountRule[] = [{ kind: 'write', path: folder, from: copy }]
  const carried: CarriedFile[] = []
  for (const entry of entriesIn(home)) {
    const [path, place] = [join(home, entry.name), join(copy, entry.name)]
    const isKept = keeps.includes(entry.name)
    if (isKept && !entry.isDirectory()) {
      const file = real(path)
      if (file === null || !lstatSync(file).isFile()) continue
      copyFileSync(file, place)
      carried.push({ path: file, copy: place, draft: `${copy}.draft` })
    } else if (entry.isFile() && lstatSync(path).size <= MOST_BYTES) copyFileSync(path, place)
    else if (entry.isDirectory() && !isKept && isSmall(path)) cpSync(path, place, { recursive: true })
    else if (entry.isDirectory()) {
      mkdirSync(place)
      rules.push({ kind: isKept ? 'write' : 'read', path })
    }
  }
  return { rules, carried }
}

/** Stops counting when it is too much. */
function isSmall(folder: string): boolean {
  let [files, bytes] = [0, 0]
  const folders = [folder]
  // A list's iteration includes what is added meanwhile.
  for (const at of folders) {
    for (const entry of entriesIn(at)) {
      files++
      const path = join(at, entry.name)
      if (entry.isDirectory()) folders.push(path)
      else bytes += lstatSync(path).size
    }
    if (files > MOST_FILES || bytes > MOST_BYTES) return false
  }
  return true
}

/** A file of an agent, such as its login, and the copy that it may replace in a cage. */
export interface CarriedFile {
  readonly path: string
  readonly copy: string
  /** Where a new copy is written before it takes its place; nothing in the cage can reach it. */
  readonly draft: string
}

/** How often a change is looked for. */
const EVERY_MS = 500
/** No login is larger. */
const LONGEST_LOGIN = 1024 * 1024

/**
 * Keeps files and their copies equal for as long as a cage lives; the returned function does so once more and ends it.
 * A mounted file would not do: a program that renews its login by renaming a new file over it fails, and the service
 * has already made the old login invalid. In the other direction an agent gets what another one has renewed.
 */
export function carryFiles(files: readonly CarriedFile[]): () => void {
  // A gate has none, and needs no timer.
  if (files.length === 0) return () => undefined
  const states = files.map((file) => ({ file, same: loginIn(file.path), before: loginIn(file.copy) }))
  const carry = (isLast: boolean): void => {
    for (const state of states) {
      const { path, copy, draft } = state.file
      const [own, copied] = [loginIn(path), loginIn(copy)]
      // While the agent lives, a file that has just changed may be half written.
      const isWhole = isLast || copied === state.before
      state.before = copied
      if (copied !== null && copied !== state.same && isWhole) {
        writeFileAtomic(path, copied)
        state.same = copied
      } else if (own !== null && own !== state.same && copied === state.same) {
        writeFileSync(draft, own, { mode: 0o600 })
        renameSync(draft, copy)
        state.same = own
        state.before = own
      }
    }
  }
  const timer = setInterval(() => ignoringErrors(() => carry(false)), EVERY_MS).unref()
  return () => {
    clearInterval(timer)
    ignoringErrors(() => carry(true))
  }
}

/** A disk that is full must not end the run; the next round tries again. */
function ignoringErrors(work: () => void): void {
  try {
    work()
  } catch {
    // The agent itself reports a login that does not work.
  }
}

/** An agent can put a link or a pipe in the place of its copy; an empty file is no login. */
function loginIn(path: string): string | null {
  return readPlainFile(path, LONGEST_LOGIN) || null
}
