import { createHash } from 'node:crypto'
import { type Algorithm, padded, stateAfter } from './block-hash.ts'
import { type SealPlace, sealPlace } from './commit-object.ts'
import { ALPHABET, NONCE_LENGTH, type Puzzle, expectedTries, nonceAt, target } from './puzzle.ts'
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

/** A commit prepared for the search: the puzzle, and the commit for a solution of it. */
interface SealLayout {
  readonly puzzle: Puzzle
  solved(index: number): Buffer
}

/** The first characters that a seal may have: no hexadecimal digits, so that it differs from a prefix. */
const LEADS = ALPHABET.slice(16)

/** Longer than a block, so that the nonce can be moved to any position in one. */
const LONGEST_PAD = 64

/**
 * Places the nonce so that as few blocks as possible follow it: none if the seal ends the object. A seal is a pad and
 * the nonce; the pad, usually one character, moves the nonce within its block.
 */
function layOut(place: SealPlace, prefix: string, algorithm: Algorithm): SealLayout {
  const filler = createHash('sha512').update(place.before).digest()
  const characters = Array.from(filler, (byte, i) => (i === 0 ? LEADS[byte & 15]! : ALPHABET[byte & 31]!))
  const bodyLength = place.before.length + place.after.length
  const pad = characters.slice(0, bestPad(place, bodyLength)).join('')
  const content = (nonce: string) => Buffer.concat([place.before, Buffer.from(pad + nonce), place.after])

  const first = content(nonceAt(0))
  const header = headerOf(first.length)
  const blocks = padded(Buffer.concat([header, first]))
  const at = header.length + place.before.length + pad.length
  const start = at - (at % 64)
  const puzzle: Puzzle = {
    algorithm,
    midstate: stateAfter(algorithm, blocks.subarray(0, start)),
    block: blocks.slice(start, start + 64),
    at: at - start,
    tail: blocks.slice(start + 64),
    ...target(prefix),
  }
  return { puzzle, solved: (index) => content(nonceAt(index)) }
}

/** How many blocks a try hashes. */
function blocksPerTry(puzzle: Puzzle): number {
  return 1 + puzzle.tail.length / 64
}

/** What git hashes before a commit's content. */
function headerOf(length: number): Buffer {
  return Buffer.from(`commit ${length}\0`)
}

/** The shortest pad with the fewest following blocks. */
function bestPad(place: SealPlace, bodyLength: number): number {
  let best = { pad: 1, blocks: Infinity }
  for (let pad = 1; pad <= LONGEST_PAD; pad++) {
    const length = bodyLength + pad + NONCE_LENGTH
    const header = headerOf(length).length
    const first = Math.floor((header + place.before.length + pad) / 64)
    const last = Math.floor((header + place.before.length + pad + NONCE_LENGTH - 1) / 64)
    const blocks = Math.ceil((header + length + 9) / 64) - first
    if (first === last && blocks < best.blocks) best = { pad, blocks }
  }
  return best.pad
}
