import type { Algorithm } from './block-hash.ts'

/** What a search is given: everything about an object that the nonce does not change, and what its hash is to begin with. */
export interface Puzzle {
  readonly algorithm: Algorithm
  /** The state after all blocks before the one that holds the nonce. */
  readonly midstate: Uint32Array
  /** That one block. */
  readonly block: Uint8Array
  /** Where in it the characters stand that vary: NONCE_LENGTH of them. */
  readonly at: number
  /** The blocks that follow it, the padding included. */
  readonly tail: Uint8Array
  /** The hash is found when its first word, masked, is this. */
  readonly mask: number
  readonly want: number
}

/** Looks through `count` groups of nonces from group `from` on; the first index that solves the puzzle, or null. */
export type Searcher = (from: number, count: number) => number | null

/** Digits and small letters without i, l, o and u: nothing to misread, and hardly a word to be spelled by chance. */
export const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

export const NONCE_LENGTH = 8

/** The last two characters run through one group; the six before them number it. */
export const GROUP_SIZE = 256
export const GROUP_COUNT = 2 ** 30

/** The nonce of an index. The second but last character uses only the first eight letters: 8 times 32 are a group. */
export function nonceAt(index: number): string {
  const inner = index % GROUP_SIZE
  let outer = Math.floor(index / GROUP_SIZE)
  let text = ALPHABET[inner >> 5]! + ALPHABET[inner & 31]!
  for (let i = 0; i < NONCE_LENGTH - 2; i++) {
    text = ALPHABET[outer & 31]! + text
    outer >>>= 5
  }
  return text
}

/** The first word of the block that the characters within a group reach: rounds before it are shared by the group. */
export function firstChangingWord(puzzle: Puzzle): number {
  return (puzzle.at + NONCE_LENGTH - 2) >> 2
}

/** What the first word of a hash has to be, and which of its bits count, for the hash to begin with these digits. */
export function target(prefix: string): { readonly mask: number; readonly want: number } {
  const bits = prefix.length * 4
  return {
    mask: bits === 32 ? 0xffffffff : ~(0xffffffff >>> bits) >>> 0,
    want: parseInt(prefix.padEnd(8, '0'), 16),
  }
}

/** How many hashes a search for so many digits takes on average. */
export function expectedTries(digits: number): number {
  return 16 ** digits
}
