import { SHA1 } from './sha1.ts'
import { SHA256 } from './sha256.ts'

/** The hash that a repository uses for its objects: `git rev-parse --show-object-format`. */
export type Algorithm = 'sha1' | 'sha256'

/**
 * A hash that works on single blocks of 64 bytes, which node:crypto cannot do: so a search can start in the middle of
 * an object.
 */
export interface BlockHash {
  readonly initial: readonly number[]
  readonly rounds: number
  /** Expands the block at an offset to one word for each round. */
  schedule(bytes: Uint8Array, offset: number, words: Int32Array): void
  /** Adds one expanded block to the state. */
  compress(state: Int32Array, words: Int32Array): void
}

export const BLOCK_HASHES = { sha1: SHA1, sha256: SHA256 } as const satisfies Record<Algorithm, BlockHash>

/** The state after whole blocks of an object: the work that is the same for every try. */
export function stateAfter(algorithm: Algorithm, blocks: Uint8Array): Int32Array {
  const hash: BlockHash = BLOCK_HASHES[algorithm]
  const state = Int32Array.from(hash.initial)
  const words = new Int32Array(hash.rounds)
  for (let offset = 0; offset < blocks.length; offset += 64) {
    hash.schedule(blocks, offset, words)
    hash.compress(state, words)
  }
  return state
}

/** The message with the padding of both hashes: a bit, zeros, and its length in bits. */
export function padded(message: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(Math.ceil((message.length + 9) / 64) * 64)
  bytes.set(message)
  bytes[message.length] = 0x80
  new DataView(bytes.buffer).setBigUint64(bytes.length - 8, BigInt(message.length) * 8n)
  return bytes
}
