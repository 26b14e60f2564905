import { availableParallelism } from 'node:os'
import type { Algorithm } from './block-hash.ts'
import { expectedTries, GROUP_SIZE, type Puzzle } from './puzzle.ts'
import { pieceSize } from './search.ts'
import { searcherFor } from './searcher.ts'

const PATIENCE_SECONDS = 0.3
const FEWEST = 4
const MEASURE_MS = 20

/** The cost of a try: how many blocks it hashes, and how many blocks this machine hashes in a second on all cores. */
interface SealCost {
  readonly blocksPerSecond: number
  readonly blocksPerTry: number
}

/** The digits that `auto` stands for: as many, from 4 to 7, as take this machine less than a third of a second on average. */
export function digitsFor(cost: SealCost): number {
  let digits = 7
  while (digits > FEWEST && expectedSeconds(digits, cost) > PATIENCE_SECONDS) digits--
  return digits
}

/** How long a seal takes on average. */
export function expectedSeconds(digits: number, cost: SealCost): number {
  return (expectedTries(digits) * cost.blocksPerTry) / cost.blocksPerSecond
}

/** About how many blocks a try hashes: one, or for a signed commit also those of the message after the seal. */
export function expectedBlocks(message: string, signed: boolean): number {
  return signed ? 2 + Math.floor(Buffer.byteLength(message) / 64) : 1
}

/** Blocks a second on all cores, from a search of some forty milliseconds that finds nothing. */
export function measureSpeed(algorithm: Algorithm, { now }: { now: () => number }): number {
  const searcher = searcherFor(impossible(algorithm))
  const piece = pieceSize(impossible(algorithm))
  let from = 0
  const triesPerSecond = () => {
    const started = now()
    const first = from
    let elapsed = 0
    while (elapsed < MEASURE_MS) {
      searcher(from, piece)
      from += piece
      elapsed = now() - started
    }
    return ((from - first) * GROUP_SIZE * 1000) / elapsed
  }
  // The first measurement is slow: the engine optimizes only code that it has run.
  triesPerSecond()
  return triesPerSecond() * availableParallelism()
}

/** A puzzle without a solution: its mask excludes what the first word would have to be. */
function impossible(algorithm: Algorithm): Puzzle {
  return {
    algorithm,
    midstate: new Int32Array(algorithm === 'sha1' ? 5 : 8),
    block: new Uint8Array(64),
    at: 46,
    tail: new Uint8Array(0),
    mask: 0,
    want: 1,
  }
}
