import { BLOCK_HASHES, type BlockHash } from './block-hash.ts'
import { GROUP_SIZE, nonceAt, type Puzzle, type Searcher } from './puzzle.ts'

/** The search without WebAssembly: the same result, about thirty times slower. */
export function plainSearcher(puzzle: Puzzle): Searcher {
  const hash: BlockHash = BLOCK_HASHES[puzzle.algorithm]
  const block = puzzle.block.slice()
  const words = new Uint32Array(hash.constants.length)
  const state = new Uint32Array(puzzle.midstate.length)
  const tail = expandedTail(puzzle)
  return (from, count) => {
    for (let index = from * GROUP_SIZE; index < (from + count) * GROUP_SIZE; index++) {
      const nonce = nonceAt(index)
      for (let i = 0; i < nonce.length; i++) block[puzzle.at + i] = nonce.charCodeAt(i)
      state.set(puzzle.midstate)
      hash.schedule(block, 0, words)
      hash.compress(state, words)
      for (const expanded of tail) hash.compress(state, expanded)
      if ((state[0]! & puzzle.mask) >>> 0 === puzzle.want) return index
    }
    return null
  }
}

/** The words of each block after the nonce's: they never change. */
export function expandedTail(puzzle: Puzzle): readonly Uint32Array[] {
  const hash: BlockHash = BLOCK_HASHES[puzzle.algorithm]
  return Array.from({ length: puzzle.tail.length / 64 }, (_, n) => {
    const words = new Uint32Array(hash.constants.length)
    hash.schedule(puzzle.tail, n * 64, words)
    return words
  })
}
