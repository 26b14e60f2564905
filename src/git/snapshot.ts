import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { stage } from './commit.ts'
import type { Git } from './git.ts'
import type { Repository } from './repository.ts'

/**
 * The work tree as a tree object: tracked and untracked files, not the ignored ones. It is made in an index of
 * its own, so that nothing moves: neither the work tree, nor what is staged, nor HEAD.
 */
export async function snapshot(
  git: Git,
  repository: Repository,
  options: { readonly except?: readonly string[] } = {},
): Promise<string> {
  const index = join(repository.gitDir, 'ralph-index')
  rmSync(`${index}.lock`, { force: true })
  // git's own index knows which files have not changed; beginning from it saves reading them all.
  if (existsSync(join(repository.gitDir, 'index'))) copyFileSync(join(repository.gitDir, 'index'), index)
  else rmSync(index, { force: true })
  try {
    await stage(git, options, { GIT_INDEX_FILE: index })
    return await writeTree(git, { GIT_INDEX_FILE: index })
  } finally {
    rmSync(index, { force: true })
  }
}

/** The index as a tree object. */
export async function writeTree(git: Git, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const { stdout } = await git.run(['write-tree'], { env })
  return stdout.toString().trim()
}
