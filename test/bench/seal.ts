import { hash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { expectedSeconds } from '../../src/git/seal/sealer.ts'
import type { Puzzle } from '../../src/git/seal/puzzle.ts'
import { pieceSize, search } from '../../src/git/seal/search.ts'
import { searcherFor } from '../../src/git/seal/searcher.ts'
import { times, type Row } from './measure.ts'

type Algorithm = Puzzle['algorithm']

/** Measures the seal: hashes a second beside node:crypto, what the cores do together, and what to expect of the digits. */
export async function benchSeal(): Promise<readonly Row[]> {
  return [...benchHashes('sha1'), ...benchHashes('sha256'), ...(await benchCores())]
}

function benchHashes(algorithm: Algorithm): readonly Row[] {
  const [ours, theirs] = [rate(searches(algorithm)), rate(cryptoHashes(algorithm))]
  const what = `${algorithm}, one core`
  return [
    { what: `${what}: node:crypto`, value: perSecond(theirs), ratio: '' },
    { what: `${what}: the seal`, value: perSecond(ours), ratio: `${times(ours / theirs)} node:crypto` },
  ]
}

async function benchCores(): Promise<readonly Row[]> {
  const cores = availableParallelism()
  const [one, all] = [await threadedRate(1), await threadedRate(cores)]
  return [
    { what: 'sha1, 1 thread', value: perSecond(one), ratio: '' },
    {
      what: `sha1, ${cores} threads`,
      value: perSecond(all),
      ratio: `${Math.round((all / one / cores) * 100)} % of ${cores} times one thread`,
    },
    ...[4, 5, 6].map((digits) => ({
      what: `expected for ${digits} digits`,
      value: `${expectedSeconds(digits, { blocksPerSecond: all, blocksPerTry: 1 }).toFixed(2)} s`,
      ratio: '',
    })),
  ]
}

/** The best of five stretches, in hashes a second: what else the machine does can only take away. */
function rate(work: () => number): number {
  let best = 0
  for (let round = 0; round < 5; round++) {
    const started = performance.now()
    let done = 0
    while (performance.now() - started < 300) done += work()
    best = Math.max(best, (done / (performance.now() - started)) * 1000)
  }
  return best
}

function searches(algorithm: Algorithm): () => number {
  const puzzle = unsolvable(algorithm)
  const [searcher, piece] = [searcherFor(puzzle), pieceSize(puzzle)]
  let from = 0
  return () => {
    searcher(from, piece)
    from += piece
    return piece * 256
  }
}

/** The same work for node:crypto: a message that fills one block with its padding, another each time. */
function cryptoHashes(algorithm: Algorithm): () => number {
  const data = Buffer.alloc(55)
  return () => {
    for (let n = 0; n < 1000; n++) {
      data.writeUInt32LE(data.readUInt32LE(0) + 1, 0)
      hash(algorithm, data, 'buffer')
    }
    return 1000
  }
}

/** The best of three stretches. It begins with the second report: starting threads is not counted. */
async function threadedRate(threads: number): Promise<number> {
  let best = 0
  for (let round = 0; round < 3; round++) {
    const stop = new AbortController()
    const reports: { readonly at: number; readonly tries: number }[] = []
    const onTries = (tries: number): void => {
      if (reports.push({ at: performance.now(), tries }) === 11) stop.abort()
    }
    await search(unsolvable('sha1'), { threads, signal: stop.signal, onTries })
    const [first, last] = [reports[1]!, reports.at(-1)!]
    best = Math.max(best, ((last.tries - first.tries) * 1000) / (last.at - first.at))
  }
  return best
}

function unsolvable(algorithm: Algorithm): Puzzle {
  const midstate = new Int32Array(algorithm === 'sha1' ? 5 : 8)
  return { algorithm, midstate, block: new Uint8Array(64), at: 46, tail: new Uint8Array(0), mask: 0, want: 1 }
}

function perSecond(hashes: number): string {
  return `${(hashes / 1e6).toFixed(2)} M/s`
}
