import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sleep } from '../process/sleep.ts'
import type { Git } from './git.ts'
import type { Repository } from './repository.ts'

/** Changes a ref that is still at `from`, or does not exist if that is null; null as `to` deletes it. */
export async function setRef(
  git: Git,
  ref: string,
  { from, to }: { from: string | null; to: string | null },
  why = '',
): Promise<void> {
  const none = '0'.repeat((to ?? from ?? '').length)
  const args = ['update-ref', ...(why === '' ? [] : ['-m', why])]
  await git.run(to === null ? [...args, '-d', ref, from ?? none] : [...args, ref, to, from ?? none])
}

/** A living git holds the lock of a ref for less than this. */
const LOCKED_MS = 2000

/** Removes the locks that a killed git has left of these branches, of HEAD, and of ralph's own refs. */
export async function releaseDeadRefs(
  { gitDir, commonDir }: Repository,
  branches: readonly (string | null)[],
): Promise<void> {
  const inCommon = (path: string): string => join(commonDir, path)
  const own = inCommon('refs/ralph')
  const locks = (): readonly string[] =>
    [
      join(gitDir, 'HEAD.lock'),
      inCommon('packed-refs.lock'),
      ...branches.flatMap((branch) => (branch === null ? [] : [inCommon(`refs/heads/${branch}.lock`)])),
      ...(existsSync(own) ? readdirSync(own, { recursive: true, encoding: 'utf8' }) : [])
        .filter((name) => name.endsWith('.lock'))
        .map((name) => join(own, name)),
    ].filter((path) => existsSync(path))
  const found = new Set(locks())
  if (found.size === 0) return
  await sleep(LOCKED_MS)
  for (const lock of locks()) if (found.has(lock)) rmSync(lock, { force: true })
}

/** Copies refs of another repository to names in this one; an existing one is only replaced if `force` is set. */
export async function copyRefs(
  git: Git,
  from: string,
  pairs: readonly (readonly [from: string, to: string])[],
  { force = false }: { force?: boolean } = {},
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
