import { failedText } from '../../base/failure-lines.ts'
import { formatDuration } from '../../base/time.ts'
import type { CagedAction, Gate, GateResult, Verdict } from '../../base/nouns.ts'
import type { ProcessEnd, StartProcess } from '../../process/start.ts'
import { FailureOutput } from './failure-output.ts'
import { runsPart } from './test-counts.ts'

export interface GateContext {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** Aborting it kills at once what an interrupted gate still has running. */
  readonly killSignal?: AbortSignal | undefined
  /** Gets each chunk of the output as it is printed. */
  readonly log: (chunk: Uint8Array) => void
  /** Gets each action that a cage refused. */
  readonly onCaged?: ((action: CagedAction) => void) | undefined
  /** The time between TERM and KILL; 5 by default. */
  readonly killAfterSeconds?: number | undefined
}

/** Runs one gate; when it resolves, no process of the gate is alive. */
export type RunGate = (gate: Gate, context: GateContext) => Promise<GateResult>

/** Makes a runner that starts gates as processes in this way. */
export function gateRunner(start: StartProcess): RunGate {
  return (gate, context) => runGate(gate, context, start)
}

async function runGate(gate: Gate, context: GateContext, start: StartProcess): Promise<GateResult> {
  const begun = performance.now()
  const output = new FailureOutput()
  const running = start(
    { shell: inOneStream(gate.command) },
    {
      ...context,
      onOutput: (chunk) => {
        context.log(chunk)
        output.push(chunk)
      },
    },
  )
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    running.end('interrupt')
  }, gate.timeoutSeconds * 1000)
  const end = await running.finished.finally(() => clearTimeout(timer))
  output.end()
  const isInterrupted = context.signal.aborted || context.killSignal?.aborted === true
  const judged = judge(gate, end, { timedOut, isInterrupted })
  const seconds = (performance.now() - begun) / 1000
  const tests = runsPart(gate.command) ? null : output.tests
  if (judged.verdict === 'passed') return { gate, seconds, ...judged, tests, excerpt: '', fingerprint: '' }
  // The folder is ralph's own: people and agents know the paths from the project's root.
  const excerpt = output.excerpt().replaceAll(`file://${context.cwd}/`, '').replaceAll(`${context.cwd}/`, '')
  const code = end.kind === 'exited' && !timedOut && !isInterrupted ? end.code : null
  const missing = missingIn(excerpt, code)
  const { verdict, reason } =
    missing === null
      ? { ...judged, reason: (code === null ? null : failedText(excerpt)) ?? judged.reason }
      : { verdict: 'not-runnable' as const, reason: `${missing} was not found (exit code ${code})` }
  return {
    gate,
    verdict,
    seconds,
    reason,
    tests,
    ...(missing === null ? {} : { missing }),
    excerpt,
    fingerprint: fingerprint(gate, verdict, output),
  }
}

/** With two pipes the order of the lines, and so the excerpt, would be random. */
function inOneStream(command: string): string {
  return `exec 2>&1\n${command}`
}

/** Where a gate is when its time is over is random, so its output does not count then. */
function fingerprint(gate: Gate, verdict: Verdict, output: FailureOutput): string {
  const unread = verdict === 'timed-out' || verdict === 'interrupted'
  return (unread ? new FailureOutput() : output).fingerprint(`${gate.name} ${verdict}`)
}

interface Judgement {
  readonly verdict: Verdict
  readonly reason: string
}

function judge(
  gate: Gate,
  end: ProcessEnd,
  { timedOut, isInterrupted }: { timedOut: boolean; isInterrupted: boolean },
): Judgement {
  if (end.kind === 'not-started') return { verdict: 'not-runnable', reason: end.reason }
  if (end.ended !== null && timedOut) {
    return { verdict: 'timed-out', reason: `took longer than ${formatDuration(gate.timeoutSeconds)}` }
  }
  if (end.ended !== null && isInterrupted) return { verdict: 'interrupted', reason: 'was interrupted' }
  if (end.signal !== null) return { verdict: 'failed', reason: `was ended by ${end.signal}` }
  return judgeCode(end.code)
}

/** The shell's own exit codes for what it cannot run: POSIX, XCU 2.8.2. */
function judgeCode(code: number | null): Judgement {
  switch (code) {
    case 0:
      return { verdict: 'passed', reason: 'passed' }
    case 126:
      return { verdict: 'not-runnable', reason: 'its command is not executable (exit code 126)' }
    case 127:
      return { verdict: 'not-runnable', reason: 'its command was not found (exit code 127)' }
    default:
      return { verdict: 'failed', reason: `exited with code ${code}` }
  }
}

/** Letters of a program's name or path. */
const NAME = '[\\w./+@-]+'
/** What shells, make, env and yarn print for a program that they do not find. */
const COMPLAINTS = [
  // dash and busybox, bash: `sh: 1: vitest: not found`, `sh: line 1: vitest: command not found`
  `(?:[\\w./-]*sh|[^\\s:]+):(?: (?:line )?\\d+:)? (${NAME}): (?:command )?not found`,
  `(?:zsh:\\d+: )?command not found: (${NAME})`,
  `make(?:\\[\\d+\\])?: (${NAME}): No such file or directory`,
  `(?:/usr/bin/)?env: [‘'"]?(${NAME})[’'"]?: No such file or directory`,
].map((pattern) => new RegExp(`^${pattern}$`))
/** How make, npm, pnpm and yarn pass that on. */
const PASSED_ON = /\b(?:Error|code|status) 127\b|\bspawn ENOENT\b/

/**
 * The program that a gate could not start, found in the last lines of its output; null if it failed for another
 * reason. With another exit code than the shell's own, a later line must show that a tool in between passed that one on.
 */
export function missingIn(output: string, code: number | null): string | null {
  if (code === 0 || code === null) return null
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .slice(-MOST_AFTER)
  const at = lines.findLastIndex((line) => programMissingIn(line) !== null)
  if (at === -1 || (code !== 127 && !lines.slice(at + 1).some((line) => PASSED_ON.test(line)))) return null
  return programMissingIn(lines[at]!)
}

/** npm and similar tools print this many lines after it at most. */
const MOST_AFTER = 20

function programMissingIn(line: string): string | null {
  for (const complaint of COMPLAINTS) {
    const name = complaint.exec(line)?.[1]
    if (name !== undefined) return name
  }
  return null
}
