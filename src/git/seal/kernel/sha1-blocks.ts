import { BLOCK, MIDSTATE, TAIL, WORDS } from './memory'
import { choose, left30, left5, majority, parity } from './sha1-rounds'

/** Expands the block to its 80 words. */
export function expand(): void {
  for (let t: usize = 0; t < 64; t += 4) store<u32>(WORDS + t, bswap<u32>(load<u32>(BLOCK + t)))
  for (let at: usize = WORDS; at < WORDS + 256; at += 4) {
    const word = load<u32>(at, 52) ^ load<u32>(at, 32) ^ load<u32>(at, 8) ^ load<u32>(at)
    store<u32>(at, rotl<u32>(word, 1), 64)
  }
}

/** The first word of four hashes, after the blocks that follow the nonce's have been added. */
export function followedSha1(a: v128, b: v128, c: v128, d: v128, e: v128, blocks: u32): v128 {
  let h0 = i32x4.add(a, v128.load32_splat(MIDSTATE, 0))
  let h1 = i32x4.add(b, v128.load32_splat(MIDSTATE, 4))
  let h2 = i32x4.add(c, v128.load32_splat(MIDSTATE, 8))
  let h3 = i32x4.add(d, v128.load32_splat(MIDSTATE, 12))
  let h4 = i32x4.add(e, v128.load32_splat(MIDSTATE, 16))
  let word = TAIL
  for (let n: u32 = 0; n < blocks; n++) {
    a = h0
    b = h1
    c = h2
    d = h3
    e = h4
    for (let t = 0; t < 80; t++) {
      const f = t < 20 ? choose(b, c, d) : t >= 40 && t < 60 ? majority(b, c, d) : parity(b, c, d)
      const next = i32x4.add(i32x4.add(i32x4.add(e, v128.load32_splat(word)), f), left5(a))
      e = d
      d = c
      c = left30(b)
      b = a
      a = next
      word += 4
    }
    h0 = i32x4.add(h0, a)
    h1 = i32x4.add(h1, b)
    h2 = i32x4.add(h2, c)
    h3 = i32x4.add(h3, d)
    h4 = i32x4.add(h4, e)
  }
  return h0
}
