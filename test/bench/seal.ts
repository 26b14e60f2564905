import { execFileSync } from 'node:child_process'
import { createHash, hash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { expectedSeconds } from '../../src/git/seal/digits.ts'
import type { Puzzle } from '../../src/git/seal/puzzle.ts'
import { pieceSize, search } from '../../src/git/seal/search.ts'
import { searcherFor } from '../../src/git/seal/searcher.ts'
import { sealCommit } from '../../src/git/seal/seal-commit.ts'

/** One measured thing, and how it stands to what it is measured against. */
export interface SealRow {
  readonly what: string
  readonly value: string
  readonly ratio: string
}

const ALGORITHMS = ['sha1', 'sha256'] as const
const SAMPLES = 100

/** Measures the seal: hashes a second beside node:crypto and others, the cores, and what to expect of 7 digits. */
export async function benchSeal(): Promise<readonly SealRow[]> {
  const rows: SealRow[] = []
  for (const algorithm of ALGORITHMS) rows.push(...benchHashes(algorithm))
  rows.push(...benchLucky())
  return [...rows, ...(await benchCores()), ...(await benchChance())]
}

function benchHashes(algorithm: 'sha1' | 'sha256'): SealRow[] {
  const ours = rate(searches(algorithm))
  const others = {
    'node:crypto, hash()': rate(cryptoHashes(algorithm, (data) => hash(algorithm, data, 'buffer'))),
    'node:crypto, createHash()': rate(
      cryptoHashes(algorithm, (data) => createHash(algorithm).update(data).digest()),
    ),
    'openssl speed, 64 bytes': opensslSpeed(algorithm),
  }
  const rows = Object.entries(others).map(([who, value]) => ({
    what: `${algorithm}, one core: ${who}`,
    value: perSecond(value),
    ratio: `the seal does ${times(ours / value)}`,
  }))
  return [{ what: `${algorithm}, one core: the seal`, value: perSecond(ours), ratio: '' }, ...rows]
}

/** lucky_commit, where somebody has built it: its own benchmark is 2^28 hashes on all physical cores; here on one. */
function benchLucky(): SealRow[] {
  const started = performance.now()
  try {
    execFileSync('taskset', ['-c', '0', 'lucky_commit', '--benchmark'], { stdio: 'ignore' })
  } catch {
    return [{ what: 'sha1, one core: lucky_commit', value: 'not here', ratio: '' }]
  }
  const value = (2 ** 28 / (performance.now() - started)) * 1000
  const ratio = `the seal does ${times(rate(searches('sha1')) / value)}`
  return [{ what: 'sha1, one core: lucky_commit', value: perSecond(value), ratio }]
}

async function benchCores(): Promise<SealRow[]> {
  const cores = availableParallelism()
  const one = await threadedRate(1)
  const all = await threadedRate(cores)
  const cost = { blocksPerSecond: all.wall, blocksPerTry: 1 }
  return [
    { what: 'sha1, 1 thread', value: perSecond(one.wall), ratio: '' },
    {
      what: `sha1, ${cores} threads`,
      value: perSecond(all.wall),
      ratio: `${percent(all.wall / one.wall / cores)} of ${cores} times one thread`,
    },
    {
      what: `sha1, ${cores} threads, a second of CPU time`,
      value: perSecond(all.cpu),
      ratio: `${percent(all.cpu / one.cpu)} of one thread: what is missing to 100 %, the threads take from each other`,
    },
    ...[4, 5, 6].map((digits) => ({
      what: `expected for ${digits} digits`,
      value: `${expectedSeconds(digits, cost).toFixed(2)} s`,
      ratio: '',
    })),
  ]
}

/** 100 seals of 5 digits: their tries against the geometric distribution that theory gives. */
async function benchChance(): Promise<SealRow[]> {
  const tries: number[] = []
  for (let n = 0; n < SAMPLES; n++) tries.push(await triesOf(n))
  tries.sort((a, b) => a - b)
  const mean = tries.reduce((sum, count) => sum + count, 0) / SAMPLES
  const quantiles = [0.1, 0.25, 0.5, 0.75, 0.9].map((part) => {
    const theory = Math.log1p(-part) / Math.log1p(-1 / 16 ** 5)
    const what = `5 digits, ${SAMPLES} seals: ${percent(part)} took at most`
    return row(what, tries[Math.round(part * SAMPLES) - 1]!, theory)
  })
  return [row(`5 digits, ${SAMPLES} seals: mean`, mean, 16 ** 5), ...quantiles]
}

function row(what: string, measured: number, theory: number): SealRow {
  return { what, value: `${Math.round(measured)} tries`, ratio: `${times(measured / theory)} theory` }
}

async function triesOf(n: number): Promise<number> {
  const who = `Ada <ada@example.com> ${1_700_000_000 + n} +0000`
  const headers = `tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor ${who}\ncommitter ${who}\n`
  const commit = Buffer.from(`${headers}\nT-004: Add it\n\nTask: T-004\nSeal: a41f7\n`)
  const ports = { signal: new AbortController().signal, now: () => performance.now(), threads: 0 }
  const sealed = await sealCommit({ commit, prefix: 'a41f7', algorithm: 'sha1' }, ports)
  if (!sealed) throw new Error('nobody cancelled it')
  return sealed.tries
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

function searches(algorithm: 'sha1' | 'sha256'): () => number {
  const puzzle = unsolvable(algorithm)
  const searcher = searcherFor(puzzle)
  const piece = pieceSize(puzzle)
  let from = 0
  return () => {
    searcher(from, piece)
    from += piece
    return piece * 256
  }
}

/** The same work for node:crypto: a message that fills one block with its padding, another each time. */
function cryptoHashes(algorithm: string, digest: (data: Buffer) => Buffer): () => number {
  const data = Buffer.alloc(55)
  return () => {
    for (let n = 0; n < 1000; n++) {
      data.writeUInt32LE(data.readUInt32LE(0) + 1, 0)
      digest(data)
    }
    return 1000
  }
}

/** Its last column, in thousands of bytes a second; a message of 64 bytes is one hash. */
function opensslSpeed(algorithm: string): number {
  const out = execFileSync('openssl', ['speed', '-seconds', '1', '-bytes', '64', algorithm], {
    stdio: 'pipe',
  })
  return (Number(/([\d.]+)k\s*$/.exec(out.toString())?.[1]) * 1000) / 64
}

/**
 * Hashes a second of so many worker threads, by the clock and by the time they had a core, of the best of three
 * stretches. It begins with the second report: starting threads is not counted.
 */
async function threadedRate(threads: number): Promise<{ readonly wall: number; readonly cpu: number }> {
  let best = { wall: 0, cpu: 0 }
  for (let round = 0; round < 3; round++) {
    const stop = new AbortController()
    const reports: { readonly at: number; readonly cpu: number; readonly tries: number }[] = []
    const onTries = (tries: number) => {
      const { user, system } = process.cpuUsage()
      reports.push({ at: performance.now(), cpu: (user + system) / 1000, tries })
      if (reports.length === 11) stop.abort()
    }
    await search(unsolvable('sha1'), { threads, signal: stop.signal, onTries })
    const [first, last] = [reports[1]!, reports.at(-1)!]
    const done = (last.tries - first.tries) * 1000
    const measured = { wall: done / (last.at - first.at), cpu: done / (last.cpu - first.cpu) }
    if (measured.wall > best.wall) best = measured
  }
  return best
}

function unsolvable(algorithm: 'sha1' | 'sha256'): Puzzle {
  const midstate = new Int32Array(algorithm === 'sha1' ? 5 : 8)
  return { algorithm, midstate, block: new Uint8Array(64), at: 46, tail: new Uint8Array(0), mask: 0, want: 1 }
}

function perSecond(hashes: number): string {
  return `${(hashes / 1e6).toFixed(2)} M/s`
}

function times(factor: number): string {
  return `${factor.toFixed(factor < 10 ? 2 : 1)} ×`
}

function percent(part: number): string {
  return `${Math.round(part * 100)} %`
}

// Run alone: bundle it, and start the bundle by a name that begins like this file's.
if (/(?:^|[\\/])seal\.[cm]?js$/.test(process.argv[1] ?? '')) {
  for (const { what, value, ratio } of await benchSeal()) {
    process.stdout.write(`${what.padEnd(45)}${value.padStart(18)}   ${ratio}\n`)
  }
}
