import type { Git } from '../git/git.ts'
import { page, pagerCommand } from '../process/pager.ts'
import type { Io } from './io.ts'

/** What a person reads long texts with: null where there is nothing, or no terminal. */
export async function personsPager(
  { env, stdout }: Pick<Io, 'env' | 'stdout'>,
  git: Git,
): Promise<string | null> {
  return stdout.columns === null ? null : pagerCommand(env, await configuredPager(git))
}

/** Shows bytes in that pager, which has the terminal to itself then; where there is none, or it does not start, as they are. */
export async function showInPager(
  { cwd, env, stdout }: Pick<Io, 'cwd' | 'env' | 'stdout'>,
  command: string | null,
  bytes: Uint8Array,
): Promise<void> {
  const isShown = command !== null && (await page(bytes, { command, cwd, env }))
  if (!isShown) stdout.write(bytes)
}

/** As the person has set it for all repositories: one that came with a stranger's would be a command of theirs. */
async function configuredPager(git: Git): Promise<string | null> {
  const { code, stdout } = await git.run(['config', '--global', '--get', 'core.pager'], {
    okCodes: [0, 1, 128],
  })
  return code === 0 ? stdout.toString().trim() : null
}
