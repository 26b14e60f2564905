import { CONFIG_FILES } from '../base/names.ts'
import type { Base } from '../git/head.ts'
import { makeCommit } from '../git/made-commit.ts'
import { composeMessage } from '../git/trailers.ts'
import { openBranch } from './slot/branch.ts'
import type { Moved } from './slot/follow.ts'
import { hooksInTree, type Home } from './slot/home.ts'

/**
 * The last commit that a person made on the first-parent line of a tip: one without ralph's trailers. What agents wrote
 * since is not in force; a person's next commit, such as a merge or that of `ralph trust`, accepts it.
 */
export async function lastTrusted({ git }: Pick<Home, 'git'>, tip: string): Promise<string> {
  const args = ['log', '--first-parent', '--invert-grep', '--grep=^Task: ', '--max-count=1', '--format=%H']
  return (await git.run([...args, tip])).stdout.toString().trim() || tip
}

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
