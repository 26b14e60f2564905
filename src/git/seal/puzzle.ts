import type { Algorithm } from './block-hash.ts'

/** The input of a search: all of an object that the nonce does not change, and how its hash is to begin. */
export interface Puzzle {
  readonly algorithm: Algorithm
  /** The state after all blocks before the one with the nonce. */
  readonly midstate: Int32Array
  /** The block with the nonce. */
  readonly block: Uint8Array
  /** The offset of the nonce in it: NONCE_LENGTH characters. */
  readonly at: number
  /** The blocks after it, with the padding. */
  readonly tail: Uint8Array
  /** A nonce solves the puzzle if the first word of the hash, masked, equals `want`. */
  readonly mask: number
  readonly want: number
}

/** Tries `count` groups of nonces from group `from` on; returns the first index that solves the puzzle, or null. */
export type Searcher = (from: number, count: number) => number | null

/** Digits and small letters without i, l, o and u: hard to misread, and they hardly form words. */
export const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

export const NONCE_LENGTH = 8

/** The number of nonces in a group, which differ in the last two characters; the six before them number the group. */
export const GROUP_SIZE = 256
export const GROUP_COUNT = 2 ** 30

/** The nonce of an index. The last but one character uses only the first eight letters: 8 times 32 are a group. */
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

/** The first word of a hash that begins with these digits, and the mask of the bits that count. */
export function target(prefix: string): { readonly mask: number; readonly want: number } {
  const bits = prefix.length * 4
  return {
    mask: bits === 32 ? 0xffffffff : ~(0xffffffff >>> bits) >>> 0,
    want: parseInt(prefix.padEnd(8, '0'), 16),
  }
}

/** How many hashes a search for these digits takes on average. */
export function expectedTries(digits: number): number {
  return 16 ** digits
}
