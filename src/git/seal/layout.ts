import { createHash } from 'node:crypto'
import { type Algorithm, padded, stateAfter } from './block-hash.ts'
import type { SealPlace } from './commit-object.ts'
import { ALPHABET, NONCE_LENGTH, nonceAt, type Puzzle, target } from './puzzle.ts'

/** A commit prepared for the search: the puzzle, and the commit for a solution of it. */
export interface SealLayout {
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
export function layOut(place: SealPlace, prefix: string, algorithm: Algorithm): SealLayout {
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
export function blocksPerTry(puzzle: Puzzle): number {
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
