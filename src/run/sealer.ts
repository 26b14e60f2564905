import type { Trailer } from '../git/trailers.ts'

/** Makes a commit name itself: see the seal in `git/seal`. */
export interface Sealer {
  /** Digits that are free for the commit to begin with. */
  prefix(message: string): Promise<string>
  /** The line of the message that asks for them. */
  trailer(prefix: string): Trailer
  /** Seals the commit that HEAD is at, if its message asks for it; what HEAD is at then. */
  seal(head: SealRequest): Promise<SealResult>
}

export interface SealRequest {
  readonly commit: string
  /** Null for a detached HEAD. */
  readonly branch: string | null
  readonly onProgress: (seconds: number, expectedSeconds: number) => void
}

export interface SealResult {
  readonly commit: string
  /** Why it is not sealed; null where it is, or where nothing asked for it. */
  readonly problem: string | null
}
