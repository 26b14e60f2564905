import { join } from 'node:path'
import { namesIn } from '../base/folder.ts'
import type { Git } from './git.ts'

/** More branches than these are not looked at. */
const MOST_TIPS = 500

/**
 * The names of what stands in a folder of the repository, on any local or remote-tracking branch and in any worktree:
 * what somebody else has named already, though not here.
 */
export async function namesEverywhere(git: Git, folder: string): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  const listed = await git.run([
    'for-each-ref',
    '--format=%(objectname)',
    '--sort=-committerdate',
    'refs/heads',
    'refs/remotes',
  ])
  const tips = new Set(listed.stdout.toString().split('\n').filter(Boolean))
  for (const tip of [...tips].slice(0, MOST_TIPS)) {
    const { code, stdout } = await git.run(['ls-tree', '-z', '--name-only', `${tip}:${folder}`], {
      okCodes: [0, 128],
    })
    if (code === 0) for (const name of stdout.toString().split('\0')) names.add(name)
  }
  const worktrees = await git.run(['worktree', 'list', '--porcelain', '-z'], { okCodes: [0, 128, 129] })
  for (const [, path] of worktrees.stdout.toString().matchAll(/(?:^|\0)worktree ([^\0]+)/g))
    for (const name of namesIn(join(path!, folder))) names.add(name)
  names.delete('')
  return names
}

/** Every file that git knows below the door's folder, or that is new and not ignored. */
export async function knownFiles(git: Git): Promise<readonly string[]> {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--deduplicate']
  const { stdout } = await git.run(args)
  return stdout.toString().split('\0').filter(Boolean).toSorted()
}
