import { cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../base/errors.ts'
import { GitError, type Git } from '../git/git.ts'
import { standing } from '../git/restore.ts'
import { readStatus, type TreeStatus } from '../git/status.ts'
import type { Lender } from './clone.ts'

/** Checks out the submodules that the checkout has, from the checkout's own copies: nothing is fetched from elsewhere. */
export async function checkOutSubmodules(clone: Git, { repository }: Lender): Promise<void> {
  if (!existsSync(join(clone.cwd, '.gitmodules'))) return
  for (const { name, path } of await submodulesIn(clone)) {
    const lent = join(repository.root, path)
    if (!existsSync(join(lent, '.git'))) continue
    const settings = [`submodule.${name}.url=${lent}`, 'protocol.file.allow=always']
    try {
      await clone.run([
        ...settings.flatMap((setting) => ['-c', setting]),
        'submodule',
        'update',
        '--quiet',
        '--init',
        '--checkout',
        '--force',
        '--',
        path,
      ])
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      throw new UserError(
        `the submodule ${path} cannot be checked out in a workspace: ${error.stderr.trim().split('\n').at(-1) ?? ''}`,
        `Bring it up to date in the checkout (git submodule update --init ${path}), or run one job at a time.`,
      )
    }
  }
}

/**
 * Restores files inside submodules to the commits checked out there, after copying the present ones into a
 * folder, because no tree of the repository could hold them. Returns their paths.
 */
export async function clearSubmodules(
  git: Git,
  { entries }: Pick<TreeStatus, 'entries'>,
  keepIn: string,
): Promise<readonly string[]> {
  const kept: string[] = []
  for (const { path, nested, kind } of entries) {
    if (!nested || kind !== 'modified' || !existsSync(join(git.cwd, path, '.git'))) continue
    const inner = git.at(join(git.cwd, path)).with({ settings: UNHOOKED })
    const inside = await readStatus(inner)
    kept.push(...(await clearSubmodules(inner, inside, join(keepIn, path))).map((one) => `${path}/${one}`))
    const own = inside.entries.filter((entry) => !entry.nested)
    if (own.length === 0) continue
    for (const entry of own.filter((one) => standing(inner.cwd, one.path)))
      cpSync(join(inner.cwd, entry.path), join(keepIn, path, entry.path), {
        recursive: true,
        verbatimSymlinks: true,
      })
    await inner.run(['reset', '--quiet', '--hard'])
    for (const entry of own)
      if (entry.kind === 'untracked') rmSync(join(inner.cwd, entry.path), { force: true })
    kept.push(...own.map((entry) => `${path}/${entry.path}`))
  }
  return kept
}

/** Turns off the programs that a submodule's own settings could have git start. */
const UNHOOKED = { 'core.fsmonitor': 'false', 'core.hooksPath': '/dev/null' }

async function submodulesIn(
  clone: Git,
): Promise<readonly { readonly name: string; readonly path: string }[]> {
  const args = ['config', '--file', '.gitmodules', '-z', '--get-regexp', '^submodule\\..*\\.path$']
  const { stdout } = await clone.run(args, { okCodes: [0, 1] })
  return stdout
    .toString()
    .split('\0')
    .filter(Boolean)
    .map((entry) => {
      const end = entry.indexOf('\n')
      return { name: entry.slice('submodule.'.length, end - '.path'.length), path: entry.slice(end + 1) }
    })
}
