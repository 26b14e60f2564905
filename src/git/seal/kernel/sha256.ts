import {
  BLOCK,
  CHANGES,
  CHANGE_SIZE,
  CONSTANTS,
  MIDSTATE,
  SCHEDULE,
  VECTORS,
  firstMatch,
  writeNonce,
} from './memory'
import { followedSha256 } from './sha256-blocks'
import { add, big0, majority, mix, small0, small1 } from './sha256-rounds'

/** Like `searchSha1`. This schedule adds, so each try expands its own; rounds before `start` are done once for 256 tries. */
export function searchSha256(
  from: u32,
  count: u32,
  at: usize,
  start: usize,
  mask: u32,
  want: u32,
  tails: u32,
): i32 {
  const masks = i32x4.splat(mask)
  const wanted = i32x4.splat(want)
  for (let n: u32 = 0; n < count; n++) {
    writeNonce(at, from + n)
    let sa = v128.load32_splat(MIDSTATE, 0)
    let sb = v128.load32_splat(MIDSTATE, 4)
    let sc = v128.load32_splat(MIDSTATE, 8)
    let sd = v128.load32_splat(MIDSTATE, 12)
    let se = v128.load32_splat(MIDSTATE, 16)
    let sf = v128.load32_splat(MIDSTATE, 20)
    let sg = v128.load32_splat(MIDSTATE, 24)
    let sh = v128.load32_splat(MIDSTATE, 28)
    for (let t: usize = 0; t < 16; t++) {
      const word = plainWord(t)
      v128.store(SCHEDULE + (t << 4), word)
      if (t >= start) continue
      const mixed = mix(se, sf, sg, sh, add(word, constant(t)))
      const next = add(mixed, add(big0(sa), majority(sa, sb, sc)))
      sh = sg
      sg = sf
      sf = se
      se = add(sd, mixed)
      sd = sc
      sc = sb
      sb = sa
      sa = next
    }
    for (let v: u32 = 0; v < VECTORS; v++) {
      const change = CHANGES + v * CHANGE_SIZE
      for (let t = start; t < 16; t++) {
        v128.store(SCHEDULE + (t << 4), v128.xor(plainWord(t), v128.load(change + (t << 4))))
      }
      let a = sa
      let b = sb
      let c = sc
      let d = sd
      let e = se
      let f = sf
      let g = sg
      let h = sh
      for (let t = start; t < 64; t++) {
        if (t >= 16) extend(SCHEDULE + (t << 4))
        const mixed = mix(e, f, g, h, add(v128.load(SCHEDULE + (t << 4)), constant(t)))
        const next = add(mixed, add(big0(a), majority(a, b, c)))
        h = g
        g = f
        f = e
        e = add(d, mixed)
        d = c
        c = b
        b = a
        a = next
      }
      const hash =
        tails == 0 ? add(a, v128.load32_splat(MIDSTATE)) : followedSha256(a, b, c, d, e, f, g, h, tails)
      const lane = firstMatch(hash, masks, wanted)
      if (lane >= 0) return (n << 8) + (v << 2) + lane
    }
  }
  return -1
}

function plainWord(t: usize): v128 {
  return i32x4.splat(bswap<u32>(load<u32>(BLOCK + (t << 2))))
}

function constant(t: usize): v128 {
  return v128.load32_splat(CONSTANTS + (t << 2))
}

/** Computes one word of the schedule, in its place, from the sixteen before it. */
function extend(at: usize): void {
  const near = add(small1(v128.load(at - 32)), v128.load(at - 112))
  v128.store(at, add(near, add(small0(v128.load(at - 240)), v128.load(at - 256))))
}
