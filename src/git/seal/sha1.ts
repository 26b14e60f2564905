/** SHA-1, block by block (FIPS 180-4, section 6.1). */
export const SHA1 = {
  initial: [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0],
  rounds: 80,
  schedule,
  compress,
} as const

const [K1, K2, K3, K4] = [0x5a827999 | 0, 0x6ed9eba1 | 0, 0x8f1bbcdc | 0, 0xca62c1d6 | 0]

function schedule(bytes: Uint8Array, offset: number, words: Int32Array): void {
  for (let t = 0, at = offset; t < 16; t++, at += 4)
    words[t] = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
  for (let t = 16; t < 80; t++) {
    const word = words[t - 3]! ^ words[t - 8]! ^ words[t - 14]! ^ words[t - 16]!
    words[t] = (word << 1) | (word >>> 31)
  }
}

/** Five rounds at a time: after five the five variables have their places again, and nothing needs to be moved. */
function compress(state: Int32Array, w: Int32Array): void {
  let [a, b, c, d, e] = [state[0]! | 0, state[1]! | 0, state[2]! | 0, state[3]! | 0, state[4]! | 0]
  for (let t = 0; t < 20; t += 5) {
    e = (((a << 5) | (a >>> 27)) + (d ^ (b & (c ^ d))) + e + K1 + w[t]!) | 0
    b = (b << 30) | (b >>> 2)
    d = (((e << 5) | (e >>> 27)) + (c ^ (a & (b ^ c))) + d + K1 + w[t + 1]!) | 0
    a = (a << 30) | (a >>> 2)
    c = (((d << 5) | (d >>> 27)) + (b ^ (e & (a ^ b))) + c + K1 + w[t + 2]!) | 0
    e = (e << 30) | (e >>> 2)
    b = (((c << 5) | (c >>> 27)) + (a ^ (d & (e ^ a))) + b + K1 + w[t + 3]!) | 0
    d = (d << 30) | (d >>> 2)
    a = (((b << 5) | (b >>> 27)) + (e ^ (c & (d ^ e))) + a + K1 + w[t + 4]!) | 0
    c = (c << 30) | (c >>> 2)
  }
  for (let t = 20; t < 80; t += 5) {
    if (t === 40) {
      for (; t < 60; t += 5) {
        e = (((a << 5) | (a >>> 27)) + ((b & c) | (d & (b | c))) + e + K3 + w[t]!) | 0
        b = (b << 30) | (b >>> 2)
        d = (((e << 5) | (e >>> 27)) + ((a & b) | (c & (a | b))) + d + K3 + w[t + 1]!) | 0
        a = (a << 30) | (a >>> 2)
        c = (((d << 5) | (d >>> 27)) + ((e & a) | (b & (e | a))) + c + K3 + w[t + 2]!) | 0
        e = (e << 30) | (e >>> 2)
        b = (((c << 5) | (c >>> 27)) + ((d & e) | (a & (d | e))) + b + K3 + w[t + 3]!) | 0
        d = (d << 30) | (d >>> 2)
        a = (((b << 5) | (b >>> 27)) + ((c & d) | (e & (c | d))) + a + K3 + w[t + 4]!) | 0
        c = (c << 30) | (c >>> 2)
      }
    }
    const k = t < 40 ? K2 : K4
    e = (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e + k + w[t]!) | 0
    b = (b << 30) | (b >>> 2)
    d = (((e << 5) | (e >>> 27)) + (a ^ b ^ c) + d + k + w[t + 1]!) | 0
    a = (a << 30) | (a >>> 2)
    c = (((d << 5) | (d >>> 27)) + (e ^ a ^ b) + c + k + w[t + 2]!) | 0
    e = (e << 30) | (e >>> 2)
    b = (((c << 5) | (c >>> 27)) + (d ^ e ^ a) + b + k + w[t + 3]!) | 0
    d = (d << 30) | (d >>> 2)
    a = (((b << 5) | (b >>> 27)) + (c ^ d ^ e) + a + k + w[t + 4]!) | 0
    c = (c << 30) | (c >>> 2)
  }
  state[0] = state[0]! + a
  state[1] = state[1]! + b
  state[2] = state[2]! + c
  state[3] = state[3]! + d
  state[4] = state[4]! + e
}
