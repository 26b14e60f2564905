import type { Git } from '../git.ts'
import type { Trailer } from '../trailers.ts'
import type { Algorithm } from './block-hash.ts'
import { SEAL_KEY } from './commit-object.ts'
import { digitsFor, expectedBlocks, measureSpeed } from './digits.ts'
import { pickPrefix } from './prefix.ts'
import { sealBranch, type SealOutcome } from './seal-branch.ts'
import type { SealPorts } from './seal-commit.ts'

/** Seals the commits of one repository; asks git only once for the hash and the signing. */
export interface Sealer {
  /** Free digits for the hash of a commit with this message. */
  prefix(message: string): Promise<string>
  /** The last trailer of the message, which asks for these digits. */
  trailer(prefix: string): Trailer
  /** Seals the commit at HEAD, if its message asks for it. */
  seal(head: SealedHead): Promise<SealReport>
}

/** The state of HEAD. */
export interface SealedHead {
  readonly commit: string
  /** Without `refs/heads/`; null for a detached HEAD. */
  readonly branch: string | null
  readonly onProgress: (seconds: number, expectedSeconds: number) => void
}

/** The state of HEAD after sealing, and why it is not sealed: null if it is, or if nothing asked for it. */
interface SealReport {
  readonly commit: string
  readonly problem: string | null
}

/** Opens the sealer for the setting `commit.digits`. */
export function openSealer(git: Git, digits: number | 'auto', ports: Omit<SealPorts, 'onProgress'>): Sealer {
  const algorithm = once(() => algorithmOf(git))
  const signed = once(() => signsCommits(git))
  const auto = async (message: string) => {
    const blocksPerTry = expectedBlocks(message, await signed())
    // Measured each time, as the machine's load changes during a run.
    return digitsFor({ blocksPerSecond: measureSpeed(await algorithm(), ports), blocksPerTry })
  }
  return {
    prefix: async (message) => pickPrefix(git, digits === 'auto' ? await auto(message) : digits),
    trailer: (prefix) => ({ key: SEAL_KEY, value: prefix }),
    async seal({ commit, branch, onProgress }) {
      const ref = branch === null ? 'HEAD' : `refs/heads/${branch}`
      const outcome = await sealBranch(
        git,
        { commit, ref, algorithm: await algorithm() },
        { ...ports, onProgress: ({ seconds, expectedSeconds }) => onProgress(seconds, expectedSeconds) },
      )
      return { commit: outcome.kind === 'sealed' ? outcome.hash : commit, problem: problemOf(outcome) }
    },
  }
}

function problemOf(outcome: SealOutcome): string | null {
  switch (outcome.kind) {
    case 'sealed':
    case 'nothing-to-seal':
      return null
    case 'pushed':
      return 'the commit is not sealed: it was pushed before it could be; ralph verify --fix mends the Commit field'
    case 'cancelled':
      return 'the commit is not sealed yet: the search for its seal was interrupted'
    case 'moved':
      return `the commit is not sealed: the branch ${outcome.to === null ? 'is gone' : `moved to ${outcome.to.slice(0, 10)} meanwhile`}; ralph verify --fix mends the Commit field`
  }
}

async function algorithmOf(git: Git): Promise<Algorithm> {
  const { stdout } = await git.run(['rev-parse', '--show-object-format'])
  return stdout.toString().trim() === 'sha256' ? 'sha256' : 'sha1'
}

async function signsCommits(git: Git): Promise<boolean> {
  const { stdout } = await git.run(['config', '--type=bool', '--default=false', '--get', 'commit.gpgSign'])
  return stdout.toString().trim() === 'true'
}

function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  return () => (answer ??= ask())
}
