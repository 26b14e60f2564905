export function big0(x: v128): v128 {
  return v128.xor(v128.xor(right(x, 2), right(x, 13)), right(x, 22))
}

export function big1(x: v128): v128 {
  return v128.xor(v128.xor(right(x, 6), right(x, 11)), right(x, 25))
}

export function small0(x: v128): v128 {
  return v128.xor(v128.xor(right(x, 7), right(x, 18)), i32x4.shr_u(x, 3))
}

export function small1(x: v128): v128 {
  return v128.xor(v128.xor(right(x, 17), right(x, 19)), i32x4.shr_u(x, 10))
}

export function choose(e: v128, f: v128, g: v128): v128 {
  return v128.xor(g, v128.and(e, v128.xor(f, g)))
}

export function majority(a: v128, b: v128, c: v128): v128 {
  return v128.or(v128.and(a, b), v128.and(c, v128.or(a, b)))
}

export function add(x: v128, y: v128): v128 {
  return i32x4.add(x, y)
}

/** What a round adds to both halves of the state; `kw` is its word plus its constant. */
export function mix(e: v128, f: v128, g: v128, h: v128, kw: v128): v128 {
  return add(add(h, kw), add(choose(e, f, g), big1(e)))
}

function right(x: v128, n: i32): v128 {
  return v128.or(i32x4.shr_u(x, n), i32x4.shl(x, 32 - n))
}
