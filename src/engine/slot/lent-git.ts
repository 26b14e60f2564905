import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { entriesIn } from '../../base/folder.ts'
import { moveAll, removeAll } from '../../base/remove.ts'
import { readPlainFile } from '../../base/read-file.ts'
import { looseParents } from '../../git/head.ts'
import { settingsText, type Settings } from '../../git/settings.ts'

/** What the repository in a folder shows to those who ask git there. */
interface LentGit {
  /** Null for a detached HEAD. */
  readonly branch: string | null
  readonly commit: string
  /** Lines of `<hash> <ref>`. */
  readonly refs: readonly string[]
  /** The folder of objects that it borrows. */
  readonly objects: string
  readonly settings: Settings
  /** An index of the files, which saves reading all of them again. */
  readonly index: string
  /** The file that says where a shallow history ends. */
  readonly shallow: string
}

/**
 * Makes the repository in a folder anew, for agents, gates and hooks. ralph never runs git on it: they may write what
 * they like there, and it is thrown away.
 */
export function lendGit(folder: string, lent: LentGit): void {
  const dir = join(folder, '.git')
  removeAll(dir)
  for (const made of ['objects/info', 'refs/heads', 'refs/tags', 'info'])
    mkdirSync(join(dir, made), { recursive: true })
  writeFileSync(join(dir, 'objects/info/alternates'), `${lent.objects}\n`)
  writeFileSync(join(dir, 'config'), settingsText(lent.settings))
  const own = lent.branch === null ? null : `refs/heads/${lent.branch}`
  writeFileSync(join(dir, 'HEAD'), own === null ? `${lent.commit}\n` : `ref: ${own}\n`)
  const others = lent.refs.filter((line) => line !== '' && !line.endsWith(` ${own}`))
  const refs = own === null ? others : [...others, `${lent.commit} ${own}`]
  writeFileSync(join(dir, 'packed-refs'), [...refs, ''].join('\n'))
  for (const [from, to] of [
    [lent.index, 'index'],
    [lent.shallow, 'shallow'],
  ] as const)
    if (existsSync(from)) copyFileSync(from, join(dir, to))
}

/** The commits that the refs of an agent's repository name, and that it has made itself: read as data. */
export function commitsMadeIn(folder: string): readonly string[] {
  const dir = join(folder, '.git')
  const found = new Set<string>()
  const visit = (path: string, depth: number): void => {
    for (const entry of entriesIn(path)) {
      if (entry.isDirectory() && depth < DEEPEST) visit(join(path, entry.name), depth + 1)
      else if (entry.isFile()) note(join(path, entry.name))
    }
  }
  const note = (file: string): void => {
    const hash = readPlainFile(file, 200)?.trim() ?? ''
    // A commit of the person's is not among the objects that were made here.
    const isMade = /^[0-9a-f]{40,64}$/.test(hash) && looseParents(join(dir, 'objects'), hash) !== null
    if (isMade && found.size < MOST) found.add(hash)
  }
  // Every ref was packed when it began: one in a file of its own was moved or made since.
  visit(join(dir, 'refs'), 0)
  return [...found]
}

const DEEPEST = 5
const MOST = 20

/**
 * The commit of the person's repository that the files in a folder stand on, by the agent's own HEAD, read as data: that
 * commit, or the first one below the commits that the agent made itself. Null if that cannot be told.
 */
export async function commitBelow(
  folder: string,
  refs: readonly string[],
  isKnown: (commit: string) => Promise<boolean>,
): Promise<string | null> {
  const dir = join(folder, '.git')
  for (let commit = headIn(dir, refs), depth = 0; commit !== null && depth < MOST_COMMITS; depth++) {
    if (await isKnown(commit)) return commit
    commit = looseParents(join(dir, 'objects'), commit)?.[0] ?? null
  }
  return null
}

const MOST_COMMITS = 500

/** The commit that HEAD names in a repository that an agent may have written; null if it names none. */
export function headIn(dir: string, refs: readonly string[] = []): string | null {
  const head = readPlainFile(join(dir, 'HEAD'), 1000)?.trim() ?? ''
  const ref = /^ref: (refs\/[\w./+@-]+)$/.exec(head)?.[1]
  if (ref === undefined) return hashIn(head)
  if (ref.includes('..')) return null
  const packed = refs.find((line) => line.endsWith(` ${ref}`))?.split(' ')[0]
  return hashIn(readPlainFile(join(dir, ref), 200)?.trim() ?? packed ?? '')
}

function hashIn(text: string): string | null {
  return /^[0-9a-f]{40,64}$/.test(text) ? text : null
}

/** Puts the repository of an ended attempt aside, where a person can look at what the agent had committed. */
export function putAside(folder: string, to: string): void {
  if (!existsSync(join(folder, '.git'))) return
  removeAll(to)
  mkdirSync(dirname(to), { recursive: true })
  moveAll(join(folder, '.git'), to)
}
