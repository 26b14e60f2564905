/** The first 32 bits of the fractional parts of the first primes' roots: how the standard defines its constants. */
function fractions(count: number, root: (x: number) => number): Uint32Array {
  const primes: number[] = []
  for (let n = 2; primes.length < count; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n)
  return Uint32Array.from(primes, (prime) => (root(prime) % 1) * 2 ** 32)
}

const CONSTANTS = fractions(64, Math.cbrt)

/** SHA-256, block by block (FIPS 180-4, section 6.2). */
export const SHA256 = {
  initial: Array.from(fractions(8, Math.sqrt)),
  rounds: 64,
  schedule,
  compress,
} as const

function schedule(bytes: Uint8Array, offset: number, words: Int32Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, 64)
  for (let t = 0; t < 16; t++) words[t] = view.getUint32(t * 4)
  for (let t = 16; t < 64; t++) {
    const [near, far] = [words[t - 2]!, words[t - 15]!]
    const fromNear = right(near, 17) ^ right(near, 19) ^ (near >>> 10)
    const fromFar = right(far, 7) ^ right(far, 18) ^ (far >>> 3)
    words[t] = fromNear + words[t - 7]! + fromFar + words[t - 16]!
  }
}

function compress(state: Int32Array, words: Int32Array): void {
  let [a, b, c, d] = [state[0]! | 0, state[1]! | 0, state[2]! | 0, state[3]! | 0]
  let [e, f, g, h] = [state[4]! | 0, state[5]! | 0, state[6]! | 0, state[7]! | 0]
  for (let t = 0; t < 64; t++) {
    const chosen = g ^ (e & (f ^ g))
    const mixed = h + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) + chosen + CONSTANTS[t]! + words[t]!
    const majority = (a & b) | (c & (a | b))
    const next = (mixed + (right(a, 2) ^ right(a, 13) ^ right(a, 22)) + majority) | 0
    h = g
    g = f
    f = e
    e = (d + mixed) | 0
    d = c
    c = b
    b = a
    a = next
  }
  const after = [a, b, c, d, e, f, g, h]
  for (let i = 0; i < 8; i++) state[i] = state[i]! + after[i]!
}

function right(x: number, n: number): number {
  return (x >>> n) | (x << (32 - n))
}
