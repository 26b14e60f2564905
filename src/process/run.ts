import { spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { startWithout } from './launch.ts'
import { listenFor, onAbort } from './sleep.ts'
import { childEnvironment, newMark, withMark, type Environment } from './mark.ts'
import { resolveProgram } from './program.ts'
import { ProcessTree } from './tree.ts'

/** A short program that is run for its output, such as git. */
interface ProgramRun {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Environment
  readonly stdin?: string | Uint8Array | undefined
  /** Takes what the program writes as it comes, instead of all of it at the end. */
  readonly onOutput?: ((chunk: Buffer) => void) | undefined
  /** Aborting it ends the program and what it has started. */
  readonly signal?: AbortSignal | undefined
}

export interface ProgramEnd {
  /** Null if a signal ended it. */
  readonly code: number | null
  readonly stdout: Buffer
  readonly stderr: Buffer
}

/** A program's children may hold its output open after its end: reading stops after this much silence. */
const SILENCE_MS = 50
const GRACE_SECONDS = 2

/** Runs a program to its end, in ralph's own session. Throws if it cannot be started. */
export async function runProgram(run: ProgramRun): Promise<ProgramEnd> {
  const { cwd, stdin, signal } = run
  const found = resolveProgram(run.program, run.args, run.env)
  if ('reason' in found) throw Object.assign(new Error(found.reason), { code: 'ENOENT' })
  // The mark is only needed to end the program.
  const mark = signal && newMark()
  const env = mark ? withMark(run.env, mark) : childEnvironment(run.env)
  const child = startWithout(
    ['pipe', 'pipe', 'pipe'],
    (stdio) => spawn(found.program, found.args, { cwd, env, stdio, windowsHide: true }) as Piped,
  )
  const output = { stdout: collect(child.stdout, run.onOutput), stderr: collect(child.stderr) }
  feed(child.stdin, stdin)
  const over = new AbortController()
  const end = (): void => {
    if (mark && child.pid !== undefined) void new ProcessTree(mark, child.pid).end(GRACE_SECONDS)
  }
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
      child.once('exit', (exit) => void untilSilent(output).then(() => resolve(exit)))
      if (signal) onAbort(signal, over.signal, end)
    })
    return { code, stdout: output.stdout.bytes(), stderr: output.stderr.bytes() }
  } finally {
    over.abort()
    child.stdout.destroy()
    child.stderr.destroy()
  }
}

type Piped = ReturnType<typeof spawn> & { stdin: Writable; stdout: Readable; stderr: Readable }

function collect(stream: Readable, take?: (chunk: Buffer) => void) {
  const chunks: Buffer[] = []
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (take) take(chunk)
    else chunks.push(chunk)
  })
  return { size: () => size, bytes: () => Buffer.concat(chunks) }
}

/** Waits, after the exit, until no output has come for a while. */
async function untilSilent({
  stdout,
  stderr,
}: Record<'stdout' | 'stderr', ReturnType<typeof collect>>): Promise<void> {
  for (let seen = -1; seen !== stdout.size() + stderr.size();) {
    seen = stdout.size() + stderr.size()
    await listenFor(SILENCE_MS)
  }
}

function feed(stream: Writable, input: string | Uint8Array | undefined): void {
  // A program that does not read all its input reports that itself.
  stream.on('error', () => undefined)
  stream.end(input)
}
