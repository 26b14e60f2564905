import { CONFIG_FILES } from '../../base/names.ts'
import { openBranch } from '../../engine/slot/branch.ts'
import type { Moved } from '../../engine/slot/follow.ts'
import { hooksInTree, type Home } from '../../engine/slot/home.ts'
import type { Base } from '../../git/head.ts'
import { makeCommit } from '../../git/made-commit.ts'
import { composeMessage } from '../../git/trailers.ts'

/** The files that decide how a run works, and that agents have changed since a commit. */
export async function untrusted(home: Home, from: string, tip: string): Promise<readonly string[]> {
  if (from === tip) return []
  const { git, prefix } = home
  const hooks = hooksInTree(home)
  const names = [...CONFIG_FILES, '.worktreeinclude', 'docs/disciplines'].map((name) => `${prefix}${name}`)
  const paths = [...names, ...(hooks === null ? [] : [hooks])].map((path) => `:(top,literal)${path}`)
  const { stdout } = await git.run(['diff-tree', '-r', '-z', '--name-only', from, tip, '--', ...paths])
  return stdout.toString().split('\0').filter(Boolean)
}

/** What agents changed in these files since a commit, as git shows it. */
export async function untrustedDiff(
  { git }: Home,
  { from, tip, paths }: { readonly from: string; readonly tip: string; readonly paths: readonly string[] },
): Promise<string> {
  const specs = paths.map((path) => `:(top,literal)${path}`)
  return (await git.run(['diff', '--no-color', '--no-ext-diff', from, tip, '--', ...specs])).stdout.toString()
}

/** Accepts all that agents have written up to a tip, in a commit of the person's that changes no file. */
export async function trustTip(home: Home, tip: Base, paths: readonly string[]): Promise<Moved> {
  const message = composeMessage({
    subject: 'Trust what agents changed in the configuration',
    body: paths.map((path) => `- ${path}`).join('\n'),
    trailers: [{ key: 'Trusts', value: tip.head }],
  })
  const commit = await makeCommit(home.git, { tree: `${tip.head}^{tree}`, parent: tip.head, message })
  return openBranch(home, tip.branch, () => undefined).publish(tip.head, commit)
}
