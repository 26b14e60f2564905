import { platform } from 'node:os'
import type { Readable } from 'node:stream'
import type { CagedAction } from '../base/nouns.ts'
import { launch, type Child, type LaunchFailure, type MoreStream, type ProcessCommand } from './launch.ts'
import { newMark, withMark, type Environment } from './mark.ts'
import type { Pty } from './terminal.ts'
import { askSystem, type ProcessEntry } from './table.ts'
import { ProcessTree, sendSignal } from './tree.ts'
import { listenFor, onAbort, sleep } from './sleep.ts'

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
export const startProcess: StartProcess = (command, options) => begin(command, options)

/** Starts a process that is a cage around another one. */
export function startCage(command: ProcessCommand, options: ProcessOptions & CageOptions): Running {
  return begin(command, options)
}

function begin(command: ProcessCommand, options: ProcessOptions & Partial<CageOptions>): Running {
  const mark = newMark()
  const { cwd, env, stdinFile, more, terminal } = options
  const start = launch(command, { cwd, env: withMark(env, mark), stdinFile, more, terminal })
  if ('child' in start) return new RunningProcess(start.child, mark, options)
  if (typeof terminal === 'object') terminal.close()
  return notStarted(start.failure)
}

/** What stands for a process that could not be started. */
export function notStarted(failure: LaunchFailure | Promise<LaunchFailure>): Running {
  const finished = Promise.resolve(failure).then((why): ProcessEnd => ({ kind: 'not-started', ...why }))
  return { finished, pid: undefined, end: () => undefined }
}

/** A process from its start until nothing that it started is left. */
class RunningProcess implements Running {
  readonly finished: Promise<ProcessEnd>
  readonly pid: number
  readonly #options: ProcessOptions & Partial<CageOptions>
  readonly #tree: ProcessTree
  readonly #hurry = new AbortController()
  readonly #exit = new AbortController()
  #ended: EndMode | null = null

  constructor(child: Child, mark: string, options: ProcessOptions & Partial<CageOptions>) {
    this.#options = options
    this.pid = child.pid
    this.#tree = new ProcessTree(mark, child.pid)
    const exit = this.#exitOf(child)
    const drain = passOn(child, options, () => this.end('now'))
    this.finished = this.#live(exit, drain)
  }

  end(mode: EndMode): void {
    if (mode === 'now') this.#hurry.abort()
    if (this.#ended !== null || this.#exit.signal.aborted) return
    this.#ended = mode
    void this.#kill(mode)
  }

  async #live(exit: Promise<ProcessExit>, drain: () => Promise<void>): Promise<ProcessEnd> {
    const { signal: wish, killSignal } = this.#options
    const over = new AbortController()
    if (wish) onAbort(wish, over.signal, () => this.end(wish.reason === 'now' ? 'now' : 'interrupt'))
    if (killSignal) onAbort(killSignal, over.signal, () => this.end('now'))
    void this.#follow()
    const { code, signal } = await exit
    const graceSeconds = Math.min(LEFTOVER_SECONDS, this.#killAfterSeconds)
    const survivors = await this.#tree.end(graceSeconds, this.#hurry.signal)
    try {
      await drain()
    } finally {
      over.abort()
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

  /** Reads the tree regularly, so that a child is known before it can lose its parent. */
  async #follow(): Promise<void> {
    let pause = LOOK_MS
    for (;;) {
      await sleep(pause, this.#exit.signal)
      if (this.#exit.signal.aborted) return
      const before = performance.now()
      await this.#tree.read()
      pause = Math.max(LOOK_MS, (performance.now() - before) / LOOK_SHARE)
    }
  }

  async #kill(mode: EndMode): Promise<void> {
    // Before anything dies: a child of a dead parent is harder to find.
    const members = await this.#tree.read()
    if (mode === 'interrupt' && !this.#hurry.signal.aborted) {
      if (this.#options.isCage) {
        // The first process in a cage gets no TERM: the kernel drops signals that such a process does not handle.
        for (const { pid } of members) if (pid !== this.pid) sendSignal(pid, 'SIGTERM')
      } else this.#signalAll(members, 'SIGTERM')
      await sleep(this.#killAfterSeconds * 1000, AbortSignal.any([this.#exit.signal, this.#hurry.signal]))
    }
    if (this.#exit.signal.aborted) return
    this.#hurry.abort()
    this.#signalAll(members, 'SIGKILL')
  }

  /** Signals the whole group, or each member if the process has no group of its own. */
  #signalAll(members: readonly ProcessEntry[], signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.#exit.signal.aborted) return
    if (this.#options.terminal === 'handed-over')
      return [this, ...members].forEach(({ pid }) => sendSignal(pid, signal))
    if (platform() !== 'win32') return sendSignal(-this.pid, signal)
    // Without /F it asks windows to close, and a program in a terminal has none.
    void askSystem('taskkill.exe', ['/PID', String(this.pid), '/T', '/F'])
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

/**
 * Passes the output of a process on as it comes; that of a process with the person's terminal is not read. The returned
 * function passes on what is still in the pipes after the exit. It waits for silence, not for their end, which a process
 * that inherited them can delay for ever.
 */
function passOn(
  child: Child,
  { terminal, onOutput }: Pick<ProcessOptions, 'terminal' | 'onOutput'>,
  onFault: () => void,
): () => Promise<void> {
  // A terminal is one stream for all output.
  const pty = typeof terminal === 'object' ? terminal : null
  const streams = { stdout: pty?.stream ?? child.stdout, stderr: child.stderr }
  let bytes = 0
  let fault: { readonly error: unknown } | undefined
  const follow = (name: OutputStream, stream: Readable | null): void => {
    stream?.on('error', () => undefined)
    stream?.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (fault) return
      try {
        onOutput(chunk, name)
      } catch (error) {
        fault = { error }
        onFault()
      }
    })
  }
  follow('stdout', streams.stdout)
  follow('stderr', streams.stderr)
  const closed = new AbortController()
  if (!pty) child.once('close', () => closed.abort())
  return async () => {
    if (!streams.stdout) return
    const most = bytes + LEFT_BYTES
    for (;;) {
      const seen = bytes
      await listenFor(pty ? TERMINAL_SILENCE_MS : SILENCE_MS, closed.signal)
      if (bytes === seen || bytes >= most || closed.signal.aborted) break
    }
    if (pty) pty.close()
    else for (const stream of Object.values(streams)) stream?.destroy()
    if (fault) throw fault.error
  }
}
