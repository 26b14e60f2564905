import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Git } from './git.ts'

/** What refs there are, and what each names. */
export type Refs = ReadonlyMap<string, string>

/** Those that somebody keeps work under; what is fetched from elsewhere can be fetched again. */
const FOLDERS = ['refs/heads', 'refs/tags', 'refs/stash', 'refs/notes', 'refs/replace', 'refs/ralph']

/** Every ref that somebody may keep work under. */
export async function listRefs(git: Git): Promise<Refs> {
  const { stdout } = await git.run(['for-each-ref', '--format=%(objectname) %(refname)', ...FOLDERS])
  const lines = stdout.toString().split('\n').filter(Boolean)
  return new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]))
}

/**
 * Another text after any ref has changed, and no process: git writes a ref by renaming a file into place, so that its
 * folder is touched. It says that there is something to look for, not what.
 */
export function refsStamp(commonDir: string): string {
  return refPlaces(commonDir)
    .map((place) => `${statSync(place, { throwIfNoEntry: false })?.mtimeMs} ${place}`)
    .join('\n')
}

/** The folders and the file of which one is touched whenever a ref changes. */
export function refPlaces(commonDir: string): readonly string[] {
  const refs = join(commonDir, 'refs')
  const folders = [refs, join(commonDir, 'reftable'), ...foldersBelow(refs)]
  return [...folders, join(commonDir, 'packed-refs')]
}

/** The folders of refs below one; what is fetched from elsewhere is of no matter, and may be much. */
export function foldersBelow(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    const inside = entries.filter((entry) => entry.isDirectory() && entry.name !== 'remotes')
    return inside.flatMap(({ name }) => [join(folder, name), ...foldersBelow(join(folder, name))])
  } catch {
    // Not there, or gone since it was listed.
    return []
  }
}

/**
 * Takes refs away and makes others, all or none; what is taken must still name what it did, and may be made anew. Their
 * reflogs say why.
 */
export async function changeRefs(
  git: Git,
  { make, take }: { readonly make: Refs; readonly take: Refs },
  why = '',
): Promise<void> {
  const updates = [...new Set([...take.keys(), ...make.keys()])].map((ref) => {
    const [from, to] = [take.get(ref), make.get(ref)]
    if (to === undefined) return `delete ${ref}\0${from}`
    return from === undefined ? `create ${ref}\0${to}` : `update ${ref}\0${to}\0${from}`
  })
  // The form with `start` and `commit` prints; simple-git waits where a command prints nothing.
  const args = ['update-ref', ...(why === '' ? [] : ['-m', why]), '--stdin', '-z']
  await git.run(args, { stdin: ['start', ...updates, 'commit', ''].join('\0') })
}

/** Brings what refs of another repository name, under names of this one; one that is there gives way only if told so. */
export async function bringRefs(
  git: Git,
  from: string,
  pairs: readonly (readonly [from: string, to: string])[],
  { force = false }: { readonly force?: boolean } = {},
): Promise<void> {
  // Nobody's own settings for what is fetched from elsewhere are about this.
  const settings = [
    'protocol.file.allow=always',
    'gc.auto=0',
    'maintenance.auto=false',
    'fetch.recurseSubmodules=false',
    'fetch.writeCommitGraph=false',
  ]
  const args = [
    'fetch',
    '--quiet',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-auto-maintenance',
    '--update-shallow',
    from,
  ]
  const specs = pairs.map(([one, other]) => `${force ? '+' : ''}${one}:${other}`)
  await git.run([...settings.flatMap((setting) => ['-c', setting]), ...args, ...specs])
}
