import { MIDSTATE, TAIL } from './memory'
import { add, big0, majority, mix } from './sha256-rounds'

/** The first word of four hashes, after the blocks that follow the nonce's have been added. */
export function followedSha256(
  a: v128,
  b: v128,
  c: v128,
  d: v128,
  e: v128,
  f: v128,
  g: v128,
  h: v128,
  blocks: u32,
): v128 {
  let h0 = add(a, v128.load32_splat(MIDSTATE, 0))
  let h1 = add(b, v128.load32_splat(MIDSTATE, 4))
  let h2 = add(c, v128.load32_splat(MIDSTATE, 8))
  let h3 = add(d, v128.load32_splat(MIDSTATE, 12))
  let h4 = add(e, v128.load32_splat(MIDSTATE, 16))
  let h5 = add(f, v128.load32_splat(MIDSTATE, 20))
  let h6 = add(g, v128.load32_splat(MIDSTATE, 24))
  let h7 = add(h, v128.load32_splat(MIDSTATE, 28))
  let word = TAIL
  for (let n: u32 = 0; n < blocks; n++) {
    a = h0
    b = h1
    c = h2
    d = h3
    e = h4
    f = h5
    g = h6
    h = h7
    for (let t = 0; t < 64; t++) {
      const mixed = mix(e, f, g, h, v128.load32_splat(word))
      const next = add(mixed, add(big0(a), majority(a, b, c)))
      h = g
      g = f
      f = e
      e = add(d, mixed)
      d = c
      c = b
      b = a
      a = next
      word += 4
    }
    h0 = add(h0, a)
    h1 = add(h1, b)
    h2 = add(h2, c)
    h3 = add(h3, d)
    h4 = add(h4, e)
    h5 = add(h5, f)
    h6 = add(h6, g)
    h7 = add(h7, h)
  }
  return h0
}
