import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Git } from './git.ts'

/**
 * Of files that are new, those that a commit has in places that have changed since: somebody moved them there. A link
 * is taken for moved, for all that it holds is a path.
 */
export async function movedFiles(
  git: Git,
  commit: string,
  { fresh, changed }: { readonly fresh: readonly string[]; readonly changed: readonly string[] },
): Promise<ReadonlySet<string>> {
  if (changed.length === 0) return new Set()
  const isLink = (path: string): boolean =>
    lstatSync(join(git.cwd, path), { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  const known = await contentsOf(git, commit, new Set(changed))
  // One name a line is how git asks for them.
  const files = fresh.filter((path) => !/^"|\n/.test(path) && !isLink(path))
  // At what cannot be read it stops.
  const { stdout } = await git.run(['hash-object', '--stdin-paths'], {
    stdin: files.map((path) => `${path}\n`).join(''),
    okCodes: [0, 128],
  })
  const contents = stdout.toString().split('\n')
  return new Set([...fresh.filter(isLink), ...files.filter((_, i) => known.has(contents[i]!))])
}

/** What a commit has in some places, as the ids of its objects. */
async function contentsOf(
  git: Git,
  commit: string,
  paths: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const { stdout } = await git.run(['ls-tree', '-r', '-z', commit])
  const ids = new Set<string>()
  for (const entry of stdout.toString().split('\0')) {
    const [about = '', path = ''] = entry.split('\t', 2)
    if (paths.has(path)) ids.add(about.split(' ')[2]!)
  }
  return ids
}
