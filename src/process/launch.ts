import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { platform } from 'node:os'
import type { Readable } from 'node:stream'
import { resolveProgram } from './program.ts'

/** What is run: a program with its arguments, or a command in the words of a POSIX shell. */
export type ProcessCommand =
  { readonly program: string; readonly args: readonly string[] } | { readonly shell: string }

/** A process whose output is heard. */
export type Child = ChildProcessByStdio<null, Readable, Readable>

/** A child that runs, or a sentence that says why there is none. */
type Launch =
  { readonly child: Child & { readonly pid: number } } | { readonly failure: Promise<LaunchFailure> }

export interface LaunchFailure {
  readonly reason: string
  /** The program is not there, which installing it would mend. */
  readonly missing: boolean
}

/** Where a process runs, and what it is given. */
interface LaunchPlace {
  readonly cwd: string
  readonly env: Record<string, string>
  /** What it reads as its standard input: a file has no pauses that could be taken for the end. Without one it has none. */
  readonly stdinFile: string | undefined
}

/** Starts a process in a session and a group of its own, so that it can be ended whole. */
export function launch(command: ProcessCommand, { cwd, env, stdinFile }: LaunchPlace): Launch {
  const [program, args] = 'shell' in command ? ['sh', ['-c', command.shell]] : [command.program, command.args]
  const name = 'shell' in command ? 'the shell' : program
  let stdin: number | undefined
  try {
    const found = resolveProgram(program, args, { env })
    if ('reason' in found) return { failure: Promise.resolve(found) }
    stdin = stdinFile === undefined ? undefined : openSync(stdinFile, 'r')
    const child = spawnIn({ cwd, env, stdio: [stdin ?? 'ignore', 'pipe', 'pipe'] }, found)
    if (hasPid(child)) return { child }
    const failure = new Promise<LaunchFailure>((resolve) => {
      child.once('error', (error) => resolve(whyNot(error, name, cwd)))
    })
    return { failure }
  } catch (error) {
    // NUL in an argument, or an argument list that is too long for the system.
    return { failure: Promise.resolve(whyNot(error, name, cwd)) }
  } finally {
    if (stdin !== undefined) closeSync(stdin)
  }
}

type Stdio = [stdin: number | 'ignore', stdout: 'pipe', stderr: 'pipe']

function spawnIn(
  place: { readonly cwd: string; readonly env: Record<string, string>; readonly stdio: Stdio },
  { program, args }: { readonly program: string; readonly args: readonly string[] },
): Child {
  const options = { ...place, detached: platform() !== 'win32', windowsHide: true }
  // Its first stream is a file or nothing, which the types of Node cannot tell from a pipe.
  return spawn(program, args, options) as Child
}

function hasPid(child: Child): child is Child & { readonly pid: number } {
  return child.pid !== undefined
}

function whyNot(error: unknown, program: string, cwd: string): LaunchFailure {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  // The system gives one code for both.
  if (code === 'ENOENT' && !existsSync(cwd)) return failed(`the folder ${cwd} does not exist`)
  const syscall = error instanceof Error && 'syscall' in error ? error.syscall : undefined
  if (syscall === 'open') return failed(`what ${program} is to read cannot be opened (${String(code)})`)
  if (code === 'ENOENT') return { reason: `${program} was not found`, missing: true }
  if (code === 'EACCES') return failed(`${program} is not executable`)
  if (code === 'E2BIG') return failed(`${program} could not be started: its arguments are too long`)
  const told = error instanceof Error ? error.message : String(error)
  return failed(`${program} could not be started: ${told}`)
}

function failed(reason: string): LaunchFailure {
  return { reason, missing: false }
}
