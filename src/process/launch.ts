import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { platform } from 'node:os'
import type { Duplex, Readable } from 'node:stream'
import { resolveProgram } from './program.ts'

/** What is run: a program with its arguments, or a command in the words of a POSIX shell. */
export type ProcessCommand =
  { readonly program: string; readonly args: readonly string[] } | { readonly shell: string }

/** A process; what it prints is heard, unless it has the terminal. */
export type Child = ChildProcessByStdio<null, Readable | null, Readable | null>

/** A child that runs, or a sentence that says why there is none. */
type Launch =
  { readonly child: Child & { readonly pid: number } } | { readonly failure: Promise<LaunchFailure> }

export interface LaunchFailure {
  readonly reason: string
  /** The program is not there, which installing it would mend. */
  readonly missing: boolean
}

/** One more stream that a process is given: a file to read, or one that leads back here. */
export type MoreStream = { readonly file: string } | { readonly take: (stream: Duplex) => void }

/** Where a process runs, and what it is given. */
interface LaunchPlace {
  readonly cwd: string
  readonly env: Record<string, string>
  /** What it reads as its standard input: a file has no pauses that could be taken for the end. Without one it has none. */
  readonly stdinFile: string | undefined
  /** Beyond its output and errors, by number from 3 on. */
  readonly more?: readonly MoreStream[] | undefined
  /** It has the streams of this process itself, which are a terminal's. */
  readonly handsOver?: boolean
}

/**
 * Starts a process in a session and a group of its own, so that it can be ended whole. One that is handed the terminal
 * stays in the group of this process: no other may read from it.
 */
export function launch(
  command: ProcessCommand,
  { cwd, env, stdinFile, more = [], handsOver = false }: LaunchPlace,
): Launch {
  const [program, args] = 'shell' in command ? ['sh', ['-c', command.shell]] : [command.program, command.args]
  const name = 'shell' in command ? 'the shell' : program
  const opened: number[] = []
  const open = (file: string): number => {
    const fd = openSync(file, 'r')
    opened.push(fd)
    return fd
  }
  try {
    const found = resolveProgram(program, args, { env })
    if ('reason' in found) return { failure: Promise.resolve(found) }
    const stdin = stdinFile === undefined ? 'ignore' : open(stdinFile)
    const others = more.map((stream) => ('file' in stream ? open(stream.file) : 'pipe'))
    const stdio: Stdio = handsOver ? ['inherit', 'inherit', 'inherit'] : [stdin, 'pipe', 'pipe']
    const child = spawnIn({ cwd, env, stdio: [...stdio, ...others], detached: !handsOver }, found)
    if (hasPid(child)) {
      for (const [index, stream] of more.entries())
        if ('take' in stream) stream.take(child.stdio[index + 3] as Duplex)
      return { child }
    }
    const failure = new Promise<LaunchFailure>((resolve) => {
      child.once('error', (error) => resolve(whyNot(error, name, cwd)))
    })
    return { failure }
  } catch (error) {
    // NUL in an argument, or an argument list that is too long for the system.
    return { failure: Promise.resolve(whyNot(error, name, cwd)) }
  } finally {
    for (const fd of opened) closeSync(fd)
  }
}

type Stdio = (number | 'ignore' | 'pipe' | 'inherit')[]

function spawnIn(
  place: {
    readonly cwd: string
    readonly env: Record<string, string>
    readonly stdio: Stdio
    readonly detached: boolean
  },
  { program, args }: { readonly program: string; readonly args: readonly string[] },
): Child {
  const options = { ...place, detached: place.detached && platform() !== 'win32', windowsHide: true }
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
