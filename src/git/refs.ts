import type { Git } from './git.ts'

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
