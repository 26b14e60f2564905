import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Git } from './git.ts'
import type { Repository } from './repository.ts'
import type { TreeEntry } from './tree.ts'

/** Texts of files, by their path in the repository. */
type Texts = ReadonlyMap<string, string>

/** A tree with these texts in it. They go through an index: no path of any folder is opened. */
export async function treeWith(
  git: Git,
  { gitDir }: Repository,
  tree: string,
  texts: Texts,
): Promise<string> {
  const entries = new Map<string, Entry>()
  for (const [path, text] of texts) entries.set(path, { mode: '100644', hash: await storeText(git, text) })
  return amendedTree(git, join(gitDir, 'ralph-index-made'), tree, entries)
}

/** What a tree is to have at a path. */
type Entry = Pick<TreeEntry, 'mode' | 'hash'>

/** A tree with these entries in it, made with an index at that path; null takes an entry out. */
export async function amendedTree(
  git: Git,
  index: string,
  tree: string,
  entries: ReadonlyMap<string, Entry | null>,
): Promise<string> {
  if (entries.size === 0) return tree
  return withIndex(git, index, async (door) => {
    await door.run(['read-tree', tree])
    const none = '0'.repeat(tree.length)
    const lines = [...entries].map(([path, to]) =>
      to === null ? `0 ${none}\t${path}\0` : `${to.mode} ${to.hash}\t${path}\0`,
    )
    await door.run(['update-index', '-z', '--index-info'], { stdin: lines.join('') })
    return (await door.run(['write-tree'])).stdout.toString().trim()
  })
}

/** Works with an index of its own, which is gone before and after: a git that was killed leaves it, and its lock. */
export async function withIndex<Result>(
  git: Git,
  index: string,
  work: (door: Git) => Promise<Result>,
): Promise<Result> {
  const remove = (): void => {
    for (const path of [index, `${index}.lock`]) rmSync(path, { force: true })
  }
  remove()
  try {
    return await work(git.with({ env: { GIT_INDEX_FILE: index } }))
  } finally {
    remove()
  }
}

/** Stores a text, and returns the object's name. */
export async function storeText(git: Git, text: string): Promise<string> {
  return (await git.run(['hash-object', '-w', '--stdin'], { stdin: text })).stdout.toString().trim()
}

/** A commit that is in no history, for git to work with or for a record; never signed. */
export async function makePlainCommit(
  git: Git,
  { tree, parents, message }: { tree: string; parents: readonly string[]; message: string },
): Promise<string> {
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-']
  return (await git.run(args, { stdin: message })).stdout.toString().trim()
}

/** A commit that no ref names yet, by the person who runs ralph; signed if they sign their commits. */
export async function makeCommit(
  git: Git,
  { tree, parent, message }: { tree: string; parent: string; message: string },
): Promise<string> {
  const signs = await signsCommits(git)
  const args = ['commit-tree', tree, '-p', parent, ...(signs ? ['-S'] : []), '-F', '-']
  const encoded = git.with({ settings: { 'i18n.commitEncoding': 'UTF-8' } })
  return (await encoded.run(args, { stdin: message })).stdout.toString().trim()
}

/** Whether the person signs commits. It is asked once for each door. */
export function signsCommits(git: Git): Promise<boolean> {
  const known = signing.get(git.cwd) ?? askWhetherSigned(git)
  signing.set(git.cwd, known)
  return known
}

const signing = new Map<string, Promise<boolean>>()

async function askWhetherSigned(git: Git): Promise<boolean> {
  const args = ['config', '--type=bool', '--default=false', '--get', 'commit.gpgSign']
  return (await git.run(args)).stdout.toString().trim() === 'true'
}

/** How much a commit changes. */
export async function sizeOf(
  git: Git,
  from: string,
  to: string,
): Promise<{ readonly files: number; readonly added: number; readonly removed: number }> {
  const text = (await git.run(['diff-tree', '--shortstat', from, to])).stdout.toString()
  const count = (pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0)
  return {
    files: count(/(\d+) files? changed/),
    added: count(/(\d+) insertions?\(\+\)/),
    removed: count(/(\d+) deletions?\(-\)/),
  }
}
