import { type Git, GitError } from '../git.ts'
import { changeRefs } from '../refs.ts'
import type { Algorithm } from './block-hash.ts'
import { wantedPrefix } from './commit-object.ts'
import { sealCommit, type SealPorts } from './seal-commit.ts'

/** The commit to seal, and the ref to move to the sealed one. */
export interface SealTarget {
  /** The full hash of the commit, which the ref is at. */
  readonly commit: string
  /** The branch, `refs/heads/main`; or `HEAD` if it is detached. */
  readonly ref: string
  readonly algorithm: Algorithm
}

/** How sealing ended. Only `sealed` has made a visible change. */
export type SealOutcome =
  | ({ readonly kind: 'sealed'; readonly hash: string; readonly prefix: string } & SealEffort)
  /** The message asks for no prefix, or the hash already begins with it. */
  | { readonly kind: 'nothing-to-seal' }
  /** Others have the commit already, so replacing it would make the branches diverge. */
  | { readonly kind: 'pushed' }
  /** The ref has moved (or was deleted: null): the sealed commit is not used. */
  | { readonly kind: 'moved'; readonly to: string | null }
  | { readonly kind: 'cancelled' }

interface SealEffort {
  readonly tries: number
  readonly seconds: number
}

/**
 * Seals a commit that was just made, and moves its ref to the sealed one if the ref is still where it was.
 *
 * The commit's own message holds the wanted prefix, where the seal will be. So a crash at any moment before the ref
 * moves leaves a commit that a later call with the same target finishes. That call finds the same seal again, so it
 * makes the same commit.
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

/** Whether a remote-tracking branch in this repository contains the commit. */
async function isPushed(git: Git, commit: string): Promise<boolean> {
  const { stdout } = await git.run(['rev-list', '--max-count=1', commit, '--not', '--remotes'])
  return stdout.length === 0
}

/** Stores the commit; git computes its hash too, and both must be equal. */
async function writeCommit(git: Git, commit: Uint8Array, hash: string): Promise<void> {
  const { stdout } = await git.run(['hash-object', '-t', 'commit', '-w', '--stdin'], { stdin: commit })
  const name = stdout.toString().trim()
  if (name !== hash) throw new Error(`git names the sealed commit ${name}, not ${hash}`)
}

/** Moves the ref by compare-and-swap; if it had moved already, returns where it is now. */
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
