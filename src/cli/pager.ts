import type { Git } from '../git/git.ts'
import { page, pagerCommand } from '../process/pager.ts'
import type { Io } from './io.ts'

/** The person's pager; null if there is none, or no terminal. */
export async function personsPager(
  { env, stdout }: Pick<Io, 'env' | 'stdout'>,
  git: Git,
): Promise<string | null> {
  return stdout.columns === null ? null : pagerCommand(env, await configuredPager(git))
}

/** Shows bytes in that pager, which then owns the terminal; without a pager, or if it does not start, prints them. */
export async function showInPager(
  { cwd, env, stdout }: Pick<Io, 'cwd' | 'env' | 'stdout'>,
  command: string | null,
  bytes: Uint8Array,
): Promise<void> {
  const isShown = command !== null && (await page(bytes, { command, cwd, env }))
  if (!isShown) stdout.write(bytes)
}

/** From the person's global settings only: a repository's own setting would run a stranger's command. */
async function configuredPager(git: Git): Promise<string | null> {
  const { code, stdout } = await git.run(['config', '--global', '--get', 'core.pager'], {
    okCodes: [0, 1, 128],
  })
  return code === 0 ? stdout.toString().trim() : null
}
