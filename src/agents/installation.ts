import { Tail } from '../base/stream.ts'
import { findOnPath } from '../process/program.ts'
import { startProcess } from '../process/start.ts'
import type { AgentRequest } from './port.ts'
import { lastWords, oneLine } from './providers/failure.ts'

/** An agent's program on this machine. */
interface Installation {
  readonly path: string
  /** The version from `--version`; null if there is none in time. */
  readonly version: string | null
  /** The last line of its output if `--version` failed, as on a Node that is too old for it; else null. */
  readonly failure: string | null
}

/** The installation of an agent's program; null if it is not installed, or none is needed. */
export async function installationOf(
  program: string | null,
  {
    cwd,
    env,
    signal,
    timeoutSeconds = 10,
  }: { cwd: string; env: AgentRequest['env']; signal?: AbortSignal; timeoutSeconds?: number },
): Promise<Installation | null> {
  const path = program === null ? null : findOnPath(program, env)
  if (path === null) return null
  const output = { stdout: new Tail(4096), stderr: new Tail(4096) }
  const running = startProcess(
    { program: path, args: ['--version'] },
    { cwd, env, signal, onOutput: (chunk, stream) => output[stream].push(chunk), killAfterSeconds: 1 },
  )
  const timer = setTimeout(() => running.end('now'), timeoutSeconds * 1000)
  const end = await running.finished
  clearTimeout(timer)
  if (end.kind === 'not-started') return { path, version: null, failure: end.reason }
  const text = `${output.stdout.text()}\n${output.stderr.text()}`
  // An error message may name a version too: that of Node.
  const isFailed = end.ended === null && end.code !== 0
  const failure = oneLine(lastWords(text)) || `it exits with ${end.code ?? end.signal}`
  const version = /\d+(?:\.\d+)+/.exec(text)?.[0] ?? null
  return isFailed ? { path, version: null, failure } : { path, version, failure: null }
}

/** Whether it is at least the oldest version that is known to work; null if it is unknown. */
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
