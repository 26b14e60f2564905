import { BLOCK_HASHES, type BlockHash } from './block-hash.ts'
import { ALPHABET, GROUP_SIZE, NONCE_LENGTH, type Puzzle, type Searcher } from './puzzle.ts'

/** Tries nonces one after the other, by the hash of their block alone: all before it is in the puzzle's state. */
export function searcherFor(puzzle: Puzzle): Searcher {
  const hash: BlockHash = BLOCK_HASHES[puzzle.algorithm]
  const block = puzzle.block.slice()
  const words = new Int32Array(hash.rounds)
  const state = new Int32Array(puzzle.midstate.length)
  const tail = expandedTail(puzzle)
  const [mask, want] = [puzzle.mask | 0, puzzle.want | 0]
  return (from, count) => {
    const end = (from + count) * GROUP_SIZE
    for (let index = from * GROUP_SIZE; index < end; index++) {
      writeNonce(block, puzzle.at, index)
      state.set(puzzle.midstate)
      hash.schedule(block, 0, words)
      hash.compress(state, words)
      for (const expanded of tail) hash.compress(state, expanded)
      if ((state[0]! & mask) === want) return index
    }
    return null
  }
}

const LETTERS = Uint8Array.from(ALPHABET, (letter) => letter.charCodeAt(0))

/** Writes the nonce of an index: the same as `nonceAt`, without a text. */
function writeNonce(block: Uint8Array, at: number, index: number): void {
  const inner = index % GROUP_SIZE
  let outer = Math.floor(index / GROUP_SIZE)
  block[at + NONCE_LENGTH - 1] = LETTERS[inner & 31]!
  block[at + NONCE_LENGTH - 2] = LETTERS[inner >> 5]!
  for (let place = at + NONCE_LENGTH - 3; place >= at; place--) {
    block[place] = LETTERS[outer & 31]!
    outer >>>= 5
  }
}

/** The words of each block after the nonce's: they never change. */
function expandedTail(puzzle: Puzzle): readonly Int32Array[] {
  const hash: BlockHash = BLOCK_HASHES[puzzle.algorithm]
  return Array.from({ length: puzzle.tail.length / 64 }, (_, n) => {
    const words = new Int32Array(hash.rounds)
    hash.schedule(puzzle.tail, n * 64, words)
    return words
  })
}
