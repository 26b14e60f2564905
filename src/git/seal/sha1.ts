/** SHA-1, block by block (FIPS 180-4, section 6.1). */
export const SHA1 = {
  initial: [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0],
  rounds: 80,
  schedule,
  compress,
} as const

function schedule(bytes: Uint8Array, offset: number, words: Int32Array): void {
  for (let t = 0, at = offset; t < 16; t++, at += 4)
    words[t] = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
  for (let t = 16; t < 80; t++) {
    const word = words[t - 3]! ^ words[t - 8]! ^ words[t - 14]! ^ words[t - 16]!
    words[t] = (word << 1) | (word >>> 31)
  }
}

function compress(state: Int32Array, words: Int32Array): void {
  let [a, b, c, d, e] = [state[0]! | 0, state[1]! | 0, state[2]! | 0, state[3]! | 0, state[4]! | 0]
  for (let t = 0; t < 80; t++) {
    const next = (((a << 5) | (a >>> 27)) + mixed(t, b, c, d) + e + words[t]!) | 0
    e = d
    d = c
    c = (b << 30) | (b >>> 2)
    b = a
    a = next
  }
  state[0] = state[0]! + a
  state[1] = state[1]! + b
  state[2] = state[2]! + c
  state[3] = state[3]! + d
  state[4] = state[4]! + e
}

/** The function and the constant of round t. */
function mixed(t: number, b: number, c: number, d: number): number {
  if (t < 20) return ((d ^ (b & (c ^ d))) + 0x5a827999) | 0
  if (t < 40) return ((b ^ c ^ d) + 0x6ed9eba1) | 0
  if (t < 60) return (((b & c) | (d & (b | c))) - 0x70e44324) | 0
  return ((b ^ c ^ d) - 0x359d3e2a) | 0
}
