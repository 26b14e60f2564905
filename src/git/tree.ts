import type { Git } from './git.ts'

/** The tree of a commit. */
export async function treeOf(git: Git, commit: string): Promise<string> {
  return (await git.run(['rev-parse', '--verify', `${commit}^{tree}`])).stdout.toString().trim()
}

/** The paths that differ between two trees or commits. */
export async function changedPaths(git: Git, from: string, to: string): Promise<readonly string[]> {
  return (await changesBetween(git, from, to)).map(({ path }) => path)
}

/** The same, each with what happened to it; a rename is a path that went and one that came. */
export async function changesBetween(
  git: Git,
  from: string,
  to: string,
): Promise<readonly { readonly path: string; readonly kind: 'new' | 'changed' | 'gone' }[]> {
  const { stdout } = await git.run(['diff-tree', '-r', '--name-status', '--no-renames', '-z', from, to])
  const records = stdout.toString().split('\0')
  const changes = []
  for (let i = 0; i + 1 < records.length; i += 2) {
    const kind = records[i] === 'A' ? 'new' : records[i] === 'D' ? 'gone' : 'changed'
    changes.push({ path: records[i + 1] ?? '', kind } as const)
  }
  return changes
}

/** The paths that a commit has otherwise than an earlier one; all that it has, where there is no earlier one. */
export async function broughtSince(
  git: Git,
  earlier: string | null,
  commit: string,
): Promise<readonly string[]> {
  if (earlier !== null) return changedPaths(git, earlier, commit)
  return namesIn(git, ['ls-tree', '-r', '--name-only', '-z', commit])
}

/** What a tree holds at these paths, each a file's or a folder's: nothing of what it does not hold. */
export function heldAt(git: Git, tree: string, paths: readonly string[]): Promise<readonly string[]> {
  return namesIn(git, ['ls-tree', '--name-only', '-z', tree, '--', ...paths])
}

async function namesIn(git: Git, args: readonly string[]): Promise<readonly string[]> {
  return (await git.run(args)).stdout.toString().split('\0').filter(Boolean)
}

/** The text of a file in a commit; null where it is not there. */
export async function textIn(git: Git, commit: string, path: string): Promise<string | null> {
  const { code, stdout } = await git.run(['cat-file', 'blob', `${commit}:${path}`], { okCodes: [0, 128] })
  return code === 0 ? stdout.toString() : null
}
