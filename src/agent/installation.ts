import { Tail } from '../base/stream.ts'
import { findOnPath } from '../process/program.ts'
import { startProcess } from '../process/start.ts'
import type { AgentRequest } from './port.ts'
import { lastWords } from './providers/failure.ts'
import { oneLine } from './providers/tool-summary.ts'

/** An agent's program on this machine. */
export interface Installation {
  readonly path: string
  /** As its `--version` says; null where it says none in time. */
  readonly version: string | null
  /** The last that it said where it fails instead of telling its version, as on a Node that is too old for it; else null. */
  readonly failure: string | null
}

/** Where a program is asked for its version. */
export interface VersionQuestion {
  readonly cwd: string
  readonly env: AgentRequest['env']
  /** Aborting it ends the asking. */
  readonly signal?: AbortSignal
  readonly timeoutSeconds?: number
}

/** What is installed of an agent's program; null where it is not there, or none is needed. */
export async function installationOf(
  program: string | null,
  question: VersionQuestion,
): Promise<Installation | null> {
  const path = program === null ? null : findOnPath(program, question.env)
  return path === null ? null : { path, ...(await ask(path, question)) }
}

/** Whether that is the oldest version that is known to work, or a later one; null where it cannot be told. */
export function isNewEnough(version: string | null, minimum: string | null): boolean | null {
  if (minimum === null) return true
  if (version === null) return null
  const have = version.split('.').map(Number)
  for (const [place, least] of minimum.split('.').map(Number).entries()) {
    const part = have[place] ?? 0
    if (part !== least) return part > least
  }
  return true
}

async function ask(
  path: string,
  { cwd, env, signal, timeoutSeconds = 10 }: VersionQuestion,
): Promise<Pick<Installation, 'version' | 'failure'>> {
  const output = { stdout: new Tail(4096), stderr: new Tail(4096) }
  const running = startProcess(
    { program: path, args: ['--version'] },
    { cwd, env, signal, onOutput: (chunk, stream) => output[stream].push(chunk), killAfterSeconds: 1 },
  )
  const timer = setTimeout(() => running.end('now'), timeoutSeconds * 1000)
  const end = await running.finished
  clearTimeout(timer)
  if (end.kind === 'not-started') return { version: null, failure: end.reason }
  const said = `${output.stdout.text()}\n${output.stderr.text()}`
  // What it says of itself as it fails may name a version too: that of its Node.
  const failed = end.ended === null && end.code !== 0
  if (failed)
    return { version: null, failure: oneLine(lastWords(said)) || `it exits with ${end.code ?? end.signal}` }
  return { version: /\d+(?:\.\d+)+/.exec(said)?.[0] ?? null, failure: null }
}
