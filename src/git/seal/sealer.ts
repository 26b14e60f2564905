import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import type { Git } from '../git.ts'
import { signsCommits } from '../made-commit.ts'
import type { Trailer } from '../trailers.ts'
import type { Algorithm } from './block-hash.ts'
import { SEAL_KEY, wantedPrefix } from './commit-object.ts'
import { type SealPorts, sealCommit } from './seal-commit.ts'
import { UserError } from '../../base/errors.ts'
import { GROUP_SIZE, type Puzzle, expectedTries } from './puzzle.ts'
import { pieceSize } from './search.ts'
import { searcherFor } from './searcher.ts'

/** Seals the commits of one repository; asks git only once for the hash and the signing. */
export interface Sealer {
  /** Free digits for the hash of a commit with this message. */
  prefix(message: string): Promise<string>
  /** The last trailer of the message, which asks for these digits. */
  trailer(prefix: string): Trailer
  /**
   * The sealed form of a commit that no ref names yet: the commit itself if its message asks for no seal; null if the search
   * was interrupted.
   */
  sealed(
    commit: string,
    onProgress: (seconds: number, expectedSeconds: number) => void,
  ): Promise<string | null>
}

/** Opens the sealer for the setting `commit.digits`. */
export function openSealer(git: Git, digits: number | 'auto', ports: Omit<SealPorts, 'onProgress'>): Sealer {
  const algorithm = once(() => algorithmOf(git))
  const auto = async (message: string) => {
    const blocksPerTry = expectedBlocks(message, await signsCommits(git))
    // Measured each time, as the machine's load changes during a run.
    return digitsFor({ blocksPerSecond: measureSpeed(await algorithm(), ports), blocksPerTry })
  }
  return {
    prefix: async (message) => pickPrefix(git, digits === 'auto' ? await auto(message) : digits),
    trailer: (prefix) => ({ key: SEAL_KEY, value: prefix }),
    async sealed(hash, onProgress) {
      const commit = (await git.run(['cat-file', 'commit', hash])).stdout
      const prefix = wantedPrefix(commit)
      if (prefix === null || hash.startsWith(prefix)) return hash
      const sealed = await sealCommit(
        { commit, prefix, algorithm: await algorithm() },
        { ...ports, onProgress: ({ seconds, expectedSeconds }) => onProgress(seconds, expectedSeconds) },
      )
      if (!sealed) return null
      const { stdout } = await git.run(['hash-object', '-t', 'commit', '-w', '--stdin'], {
        stdin: sealed.commit,
      })
      const name = stdout.toString().trim()
      if (name !== sealed.hash) throw new Error(`git names the sealed commit ${name}, not ${sealed.hash}`)
      return name
    },
  }
}

async function algorithmOf(git: Git): Promise<Algorithm> {
  const { stdout } = await git.run(['rev-parse', '--show-object-format'])
  return stdout.toString().trim() === 'sha256' ? 'sha256' : 'sha1'
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  return () => (answer ??= ask())
}

const AT_ONCE = 32
const ROUNDS = 32

/** Picks digits with which no object of the repository begins, and which name no ref. */
async function pickPrefix(git: Git, digits: number): Promise<string> {
  for (let round = 0; round < ROUNDS; round++) {
    const wanted = randomPrefixes(digits)
    const stdin = wanted.map((prefix) => `${prefix}\n`).join('')
    const { stdout } = await git.run(['cat-file', '--batch-check'], { stdin })
    const answers = new Set(stdout.toString().split('\n'))
    const free = wanted.find((prefix) => answers.has(`${prefix} missing`))
    if (free !== undefined) return free
  }
  throw new UserError(
    `no commit can be named by ${digits} digits here: all are taken`,
    'set commit.digits to a higher number, or commit.seal to false',
  )
}

/** Random prefixes that no YAML reader takes for a number: with a letter, and not like 12e4567. */
function randomPrefixes(digits: number): readonly string[] {
  const all = Array.from({ length: AT_ONCE }, () => randomBytes(4).toString('hex').slice(0, digits))
  return all.filter((prefix) => !/^\d+(?:e\d+)?$/.test(prefix))
}

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
