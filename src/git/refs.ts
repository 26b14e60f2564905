import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Git } from './git.ts'

/** What refs there are, and what each names. */
export type Refs = ReadonlyMap<string, string>

/** The folders and the file of which at least one is touched whenever a ref changes. */
export function refPlaces(commonDir: string): readonly string[] {
  const refs = join(commonDir, 'refs')
  const folders = [refs, join(commonDir, 'reftable'), ...foldersBelow(refs)]
  return [...folders, join(commonDir, 'packed-refs')]
}

/** The folders of refs below one, without remote-tracking refs, of which there may be many. */
export function foldersBelow(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    const inside = entries.filter((entry) => entry.isDirectory() && entry.name !== 'remotes')
    return inside.flatMap(({ name }) => [join(folder, name), ...foldersBelow(join(folder, name))])
  } catch {
    // It does not exist, or was removed since it was listed.
    return []
  }
}

/**
 * Deletes refs and creates others, all or none; a deleted one must still have its old value, and may be created
 * again. `why` goes into their reflogs.
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
  // The form with `start` and `commit` prints; simple-git hangs on a command that prints nothing.
  const args = ['update-ref', ...(why === '' ? [] : ['-m', why]), '--stdin', '-z']
  await git.run(args, { stdin: ['start', ...updates, 'commit', ''].join('\0') })
}

/** Copies refs of another repository to names in this one; an existing one is only replaced if `force` is set. */
export async function copyRefs(
  git: Git,
  from: string,
  pairs: readonly (readonly [from: string, to: string])[],
  { force = false }: { readonly force?: boolean } = {},
): Promise<void> {
  // Ignores the person's own settings for fetches.
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
