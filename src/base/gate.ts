/** One of the project's own checks: a shell command that must exit with 0. */
export interface Gate {
  readonly name: string
  readonly command: string
  /** If false, its failure is only reported. */
  readonly required: boolean
  readonly timeoutSeconds: number
}

/** How one gate ended. */
export type Verdict = 'passed' | 'failed' | 'timed-out' | 'not-runnable' | 'interrupted'

/** How a gate ended. */
export interface GateResult {
  readonly gate: Gate
  readonly verdict: Verdict
  readonly seconds: number
  /** One sentence: how it ended. */
  readonly reason: string
  /** The program that it could not start, if its output names one. */
  readonly missing?: string
  /** The part of its output that is worth reading; empty if it passed. */
  readonly excerpt: string
  /** Equal for equal failures, ignoring times, line numbers and temporary folders; empty if it passed. */
  readonly fingerprint: string
}

/** Whether all required gates passed. */
export function gatesPassed(results: readonly GateResult[]): boolean {
  return results.every((result) => result.verdict === 'passed' || !result.gate.required)
}
