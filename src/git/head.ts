import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import type { Git } from './git.ts'
import { setRef } from './refs.ts'

/** What HEAD was when something began. */
export interface Base {
  readonly head: string
  /** The branch's short name; null for a detached HEAD. */
  readonly branch: string | null
}

/** Moves the branch from a commit to another, if it is still there. */
export async function moveBranch(
  git: Git,
  { branch, from, to }: { branch: string | null; from: string; to: string },
  why: string,
): Promise<void> {
  await setRef(git, branch === null ? 'HEAD' : `refs/heads/${branch}`, { from, to }, why)
}

const MOST_BYTES = 16 * 1024 * 1024

/** The parents of a commit that is a loose object in the folder `objects`; null if it is in a pack, or elsewhere. */
export function looseParents(objects: string, commit: string): readonly string[] | null {
  try {
    const bytes = readFileSync(join(objects, commit.slice(0, 2), commit.slice(2)))
    const text = inflateSync(bytes, { maxOutputLength: MOST_BYTES }).toString('latin1')
    const header = text.slice(text.indexOf('\0') + 1, text.indexOf('\n\n'))
    const parents = [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, hash = '']) => hash)
    return text.startsWith('commit ') ? parents : null
  } catch {
    return null
  }
}

/** Whether one commit can be reached from another. */
export async function isAncestor(git: Git, ancestor: string, of: string): Promise<boolean> {
  return (await git.run(['merge-base', '--is-ancestor', ancestor, of], { okCodes: [0, 1, 128] })).code === 0
}

/** The common ancestor of two commits; null if they have none. */
export async function mergeBase(git: Git, one: string, other: string): Promise<string | null> {
  const { code, stdout } = await git.run(['merge-base', one, other], { okCodes: [0, 1] })
  return code === 0 ? stdout.toString().trim() : null
}

/** The object that a name stands for; null if there is none. */
export async function objectAt(git: Git, name: string): Promise<string | null> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', name]
  const { code, stdout } = await git.run(args, { okCodes: [0, 1, 128] })
  return code === 0 ? stdout.toString().trim() : null
}

/** The commit that a branch is at; null if there is no such branch. */
export function tipOf(git: Git, branch: string): Promise<string | null> {
  return objectAt(git, `refs/heads/${branch}`)
}
