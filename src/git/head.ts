import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import type { Git } from './git.ts'
import { changeRefs } from './refs.ts'

/** What HEAD was when something began. */
export interface Base {
  readonly head: string
  /** The branch's short name; null for a detached HEAD. */
  readonly branch: string | null
}

/** The ref to move for a base: its branch, or HEAD itself. */
function refOf({ branch }: Pick<Base, 'branch'>): string {
  return branch === null ? 'HEAD' : `refs/heads/${branch}`
}

/** Moves the branch from a commit to another, if it is still there. */
export async function moveBranch(
  git: Git,
  { branch, from, to }: { readonly branch: string | null; readonly from: string; readonly to: string },
  why: string,
): Promise<void> {
  const ref = refOf({ branch })
  await changeRefs(git, { make: new Map([[ref, to]]), take: new Map([[ref, from]]) }, why)
}

/** The committer's address in everything that an attempt starts: a commit with another one is a person's. */
export const ATTEMPT_ADDRESS = 'attempt@ralph.invalid'

/** A commit that came on top of another. */
export interface LaterCommit {
  readonly hash: string
  readonly parents: readonly string[]
  readonly subject: string
  /** Whether an attempt made it. */
  readonly isAttempts: boolean
}

/** The commits that one commit contains and another does not, newest first. */
export async function commitsBetween(
  git: Git,
  from: string,
  to: string,
  options: readonly string[] = [],
): Promise<readonly LaterCommit[]> {
  const args = [
    'log',
    '-z',
    ...options,
    '--topo-order',
    '--format=%H%x1f%P%x1f%ce%x1f%s',
    '--no-show-signature',
  ]
  const { stdout } = await git.run([...args, `${from}..${to}`, '--'])
  const lines = stdout.toString().split('\0').filter(Boolean)
  return lines.map((line) => {
    const [hash = '', parents = '', address, subject = ''] = line.split('\u001f')
    return {
      hash,
      parents: parents.split(' ').filter(Boolean),
      subject,
      isAttempts: address === ATTEMPT_ADDRESS,
    }
  })
}

/** The content of a commit object. */
export interface CommitFacts {
  readonly tree: string
  readonly parents: readonly string[]
}

/** The content of a commit; a loose object in the folder `objects` is read without a process. */
export async function commitAt(git: Git, objects: string, commit: string): Promise<CommitFacts> {
  const loose = looseCommit(objects, commit)
  if (loose) return loose
  const args = ['log', '--max-count=1', '--format=%T %P', '--no-show-signature', commit]
  const [tree = '', ...parents] = (await git.run(args)).stdout.toString().trim().split(' ')
  return { tree, parents }
}

const MOST_BYTES = 16 * 1024 * 1024

/** The same for a loose object in that folder; null if it is in a pack, or elsewhere. */
export function looseCommit(objects: string, commit: string): CommitFacts | null {
  try {
    const bytes = readFileSync(join(objects, commit.slice(0, 2), commit.slice(2)))
    const text = inflateSync(bytes, { maxOutputLength: MOST_BYTES }).toString('latin1')
    const header = text.slice(text.indexOf('\0') + 1, text.indexOf('\n\n'))
    const named = [...header.matchAll(/^(tree|parent) ([0-9a-f]+)$/gm)]
    const [tree, ...parents] = named.map(([, , hash = '']) => hash)
    return tree !== undefined && text.startsWith('commit ') ? { tree, parents } : null
  } catch {
    return null
  }
}

/** Whether one commit can be reached from another. */
export async function isAncestor(git: Git, ancestor: string, of: string): Promise<boolean> {
  return (await git.run(['merge-base', '--is-ancestor', ancestor, of], { okCodes: [0, 1] })).code === 0
}

/** The common ancestor of two commits; null if they have none. */
export async function mergeBase(git: Git, one: string, other: string): Promise<string | null> {
  const { code, stdout } = await git.run(['merge-base', one, other], { okCodes: [0, 1] })
  return code === 0 ? stdout.toString().trim() : null
}

/** The commit that a branch is at; null if there is no such branch. */
export async function tipOf(git: Git, branch: string): Promise<string | null> {
  const { code, stdout } = await git.run(['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`], {
    okCodes: [0, 1],
  })
  return code === 0 ? stdout.toString().trim() : null
}
