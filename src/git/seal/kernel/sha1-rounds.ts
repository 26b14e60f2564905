export const K1: i32 = 0x5a827999
export const K2: i32 = 0x6ed9eba1
export const K3: i32 = 0x8f1bbcdc
export const K4: i32 = 0xca62c1d6

export function left5(x: v128): v128 {
  return v128.or(i32x4.shl(x, 5), i32x4.shr_u(x, 27))
}

export function left30(x: v128): v128 {
  return v128.or(i32x4.shl(x, 30), i32x4.shr_u(x, 2))
}

export function choose(b: v128, c: v128, d: v128): v128 {
  return v128.xor(d, v128.and(b, v128.xor(c, d)))
}

export function parity(b: v128, c: v128, d: v128): v128 {
  return v128.xor(v128.xor(c, d), b)
}

export function majority(b: v128, c: v128, d: v128): v128 {
  return v128.or(v128.and(c, d), v128.and(b, v128.or(c, d)))
}

/** One round's sum; the rotated value is added last, as the next round waits for it. */
export function add5(e: v128, rotated: v128, f: v128, k: v128, w: v128): v128 {
  return i32x4.add(i32x4.add(i32x4.add(e, i32x4.add(k, w)), f), rotated)
}

// A round's word for four tries. An offset is free only as a constant of the instruction, hence five such functions.

export function mixed0(word: usize, change: usize): v128 {
  return v128.xor(v128.load32_splat(word), v128.load(change))
}

export function mixed1(word: usize, change: usize): v128 {
  return v128.xor(v128.load32_splat(word, 4), v128.load(change, 16))
}

export function mixed2(word: usize, change: usize): v128 {
  return v128.xor(v128.load32_splat(word, 8), v128.load(change, 32))
}

export function mixed3(word: usize, change: usize): v128 {
  return v128.xor(v128.load32_splat(word, 12), v128.load(change, 48))
}

export function mixed4(word: usize, change: usize): v128 {
  return v128.xor(v128.load32_splat(word, 16), v128.load(change, 64))
}
