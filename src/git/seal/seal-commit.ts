import { createHash } from 'node:crypto'
import type { Algorithm } from './block-hash.ts'
import { sealPlace } from './commit-object.ts'
import { blocksPerTry, layOut } from './layout.ts'
import { expectedTries } from './puzzle.ts'
import { search, threadsFor } from './search.ts'

/** A commit to be sealed: its content from `git cat-file commit`, and the digits that its hash is to begin with. */
interface UnsealedCommit {
  readonly commit: Uint8Array
  readonly prefix: string
  readonly algorithm: Algorithm
}

/** What the caller of a search passes in. */
export interface SealPorts {
  readonly signal: AbortSignal
  /** Milliseconds, like `Date.now`. */
  readonly now: () => number
  /** Called once a second, first after one second. */
  readonly onProgress?: (progress: SealProgress) => void
  /** Threads to use; by default as many as the machine has cores. */
  readonly threads?: number
}

/** The progress of a search. The search has no memory, so the expected rest does not shrink. */
export interface SealProgress {
  readonly tries: number
  readonly expectedTries: number
  readonly seconds: number
  /** How long such a search takes on average, at its speed so far. */
  readonly expectedSeconds: number
}

/** A sealed commit that is not written yet. */
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
  const { signal, now } = ports
  const layout = layOut(sealPlace(unsealed.commit, algorithm), prefix, algorithm)
  const expected = expectedTries(prefix.length)
  const threads = ports.threads ?? threadsFor(expected * blocksPerTry(layout.puzzle))
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
  const solution = await search(layout.puzzle, { threads, signal, onTries })
  if (!solution) return null
  const commit = layout.solved(solution.index)
  const hash = commitHash(commit, algorithm)
  if (!hash.startsWith(prefix))
    throw new Error(`the search gave ${hash}, which does not begin with ${prefix}`)
  return { commit, hash, tries: solution.tries, seconds: (now() - started) / 1000 }
}

/** The hash that git computes for a commit with this content. */
export function commitHash(commit: Uint8Array, algorithm: Algorithm): string {
  return createHash(algorithm).update(`commit ${commit.length}\0`).update(commit).digest('hex')
}
