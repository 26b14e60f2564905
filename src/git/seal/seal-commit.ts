import { createHash } from 'node:crypto'
import type { Algorithm } from './block-hash.ts'
import { sealPlace } from './commit-object.ts'
import { type KernelModule, loadKernel } from './kernel-search.ts'
import { blocksPerTry, layOut } from './layout.ts'
import { expectedTries } from './puzzle.ts'
import { search, threadsFor } from './search.ts'

/** A commit to be sealed: its content as `git cat-file commit` gives it, and the digits that its hash shall begin with. */
interface UnsealedCommit {
  readonly commit: Uint8Array
  readonly prefix: string
  readonly algorithm: Algorithm
}

/** What a search for a seal is handed from outside. */
export interface SealPorts {
  readonly signal: AbortSignal
  /** Milliseconds, as `Date.now` counts them. */
  readonly now: () => number
  /** Told once a second, from the first on. */
  readonly onProgress?: (progress: SealProgress) => void
  /** Threads to use; as many as the machine does at once where it is not given. */
  readonly threads?: number
  /** The kernel to use, null for none; where it is not given, the one that was built. */
  readonly kernel?: KernelModule | null
}

/** How far a search is. It has no memory, so what is left does not shrink: on average it takes as long again. */
export interface SealProgress {
  readonly tries: number
  readonly expectedTries: number
  readonly seconds: number
  /** How long a search like this one takes on average, as fast as this one has been. */
  readonly expectedSeconds: number
}

/** A sealed commit, not yet written anywhere. */
interface SealedCommit {
  readonly commit: Buffer
  readonly hash: string
  readonly tries: number
  readonly seconds: number
}

const REPORT_EVERY_MS = 1000

/** Finds the seal with which the commit's hash begins with the prefix; null when the signal aborts the search. */
export async function sealCommit(unsealed: UnsealedCommit, ports: SealPorts): Promise<SealedCommit | null> {
  const { algorithm, prefix } = unsealed
  const { signal, now, kernel = loadKernel() } = ports
  const layout = layOut(sealPlace(unsealed.commit, algorithm), prefix, algorithm)
  const expected = expectedTries(prefix.length)
  const threads = ports.threads ?? threadsFor(expected * blocksPerTry(layout.puzzle), kernel)
  const started = now()
  let nextReport = REPORT_EVERY_MS
  const onTries = (tries: number) => {
    const elapsed = now() - started
    if (elapsed < nextReport) return
    nextReport = elapsed + REPORT_EVERY_MS
    const seconds = elapsed / 1000
    ports.onProgress?.({
      tries,
      expectedTries: expected,
      seconds,
      expectedSeconds: (seconds * expected) / tries,
    })
  }
  const found = await search(layout.puzzle, { threads, signal, kernel, onTries })
  if (!found) return null
  const commit = layout.solved(found.index)
  const hash = commitHash(commit, algorithm)
  if (!hash.startsWith(prefix))
    throw new Error(`the search gave ${hash}, which does not begin with ${prefix}`)
  return { commit, hash, tries: found.tries, seconds: (now() - started) / 1000 }
}

/** What git names a commit with this content. */
export function commitHash(commit: Uint8Array, algorithm: Algorithm): string {
  return createHash(algorithm).update(`commit ${commit.length}\0`).update(commit).digest('hex')
}
