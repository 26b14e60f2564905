import { platform } from 'node:os'
import type { Readable } from 'node:stream'
import type { CagedAction } from '../base/nouns.ts'
import { launch, type Child, type LaunchFailure, type MoreStream, type ProcessCommand } from './launch.ts'
import { newMark, withMark, type Environment } from './mark.ts'
import type { Pty } from './terminal.ts'
import { askSystem, type ProcessEntry } from './table.ts'
import { ProcessTree, sendSignal } from './tree.ts'
import { sleep, listenFor } from './sleep.ts'

export interface ProcessOptions {
  readonly cwd: string
  readonly env: Environment
  /** The file of its standard input; without it there is none, or that of its terminal. */
  readonly stdinFile?: string | undefined
  readonly onOutput: OnOutput
  /** Aborting it ends the process: with `'now'` as its reason by KILL at once, otherwise with TERM first. */
  readonly signal?: AbortSignal | undefined
  /** Aborting it kills the process at once, also if it is already being ended. */
  readonly killSignal?: AbortSignal | undefined
  /** The time between TERM and KILL; 5 by default. */
  readonly killAfterSeconds?: number | undefined
  /** A folder of more files to read: a cage must show it. */
  readonly readable?: string | undefined
  /** Paths outside its workspace that it may write: a cage must allow them. */
  readonly writable?: readonly string[] | undefined
  /** Its terminal; without one its output comes through pipes. */
  readonly terminal?: TerminalUse | undefined
  /** Gets each action that a cage refused. */
  readonly onCaged?: ((action: CagedAction) => void) | undefined
}

/** What starting a cage needs besides. */
interface CageOptions {
  readonly more: readonly MoreStream[]
  /** The started process is the cage itself: TERM would end it with all that is in it. */
  readonly isCage: true
}

/** `handed-over`: the person's terminal, in which the process shares this process's group; or a terminal that ralph made. */
export type TerminalUse = 'handed-over' | Pty

/** `interrupt` is TERM, then KILL; `now` is KILL. */
export type EndMode = 'interrupt' | 'now'

/** The end of a process. Nothing that it started is alive, except `survivors`. */
export type ProcessEnd =
  | {
      readonly kind: 'exited'
      readonly code: number | null
      readonly signal: NodeJS.Signals | null
      /** How ralph ended it; null if ralph did not. */
      readonly ended: EndMode | null
      readonly survivors: readonly number[]
      /** The hosts that its cage refused, if it asked for no allowed one. */
      readonly refusedHosts?: readonly string[]
    }
  | ({ readonly kind: 'not-started' } & LaunchFailure)

interface ProcessExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** The time between TERM and KILL for what a process leaves behind when it ends by itself. */
const LEFTOVER_SECONDS = 1
/** KILL cannot end a process that hangs inside the kernel: after this time it is named a survivor. */
const GIVE_UP_SECONDS = 5
/** How often the tree of a running process is read, and the share of time that this may take. */
const LOOK_MS = 1000
const LOOK_SHARE = 0.02

/**
 * The only way to start an agent, a gate or what may start more processes: here with pipes; a terminal or a sandbox
 * has its own.
 */
export type StartProcess = (command: ProcessCommand, options: ProcessOptions) => Running

/** A started process; `finished` resolves when it and all that it started have ended. */
export interface Running {
  /** Rejects only with what `onOutput` threw. */
  readonly finished: Promise<ProcessEnd>
  /** Undefined if it could not be started. */
  readonly pid: number | undefined
  /** Ends the process and all that it started; `now` also speeds up an end under way. */
  end(mode: EndMode): void
}

/** Starts a process whose output comes through pipes. */
export const startProcess: StartProcess = (command, options) => new RunningProcess(command, options)

/** Starts a process that is a cage around another one. */
export function startCage(command: ProcessCommand, options: ProcessOptions & CageOptions): Running {
  return new RunningProcess(command, options)
}

/** A process from its start until nothing that it started is left. */
class RunningProcess implements Running {
  readonly finished: Promise<ProcessEnd>
  readonly pid: number | undefined
  readonly #options: ProcessOptions & Partial<CageOptions>
  readonly #kill: (mode: EndMode) => void
  readonly #hurry = new AbortController()
  readonly #exit = new AbortController()
  #ended: EndMode | null = null

  constructor(command: ProcessCommand, options: ProcessOptions & Partial<CageOptions>) {
    this.#options = options
    const mark = newMark()
    const { cwd, env, stdinFile, more, terminal } = options
    const start = launch(command, { cwd, env: withMark(env, mark), stdinFile, more, terminal })
    if ('failure' in start) {
      this.#kill = () => undefined
      if (typeof terminal === 'object') terminal.close()
      this.finished = start.failure.then((failure) => ({ kind: 'not-started', ...failure }))
      return
    }
    this.pid = start.child.pid
    const tree = new ProcessTree(mark, this.pid)
    const exit = this.#exitOf(start.child)
    const pipes = new Pipes(sourcesOf(start.child, terminal), options.onOutput, () => this.end('now'))
    this.#kill = (mode) => void this.#killing(start.child.pid, tree, mode)
    this.finished = this.#live(exit, tree, pipes)
  }

  end(mode: EndMode): void {
    if (mode === 'now') this.#hurry.abort()
    if (this.#ended !== null || this.#exit.signal.aborted) return
    this.#ended = mode
    this.#kill(mode)
  }

  async #live(exit: Promise<ProcessExit>, tree: ProcessTree, pipes: Pipes): Promise<ProcessEnd> {
    const forget = this.#obey()
    void this.#follow(tree)
    const { code, signal } = await exit
    const graceSeconds = Math.min(LEFTOVER_SECONDS, this.#killAfterSeconds)
    const survivors = await tree.end(graceSeconds, this.#hurry.signal)
    try {
      await pipes.drain()
    } finally {
      forget()
    }
    return { kind: 'exited', code, signal, ended: this.#ended, survivors: survivors.map(({ pid }) => pid) }
  }

  get #killAfterSeconds(): number {
    return this.#options.killAfterSeconds ?? 5
  }

  /** `exit`, not `close`: a grandchild that holds the pipes open would delay `close`. */
  #exitOf(child: Child): Promise<ProcessExit> {
    return new Promise((resolve) => {
      const settle = (exit: ProcessExit) => {
        this.#exit.abort()
        resolve(exit)
      }
      child.once('exit', (code, signal) => settle({ code, signal }))
      this.#hurry.signal.addEventListener('abort', () => {
        void sleep(GIVE_UP_SECONDS * 1000, this.#exit.signal).then(() => settle({ code: null, signal: null }))
      })
    })
  }

  /** Obeys the abort signals; the returned function stops that. */
  #obey(): () => void {
    const { signal, killSignal } = this.#options
    const interrupt = () => this.end(signal?.reason === 'now' ? 'now' : 'interrupt')
    const kill = () => this.end('now')
    if (signal?.aborted) interrupt()
    if (killSignal?.aborted) kill()
    signal?.addEventListener('abort', interrupt)
    killSignal?.addEventListener('abort', kill)
    return () => {
      signal?.removeEventListener('abort', interrupt)
      killSignal?.removeEventListener('abort', kill)
    }
  }

  /** Reads the tree regularly, so that a child is known before it can lose its parent. */
  async #follow(tree: ProcessTree): Promise<void> {
    let pause = LOOK_MS
    for (;;) {
      await sleep(pause, this.#exit.signal)
      if (this.#exit.signal.aborted) return
      const before = performance.now()
      await tree.read()
      pause = Math.max(LOOK_MS, (performance.now() - before) / LOOK_SHARE)
    }
  }

  async #killing(pid: number, tree: ProcessTree, mode: EndMode): Promise<void> {
    // Before anything dies: a child of a dead parent is harder to find.
    const members = await tree.read()
    if (mode === 'interrupt' && !this.#hurry.signal.aborted) {
      if (this.#options.isCage) {
        // The first process in a cage gets no TERM: the kernel drops signals that such a process does not handle.
        for (const member of members) if (member.pid !== pid) sendSignal(member.pid, 'SIGTERM')
      } else this.#signalAll(pid, members, 'SIGTERM')
      await sleep(this.#killAfterSeconds * 1000, AbortSignal.any([this.#exit.signal, this.#hurry.signal]))
    }
    if (this.#exit.signal.aborted) return
    this.#hurry.abort()
    this.#signalAll(pid, members, 'SIGKILL')
  }

  /** Signals the whole group, or each member if the process has no group of its own. */
  #signalAll(pid: number, members: readonly ProcessEntry[], signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.#exit.signal.aborted) return
    if (this.#options.terminal === 'handed-over')
      return [pid, ...members.map((member) => member.pid)].forEach((one) => sendSignal(one, signal))
    if (platform() !== 'win32') return sendSignal(-pid, signal)
    // Without /F it asks windows to close, and a program in a terminal has none.
    void askSystem('taskkill.exe', ['/PID', String(pid), '/T', '/F'])
  }
}

type OutputStream = 'stdout' | 'stderr'

/** Gets each chunk at once. */
type OnOutput = (chunk: Uint8Array, stream: OutputStream) => void

/** After the exit: how long a pipe that somebody still holds open may be silent. */
const SILENCE_MS = 300
/** The same for a terminal, which reports no end while ralph has it open: what is left in it comes at once. */
const TERMINAL_SILENCE_MS = 60
/** More than any pipe can hold after the exit: the rest is written by a process that escaped. */
const LEFT_BYTES = 4 * 1024 * 1024

/** The streams of a process's output, when they have ended, and how to close them. */
type Sources = ReturnType<typeof sourcesOf>

/** A terminal is one stream for all output; the output of a process with the person's terminal is not read. */
function sourcesOf(child: Child, terminal: TerminalUse | undefined) {
  const streams = new Map<OutputStream, Readable>()
  if (typeof terminal === 'object') streams.set('stdout', terminal.stream)
  if (child.stdout) streams.set('stdout', child.stdout)
  if (child.stderr) streams.set('stderr', child.stderr)
  if (typeof terminal === 'object')
    return {
      streams,
      closed: new Promise<void>(() => undefined),
      silenceMs: TERMINAL_SILENCE_MS,
      close: () => terminal.close(),
    }
  return {
    streams,
    closed: new Promise<void>((resolve) => child.once('close', () => resolve())),
    silenceMs: SILENCE_MS,
    close: () => streams.forEach((stream) => stream.destroy()),
  }
}

/** The output of a process, passed on as it comes. A process with the person's terminal has none. */
class Pipes {
  readonly #sources: Sources
  #bytes = 0
  #fault: { readonly error: unknown } | undefined

  constructor(sources: Sources, onOutput: OnOutput, onFault: () => void) {
    this.#sources = sources
    for (const [name, stream] of sources.streams) {
      stream.on('data', (chunk: Buffer) => {
        this.#bytes += chunk.length
        if (this.#fault) return
        try {
          onOutput(chunk, name)
        } catch (error) {
          this.#fault = { error }
          onFault()
        }
      })
      stream.on('error', () => undefined)
    }
  }

  /**
   * After the exit: passes on what is still in the pipes. It waits for silence, not for their end, which a process that
   * inherited them can delay for ever.
   */
  async drain(): Promise<void> {
    const { streams, closed, silenceMs, close } = this.#sources
    if (streams.size === 0) return
    const silence = new AbortController()
    void closed.then(() => silence.abort())
    const most = this.#bytes + LEFT_BYTES
    for (let seen = -1; seen !== this.#bytes && this.#bytes < most && !silence.signal.aborted;) {
      seen = this.#bytes
      await listenFor(silenceMs, silence.signal)
    }
    close()
    if (this.#fault) throw this.#fault.error
  }
}
