import { availableParallelism } from 'node:os'
import type { Algorithm } from './block-hash.ts'
import { type KernelModule, loadKernel } from './kernel-search.ts'
import { expectedTries, type Puzzle } from './puzzle.ts'
import { pieceSize, searcherFor } from './search.ts'

const PATIENCE_SECONDS = 3
const WARM_UP_MS = 10
const MEASURE_MS = 25

/** What a try will cost: how many blocks it hashes, and how many blocks a second this machine does on all its cores. */
export interface SealCost {
  readonly blocksPerSecond: number
  readonly blocksPerTry: number
}

/**
 * The digits that `auto` stands for: 7, or 6 where 7 would take more than about three seconds. Only a signed commit,
 * of which each try hashes the whole message, may get fewer still.
 */
export function digitsFor(cost: SealCost): number {
  const fewest = cost.blocksPerTry > 1 ? 4 : 6
  let digits = 7
  while (digits > fewest && expectedSeconds(digits, cost) > PATIENCE_SECONDS) digits--
  return digits
}

/** How long a seal takes on average. */
export function expectedSeconds(digits: number, cost: SealCost): number {
  return (expectedTries(digits) * cost.blocksPerTry) / cost.blocksPerSecond
}

/** About how many blocks a try hashes: one, or of a signed commit also those of the message behind the seal. */
export function expectedBlocks(message: string, signed: boolean): number {
  return signed ? 2 + Math.floor(Buffer.byteLength(message) / 64) : 1
}

/** Blocks a second on all cores, from a search of some thirty milliseconds that finds nothing. */
export function measureSpeed(
  algorithm: Algorithm,
  ports: { readonly now: () => number; readonly kernel?: KernelModule | null },
): number {
  const { now, kernel = loadKernel() } = ports
  const searcher = searcherFor(impossible(algorithm), kernel)
  const piece = pieceSize(impossible(algorithm), kernel)
  const started = now()
  let [tries, from, measured] = [0, 0, started]
  for (let time = started; time - started < WARM_UP_MS + MEASURE_MS; time = now()) {
    if (time - started < WARM_UP_MS) [tries, measured] = [0, time]
    searcher(from, piece)
    from += piece
    tries += piece * 256
  }
  const seconds = Math.max(now() - measured, 1) / 1000
  return (tries / seconds) * availableParallelism()
}

/** A puzzle that no nonce solves: its first word would have to be what its mask leaves out. */
function impossible(algorithm: Algorithm): Puzzle {
  return {
    algorithm,
    midstate: new Uint32Array(algorithm === 'sha1' ? 5 : 8),
    block: new Uint8Array(64),
    at: 46,
    tail: new Uint8Array(0),
    mask: 0,
    want: 1,
  }
}
