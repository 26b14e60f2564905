/** One of the project's own checks: a shell command that must exit with 0. */
export interface Gate {
  readonly name: string
  readonly command: string
  /** Where false, a failure is reported and nothing more. */
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
  /** The program that it could not start, where its output says so. */
  readonly missing?: string
  /** What is worth reading of its output; empty where it passed. */
  readonly excerpt: string
  /** The same for the same failure, whatever its times, line numbers and temporary folders; empty where it passed. */
  readonly fingerprint: string
}

/** Whether nothing that is required stands in the way. */
export function gatesPassed(results: readonly GateResult[]): boolean {
  return results.every((result) => result.verdict === 'passed' || !result.gate.required)
}
