import { readFileSync } from 'node:fs'
import { BLOCK_HASHES, type BlockHash } from './block-hash.ts'
import { builtFile } from '../../base/built-file.ts'
import { expandedTail } from './plain-search.ts'
import {
  ALPHABET,
  firstChangingWord,
  GROUP_SIZE,
  NONCE_LENGTH,
  type Puzzle,
  type Searcher,
} from './puzzle.ts'

// The same as in kernel/memory.ts, which explains each.
const PLACES = { midstate: 0, block: 32, alphabet: 96, changes: 512, constants: 86016, tail: 86272 } as const
const LANES = 4
const CHANGE_SIZE = 1280
const PAGE = 65536

/** The compiled kernel: opaque, and workers can share it. */
export interface KernelModule {
  readonly [Symbol.toStringTag]: string
}

interface Kernel {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number }
  readonly searchSha1: KernelSearch
  readonly searchSha256: KernelSearch
}

type KernelSearch = (
  from: number,
  count: number,
  at: number,
  start: number,
  mask: number,
  want: number,
  tails: number,
) => number

// Node's types take WebAssembly from the browser's types, which ralph does not load.
const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: {
    validate(bytes: Uint8Array): boolean
    readonly Module: new (bytes: Uint8Array) => KernelModule
    readonly Instance: new (module: KernelModule) => { readonly exports: object }
  }
}

/** The compiled kernel; null if this machine's WebAssembly has no SIMD. */
export function loadKernel(): KernelModule | null {
  const bytes = readFileSync(builtFile('seal.wasm'))
  return WebAssembly.validate(bytes) ? new WebAssembly.Module(bytes) : null
}

/** The kernel's search, prepared for one puzzle. */
export function kernelSearcher(module: KernelModule, puzzle: Puzzle): Searcher {
  const kernel = new WebAssembly.Instance(module).exports as Kernel
  const tail = expandedTail(puzzle)
  layOut(kernel.memory, puzzle, tail)
  const search = puzzle.algorithm === 'sha1' ? kernel.searchSha1 : kernel.searchSha256
  const start = firstChangingWord(puzzle)
  return (from, count) => {
    const found = search(from, count, puzzle.at, start, puzzle.mask, puzzle.want, tail.length)
    return found < 0 ? null : from * GROUP_SIZE + found
  }
}

/** Writes a puzzle into the kernel's memory. */
function layOut(memory: Kernel['memory'], puzzle: Puzzle, tail: readonly Uint32Array[]): void {
  const { constants }: BlockHash = BLOCK_HASHES[puzzle.algorithm]
  const size = PLACES.tail + tail.length * constants.byteLength
  const missing = Math.ceil(size / PAGE) - memory.buffer.byteLength / PAGE
  if (missing > 0) memory.grow(missing)
  new Uint8Array(memory.buffer).set(Buffer.from(ALPHABET), PLACES.alphabet)
  const words = new Uint32Array(memory.buffer)
  words.set(puzzle.midstate, PLACES.midstate / 4)
  if (puzzle.algorithm === 'sha256') words.set(constants, PLACES.constants / 4)
  for (const [n, block] of tail.entries()) {
    const added = block.map((word, t) => word + constants[t]!)
    words.set(added, PLACES.tail / 4 + n * constants.length)
  }
  const block = puzzle.block.slice()
  const last = puzzle.at + NONCE_LENGTH - 1
  block.fill(ALPHABET.charCodeAt(0), last - 1, last + 1)
  new Uint8Array(memory.buffer).set(block, PLACES.block)
  layOutChanges(words, puzzle, last)
}

/** The effect of each setting of the last two characters, word by word, compared with the first character of the alphabet. */
function layOutChanges(memory: Uint32Array, puzzle: Puzzle, last: number): void {
  const hash: BlockHash = BLOCK_HASHES[puzzle.algorithm]
  const expanded = new Uint32Array(hash.constants.length)
  const change = new Uint8Array(64)
  const zero = ALPHABET.charCodeAt(0)
  for (let inner = 0; inner < GROUP_SIZE; inner++) {
    change[last - 1] = ALPHABET.charCodeAt(inner >> 5) ^ zero
    change[last] = ALPHABET.charCodeAt(inner & 31) ^ zero
    hash.schedule(change, 0, expanded)
    const base = (PLACES.changes + Math.floor(inner / LANES) * CHANGE_SIZE) / 4 + (inner % LANES)
    for (const [t, word] of expanded.entries()) memory[base + t * LANES] = word
  }
}
