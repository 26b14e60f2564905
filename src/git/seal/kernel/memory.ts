// The layout of the kernel's memory, which kernel-search.ts writes: the two must agree.

/** The chaining value before the block with the nonce: 5 or 8 words. */
export const MIDSTATE: usize = 0
/** That block's 64 bytes. */
export const BLOCK: usize = 32
/** The 32 characters of a nonce. */
export const ALPHABET: usize = 96
/** The block's words, expanded: at most 80. */
export const WORDS: usize = 128
/** The changes by the last two characters: by vector of four tries, then by word, then by lane. */
export const CHANGES: usize = 512
/** Room for one SHA-256 message schedule, four lanes wide. */
export const SCHEDULE: usize = 84992
/** SHA-256's 64 constants. */
export const CONSTANTS: usize = 86016
/** The following blocks, each as 80 or 64 words with the round's constant already added. */
export const TAIL: usize = 86272

/** 256 tries for each setting of the other characters, four at a time. */
export const VECTORS: u32 = 64

/** Bytes that one vector's changes take: 80 words of four lanes. */
export const CHANGE_SIZE: u32 = 1280

/** Writes the six slower characters of a nonce into the block. */
export function writeNonce(at: usize, outer: u32): void {
  for (let i: usize = 0; i < 6; i++) {
    store<u8>(BLOCK + at + 5 - i, load<u8>(ALPHABET + (outer & 31)))
    outer >>= 5
  }
}

/** The first of four lanes that matches, or -1. */
export function firstMatch(hash: v128, mask: v128, wanted: v128): i32 {
  const hits = i32x4.bitmask(i32x4.eq(v128.and(hash, mask), wanted))
  return hits == 0 ? -1 : ctz(hits)
}
