import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { devNull, platform } from 'node:os'
import type { Duplex, Readable } from 'node:stream'
import { resolveProgram } from './program.ts'
import type { Pty } from './terminal.ts'
import type { TerminalUse } from './start.ts'
import { messageOf, codeOf } from '../base/errors.ts'

/** What is run: a program with its arguments, or a command for a POSIX shell. */
export type ProcessCommand =
  { readonly program: string; readonly args: readonly string[] } | { readonly shell: string }

type Spawned = ChildProcessByStdio<null, Readable | null, Readable | null>

/** A running child process; its output is read, unless it has the terminal. */
export type Child = Spawned & { readonly pid: number }

/** A running child, or a sentence that says why there is none. */
type Launch = { readonly child: Child } | { readonly failure: LaunchFailure | Promise<LaunchFailure> }

export interface LaunchFailure {
  readonly reason: string
  /** Whether the program is not there, so that installing it would help. */
  readonly missing: boolean
}

/** One more stream for a process: a file to read, or a stream back to this process. */
export type MoreStream = { readonly file: string } | { readonly take: (stream: Duplex) => void }

/** Where a process runs, and its streams. */
interface LaunchPlace {
  readonly cwd: string
  readonly env: Record<string, string>
  /** Its standard input: a file, because a pause in a pipe could be taken for the end. Without it there is none. */
  readonly stdinFile: string | undefined
  /** More streams, numbered from 3. */
  readonly more?: readonly MoreStream[] | undefined
  readonly terminal?: TerminalUse | undefined
}

/**
 * Starts a process in its own session and group, so that it can be ended whole. A process that gets the person's terminal
 * stays in the group of this process: only that may read from the terminal.
 */
export function launch(
  command: ProcessCommand,
  { cwd, env, stdinFile, more = [], terminal }: LaunchPlace,
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
    const resolved = resolveProgram(program, args, env)
    if ('reason' in resolved) return { failure: resolved }
    const found =
      typeof terminal === 'object' ? seated(resolved, terminal, stdinFile !== undefined) : resolved
    const stdin = stdinFile === undefined ? 'ignore' : open(stdinFile)
    const others = more.map((stream) => ('file' in stream ? open(stream.file) : 'pipe'))
    const stdio = [...streamsFor(terminal, stdin), ...others]
    const child = spawnIn({ cwd, env, stdio, detached: terminal !== 'handed-over' }, found)
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
    // The cause is NUL in an argument, or an argument list that is too long for the system.
    return { failure: whyNot(error, name, cwd) }
  } finally {
    for (const fd of opened) closeSync(fd)
  }
}

/** The three standard streams. */
function streamsFor(terminal: TerminalUse | undefined, stdin: number | 'ignore'): Stdio {
  if (terminal === undefined) return [stdin, 'pipe', 'pipe']
  if (terminal === 'handed-over') return ['inherit', 'inherit', 'inherit']
  return [stdin === 'ignore' ? terminal.fd : stdin, terminal.fd, terminal.fd]
}

/**
 * A process that begins a session and then opens a terminal controls it, with Ctrl-C and changes of size; then it
 * becomes the program.
 */
const [SIT_DOWN, SIT_DOWN_READING] = [
  'exec 0<>"$1" 1>&0 2>&0; shift; exec "$@"',
  'exec 1<>"$1" 2>&1; shift; exec "$@"',
]

function seated({ program, args }: ResolvedProgram, { path }: Pty, hasInput: boolean): ResolvedProgram {
  const script = hasInput ? SIT_DOWN_READING : SIT_DOWN
  return { program: '/bin/sh', args: ['-c', script, 'sh', path, program, ...args] }
}

interface ResolvedProgram {
  readonly program: string
  readonly args: readonly string[]
}

type Stdio = (number | 'ignore' | 'pipe' | 'inherit')[]

function spawnIn(
  place: {
    readonly cwd: string
    readonly env: Record<string, string>
    readonly stdio: Stdio
    readonly detached: boolean
  },
  { program, args }: ResolvedProgram,
): Spawned {
  const detached = place.detached && platform() !== 'win32'
  return startWithout(place.stdio, (stdio) => {
    const options = { ...place, stdio, detached, windowsHide: true }
    // Its first stream is a file or nothing, which Node's types do not distinguish from a pipe.
    return spawn(program, args, options) as Spawned
  })
}

function hasPid(child: Spawned): child is Child {
  return child.pid !== undefined
}

function whyNot(error: unknown, program: string, cwd: string): LaunchFailure {
  const code = codeOf(error)
  // The system has one code for both.
  if (code === 'ENOENT' && !existsSync(cwd)) return failed(`the folder ${cwd} does not exist`)
  const syscall = error instanceof Error && 'syscall' in error ? error.syscall : undefined
  if (syscall === 'open') return failed(`what ${program} is to read cannot be opened (${String(code)})`)
  if (code === 'ENOENT') return { reason: `${program} was not found`, missing: true }
  if (code === 'EACCES') return failed(`${program} is not executable`)
  if (code === 'E2BIG') return failed(`${program} could not be started: its arguments are too long`)
  return failed(`${program} could not be started: ${messageOf(error)}`)
}

function failed(reason: string): LaunchFailure {
  return { reason, missing: false }
}

/** Both ends of the open terminals. By default every process that is started would inherit them. */
const ends = new Set<number>()

/** Keeps these from every process started from here on, until the returned function is called. */
export function keepFromChildren(fds: readonly number[]): () => void {
  for (const fd of fds) ends.add(fd)
  return () => {
    for (const fd of fds) ends.delete(fd)
  }
}

/** Starts a process with these streams and without the terminals' ends: Node has no other way to close them there. */
export function startWithout<Result>(streams: Readonly<Stdio>, start: (streams: Stdio) => Result): Result {
  if (ends.size === 0) return start([...streams])
  const nothing = openSync(devNull, 'r')
  try {
    const length = Math.max(streams.length, Math.max(...ends) + 1)
    const all = Array.from(
      { length },
      (_, fd): Stdio[number] => streams[fd] ?? (ends.has(fd) ? nothing : 'ignore'),
    )
    return start(all)
  } finally {
    closeSync(nothing)
  }
}
