import { type Git, GitError } from '../git.ts'
import { changeRefs } from '../refs.ts'
import type { Algorithm } from './block-hash.ts'
import { wantedPrefix } from './commit-object.ts'
import { sealCommit, type SealPorts } from './seal-commit.ts'

/** Which commit to seal, and what moves to the sealed one. */
export interface SealTarget {
  /** The full hash of the commit, which the ref is at. */
  readonly commit: string
  /** The branch, `refs/heads/main`; or `HEAD`, where that is detached. */
  readonly ref: string
  readonly algorithm: Algorithm
}

/** How sealing ended. Only `sealed` has changed anything that can be seen. */
export type SealOutcome =
  | ({ readonly kind: 'sealed'; readonly hash: string; readonly prefix: string } & SealEffort)
  /** The message asks for no prefix, or the hash already begins with it. */
  | { readonly kind: 'nothing-to-seal' }
  /** Others have it already: another commit in its place would part them from the branch. */
  | { readonly kind: 'pushed' }
  /** The ref is elsewhere by now (or gone: null): the sealed commit was left aside. */
  | { readonly kind: 'moved'; readonly to: string | null }
  | { readonly kind: 'cancelled' }

interface SealEffort {
  readonly tries: number
  readonly seconds: number
}

/**
 * Seals a commit that was just made, and moves its ref to the sealed one, if the ref is still where it was.
 *
 * The commit's own message says which prefix it was made for, where the seal will be, so a crash at any moment before the
 * ref moves leaves a commit that a later call with the same target finishes: it needs no other memory. It finds the
 * same seal again, so a sealed commit that was written and never pointed to does not become a second of its name.
 */
export async function sealBranch(git: Git, target: SealTarget, ports: SealPorts): Promise<SealOutcome> {
  const { algorithm } = target
  const commit = (await git.run(['cat-file', 'commit', target.commit])).stdout
  const prefix = wantedPrefix(commit)
  if (prefix === null || target.commit.startsWith(prefix)) return { kind: 'nothing-to-seal' }
  if (await isPushed(git, target.commit)) return { kind: 'pushed' }
  const sealed = await sealCommit({ commit, prefix, algorithm }, ports)
  if (!sealed) return { kind: 'cancelled' }
  await writeCommit(git, sealed.commit, sealed.hash)
  const moved = await moveRef(git, target, sealed.hash)
  if (moved) return moved
  return { kind: 'sealed', hash: sealed.hash, prefix, tries: sealed.tries, seconds: sealed.seconds }
}

/** Whether a branch of a remote, as far as this repository knows, leads to the commit. */
async function isPushed(git: Git, commit: string): Promise<boolean> {
  const { stdout } = await git.run(['rev-list', '--max-count=1', commit, '--not', '--remotes'])
  return stdout.length === 0
}

/** Stores the commit; git names it itself, and must agree. */
async function writeCommit(git: Git, commit: Uint8Array, hash: string): Promise<void> {
  const { stdout } = await git.run(['hash-object', '-t', 'commit', '-w', '--stdin'], { stdin: commit })
  const name = stdout.toString().trim()
  if (name !== hash) throw new Error(`git names the sealed commit ${name}, not ${hash}`)
}

/** Moves the ref by compare-and-swap; where it is now, if it was no longer where it should have been. */
async function moveRef(git: Git, target: SealTarget, to: string): Promise<SealOutcome | null> {
  const change = { make: new Map([[target.ref, to]]), take: new Map([[target.ref, target.commit]]) }
  try {
    await changeRefs(git, change, `ralph: seal ${target.commit.slice(0, 10)}`)
    return null
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    const { stdout } = await git.run(['rev-parse', '--verify', '--quiet', target.ref], { okCodes: [0, 1] })
    const found = stdout.toString().trim()
    if (found === target.commit) throw error
    return { kind: 'moved', to: found || null }
  }
}
