import type { RunPorts } from '../engine/ports.ts'

/** The questions that a run can ask a person. */
export interface Questions extends Pick<RunPorts, 'ask' | 'reply'> {
  /**
   * Asks whether to commit what is not committed and a run would read; null if nobody can be asked. The signal withdraws the
   * question.
   */
  readonly askToCommit: ((paths: readonly string[], signal: AbortSignal) => Promise<boolean>) | null
}

/** For a run without a person to ask. */
export const NO_QUESTIONS: Questions = { ask: null, askToCommit: null, reply: null }
