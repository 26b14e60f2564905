import type { World } from '../base/world.ts'
import { isInRepository } from '../config/root.ts'

/** What a preview says of a file that differs from the last commit, because a run reads it there; null if it does not. */
export async function notCommitted(
  { env }: Pick<World, 'env'>,
  { root }: { readonly root: string },
  file: string,
): Promise<string | null> {
  if (!isInRepository(root)) return null
  const { openReadingGit } = await import('../git/door.ts')
  const { readStatus } = await import('../git/status.ts')
  const git = openReadingGit({ cwd: root, env }).with({ env: { GIT_OPTIONAL_LOCKS: '0' } })
  const changed = await readStatus(git, [file]).catch(() => null)
  if (changed === null || changed.entries.length === 0) return null
  const [{ isUntracked } = { isUntracked: false }] = changed.entries
  const what = isUntracked ? 'does not see it' : 'takes it as it was last committed'
  return `${file} is not committed: a run ${what}. Commit it, or: ralph run --commit-tasks`
}
