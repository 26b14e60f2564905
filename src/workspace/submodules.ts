import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../base/errors.ts'
import { GitError, type Git } from '../git/git.ts'
import type { Lender } from './clone.ts'

/** Checks out the submodules that are there in the checkout, from what that has of them: nothing is fetched from elsewhere. */
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

async function submodulesIn(
  clone: Git,
): Promise<readonly { readonly name: string; readonly path: string }[]> {
  const asked = ['config', '--file', '.gitmodules', '-z', '--get-regexp', '^submodule\\..*\\.path$']
  const { stdout } = await clone.run(asked, { okCodes: [0, 1] })
  return stdout
    .toString()
    .split('\0')
    .filter(Boolean)
    .map((entry) => {
      const end = entry.indexOf('\n')
      return { name: entry.slice('submodule.'.length, end - '.path'.length), path: entry.slice(end + 1) }
    })
}
