import { CHANGES, CHANGE_SIZE, MIDSTATE, VECTORS, WORDS, firstMatch, writeNonce } from './memory'
import { expand, followedSha1 } from './sha1-blocks'
import {
  K1,
  K2,
  K3,
  K4,
  add5,
  choose,
  left30,
  left5,
  majority,
  mixed0,
  mixed1,
  mixed2,
  mixed3,
  mixed4,
  parity,
} from './sha1-rounds'

/**
 * Tries `count` times 256 nonces and returns the index of the first that matches, or -1.
 *
 * SHA-1 expands a block's words by xor and rotation alone, so the expansion of a changed block is the expansion of
 * the block xor the expansion of the change. The changes by the last two characters are expanded once; a try then
 * costs one xor a round for its schedule. Rounds before `start`, the first word that the last two characters change,
 * are done once for 256 tries.
 *
 * Each round waits for the one before it, so two vectors of four tries are computed side by side: that does half as
 * many tries again as one vector alone, and a third would not fit into the registers.
 */
export function searchSha1(
  from: u32,
  count: u32,
  at: usize,
  start: u32,
  mask: u32,
  want: u32,
  tails: u32,
): i32 {
  const masks = i32x4.splat(mask)
  const wanted = i32x4.splat(want)
  const h0 = load<u32>(MIDSTATE, 0)
  for (let n: u32 = 0; n < count; n++) {
    writeNonce(at, from + n)
    expand()
    let a = h0
    let b = load<u32>(MIDSTATE, 4)
    let c = load<u32>(MIDSTATE, 8)
    let d = load<u32>(MIDSTATE, 12)
    let e = load<u32>(MIDSTATE, 16)
    for (let t: u32 = 0; t < start; t++) {
      const next = rotl<u32>(a, 5) + (d ^ (b & (c ^ d))) + e + K1 + load<u32>(WORDS + (t << 2))
      e = d
      d = c
      c = rotl<u32>(b, 30)
      b = a
      a = next
    }
    for (let v: u32 = 0; v < VECTORS; v += 2) {
      let word = WORDS + (start << 2)
      let change0 = CHANGES + v * CHANGE_SIZE + (start << 4)
      let change1 = change0 + CHANGE_SIZE
      let k = i32x4.splat(K1)
      let a0 = i32x4.splat(a)
      let a1 = a0
      let b0 = i32x4.splat(b)
      let b1 = b0
      let c0 = i32x4.splat(c)
      let c1 = c0
      let d0 = i32x4.splat(d)
      let d1 = d0
      let e0 = i32x4.splat(e)
      let e1 = e0
      for (let t = start; t < 15; t++) {
        const next0 = add5(e0, left5(a0), choose(b0, c0, d0), k, mixed0(word, change0))
        const next1 = add5(e1, left5(a1), choose(b1, c1, d1), k, mixed0(word, change1))
        e0 = d0
        e1 = d1
        d0 = c0
        d1 = c1
        c0 = left30(b0)
        c1 = left30(b1)
        b0 = a0
        b1 = a1
        a0 = next0
        a1 = next1
        word += 4
        change0 += 16
        change1 += 16
      }
      e0 = add5(e0, left5(a0), choose(b0, c0, d0), k, mixed0(word, change0))
      e1 = add5(e1, left5(a1), choose(b1, c1, d1), k, mixed0(word, change1))
      b0 = left30(b0)
      b1 = left30(b1)
      d0 = add5(d0, left5(e0), choose(a0, b0, c0), k, mixed1(word, change0))
      d1 = add5(d1, left5(e1), choose(a1, b1, c1), k, mixed1(word, change1))
      a0 = left30(a0)
      a1 = left30(a1)
      c0 = add5(c0, left5(d0), choose(e0, a0, b0), k, mixed2(word, change0))
      c1 = add5(c1, left5(d1), choose(e1, a1, b1), k, mixed2(word, change1))
      e0 = left30(e0)
      e1 = left30(e1)
      b0 = add5(b0, left5(c0), choose(d0, e0, a0), k, mixed3(word, change0))
      b1 = add5(b1, left5(c1), choose(d1, e1, a1), k, mixed3(word, change1))
      d0 = left30(d0)
      d1 = left30(d1)
      a0 = add5(a0, left5(b0), choose(c0, d0, e0), k, mixed4(word, change0))
      a1 = add5(a1, left5(b1), choose(c1, d1, e1), k, mixed4(word, change1))
      c0 = left30(c0)
      c1 = left30(c1)
      // Rounds 20 to 39 and 60 to 79 differ only in the constant, so one loop does both; those between run once.
      k = i32x4.splat(K2)
      for (let isLast = false; ; isLast = true) {
        for (let group = 0; group < 4; group++) {
          word += 20
          change0 += 80
          change1 += 80
          e0 = add5(e0, left5(a0), parity(b0, c0, d0), k, mixed0(word, change0))
          e1 = add5(e1, left5(a1), parity(b1, c1, d1), k, mixed0(word, change1))
          b0 = left30(b0)
          b1 = left30(b1)
          d0 = add5(d0, left5(e0), parity(a0, b0, c0), k, mixed1(word, change0))
          d1 = add5(d1, left5(e1), parity(a1, b1, c1), k, mixed1(word, change1))
          a0 = left30(a0)
          a1 = left30(a1)
          c0 = add5(c0, left5(d0), parity(e0, a0, b0), k, mixed2(word, change0))
          c1 = add5(c1, left5(d1), parity(e1, a1, b1), k, mixed2(word, change1))
          e0 = left30(e0)
          e1 = left30(e1)
          b0 = add5(b0, left5(c0), parity(d0, e0, a0), k, mixed3(word, change0))
          b1 = add5(b1, left5(c1), parity(d1, e1, a1), k, mixed3(word, change1))
          d0 = left30(d0)
          d1 = left30(d1)
          a0 = add5(a0, left5(b0), parity(c0, d0, e0), k, mixed4(word, change0))
          a1 = add5(a1, left5(b1), parity(c1, d1, e1), k, mixed4(word, change1))
          c0 = left30(c0)
          c1 = left30(c1)
        }
        if (isLast) break
        k = i32x4.splat(K3)
        for (let group = 0; group < 4; group++) {
          word += 20
          change0 += 80
          change1 += 80
          e0 = add5(e0, left5(a0), majority(b0, c0, d0), k, mixed0(word, change0))
          e1 = add5(e1, left5(a1), majority(b1, c1, d1), k, mixed0(word, change1))
          b0 = left30(b0)
          b1 = left30(b1)
          d0 = add5(d0, left5(e0), majority(a0, b0, c0), k, mixed1(word, change0))
          d1 = add5(d1, left5(e1), majority(a1, b1, c1), k, mixed1(word, change1))
          a0 = left30(a0)
          a1 = left30(a1)
          c0 = add5(c0, left5(d0), majority(e0, a0, b0), k, mixed2(word, change0))
          c1 = add5(c1, left5(d1), majority(e1, a1, b1), k, mixed2(word, change1))
          e0 = left30(e0)
          e1 = left30(e1)
          b0 = add5(b0, left5(c0), majority(d0, e0, a0), k, mixed3(word, change0))
          b1 = add5(b1, left5(c1), majority(d1, e1, a1), k, mixed3(word, change1))
          d0 = left30(d0)
          d1 = left30(d1)
          a0 = add5(a0, left5(b0), majority(c0, d0, e0), k, mixed4(word, change0))
          a1 = add5(a1, left5(b1), majority(c1, d1, e1), k, mixed4(word, change1))
          c0 = left30(c0)
          c1 = left30(c1)
        }
        k = i32x4.splat(K4)
      }
      const first = tails == 0 ? i32x4.add(a0, i32x4.splat(h0)) : followedSha1(a0, b0, c0, d0, e0, tails)
      const lane0 = firstMatch(first, masks, wanted)
      if (lane0 >= 0) return (n << 8) + (v << 2) + lane0
      const second = tails == 0 ? i32x4.add(a1, i32x4.splat(h0)) : followedSha1(a1, b1, c1, d1, e1, tails)
      const lane1 = firstMatch(second, masks, wanted)
      if (lane1 >= 0) return (n << 8) + (v << 2) + 4 + lane1
    }
  }
  return -1
}
