import type { Git } from '../git.ts'
import { signsCommits } from '../made-commit.ts'
import type { Trailer } from '../trailers.ts'
import type { Algorithm } from './block-hash.ts'
import { SEAL_KEY, wantedPrefix } from './commit-object.ts'
import { digitsFor, expectedBlocks, measureSpeed } from './digits.ts'
import { pickPrefix } from './prefix.ts'
import { sealCommit, type SealPorts } from './seal-commit.ts'

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
