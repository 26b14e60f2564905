import { platform } from 'node:os'
import type { CagedAction } from '../events/caged.ts'
import { type Child, launch, type LaunchFailure, type MoreStream, type ProcessCommand } from './launch.ts'
import { newMark, withMark, type Environment } from './mark.ts'
import { Pipes, sourcesOf, type OnOutput } from './pipes.ts'
import type { Pty } from './pty.ts'
import { askSystem, type ProcessEntry } from './table.ts'
import { ProcessTree, sendSignal } from './tree.ts'
import { sleep } from './sleep.ts'

export interface ProcessOptions {
  readonly cwd: string
  readonly env: Environment
  /** What the process reads as its standard input; without one it has none, or the terminal that it is given. */
  readonly stdinFile?: string | undefined
  readonly onOutput: OnOutput
  /** Aborting it ends the process: with `'now'` as its reason at once, otherwise TERM first. */
  readonly signal?: AbortSignal | undefined
  /** Aborting it ends the process at once, also where it is being ended already. */
  readonly killSignal?: AbortSignal | undefined
  /** Between TERM and KILL; 5 by default. */
  readonly killAfterSeconds?: number | undefined
  /** A folder of what it is given to read, besides its standard input: in a cage it would not find it. */
  readonly handed?: string | undefined
  /** What it may write besides its workspace: in a cage it could not. */
  readonly writable?: readonly string[] | undefined
  /** Without it what the process prints comes through pipes. */
  readonly terminal?: TerminalUse | undefined
  /** Hears of each action that a cage refused. */
  readonly onCaged?: ((action: CagedAction) => void) | undefined
}

/** What a cage adds to a process. */
interface CageOptions {
  readonly more: readonly MoreStream[]
  /** The process that is started is the cage itself, which TERM would end with all that is in it. */
  readonly isCage: true
}

/** `handed-over`: the terminal of this process, in whose group the other one stays; or one of ralph's own making. */
export type TerminalUse = 'handed-over' | Pty

/** `interrupt` is TERM, then KILL; `now` is KILL. */
export type EndMode = 'interrupt' | 'now'

/** How a process went. Nothing that it started is alive any more, save what `survivors` names. */
export type ProcessEnd =
  | {
      readonly kind: 'exited'
      readonly code: number | null
      readonly signal: NodeJS.Signals | null
      /** Whether we ended it. */
      readonly ended: EndMode | null
      readonly survivors: readonly number[]
      /** The hosts that its cage refused, where it asked for no other. */
      readonly refusedHosts?: readonly string[]
    }
  | ({ readonly kind: 'not-started' } & LaunchFailure)

interface ProcessExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** What a process leaves behind though it ended by itself has this long between TERM and KILL. */
const LEFTOVER_SECONDS = 1
/** KILL cannot end a process that hangs inside the kernel: after this it is named a survivor. */
const GIVE_UP_SECONDS = 5
/** How often the tree of a running process is looked at, and the share of the time that this may take. */
const LOOK_MS = 1000
const LOOK_SHARE = 0.02

/** The one way to start an agent, a gate or what else may start more: pipes here; a terminal or a sandbox is another. */
export type StartProcess = (command: ProcessCommand, options: ProcessOptions) => Running

/** A process that was started; its end, and that of all that it starts, is what `finished` resolves to. */
export interface Running {
  /** Fails only with what `onOutput` threw. */
  readonly finished: Promise<ProcessEnd>
  /** Undefined where it could not be started. */
  readonly pid: number | undefined
  readonly state: 'started' | 'killing' | 'stopped'
  /** Ends the process and all that it started; `now` also hurries an end that is under way. */
  end(mode: EndMode): void
}

/** Starts a process whose output comes through pipes. */
export const startProcess: StartProcess = (command, options) => new RunningProcess(command, options)

/** Starts a process that is a cage around another one. */
export function startCage(command: ProcessCommand, options: ProcessOptions & CageOptions): Running {
  return new RunningProcess(command, options)
}

/** A process from its start until nothing of it is left. */
class RunningProcess implements Running {
  readonly finished: Promise<ProcessEnd>
  readonly pid: number | undefined
  readonly #options: ProcessOptions & Partial<CageOptions>
  readonly #kill: (mode: EndMode) => void
  readonly #hurry = new AbortController()
  readonly #exit = new AbortController()
  #state: 'started' | 'killing' | 'stopped' = 'started'
  #ended: EndMode | null = null

  constructor(command: ProcessCommand, options: ProcessOptions & Partial<CageOptions>) {
    this.#options = options
    const mark = newMark()
    const { cwd, env, stdinFile, more, terminal } = options
    const start = launch(command, { cwd, env: withMark(env, mark), stdinFile, more, terminal })
    if ('failure' in start) {
      this.#state = 'stopped'
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

  get state(): 'started' | 'killing' | 'stopped' {
    return this.#state
  }

  end(mode: EndMode): void {
    if (this.#state === 'stopped') return
    if (mode === 'now') this.#hurry.abort()
    if (this.#state === 'killing' || this.#exit.signal.aborted) return
    this.#state = 'killing'
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
      await pipes.drain(this.#hurry.signal)
    } finally {
      forget()
      this.#state = 'stopped'
    }
    return { kind: 'exited', code, signal, ended: this.#ended, survivors: survivors.map(({ pid }) => pid) }
  }

  get #killAfterSeconds(): number {
    return this.#options.killAfterSeconds ?? 5
  }

  /** `exit`, not `close`: a grandchild that holds the pipes would put that off. */
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

  /** Obeys the signals that it was handed; returns what ends that. */
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

  /** Keeps an eye on who belongs, so that a child is known before it can lose its parent. */
  async #follow(tree: ProcessTree): Promise<void> {
    let pause = LOOK_MS
    for (;;) {
      await sleep(pause, this.#exit.signal)
      if (this.#exit.signal.aborted) return
      const before = performance.now()
      await tree.look()
      pause = Math.max(LOOK_MS, (performance.now() - before) / LOOK_SHARE)
    }
  }

  async #killing(pid: number, tree: ProcessTree, mode: EndMode): Promise<void> {
    // Before anything dies: a child of a dead parent is harder to tell.
    const members = await tree.look()
    if (mode === 'interrupt' && !this.#hurry.signal.aborted) {
      if (this.#options.isCage) {
        // The first process inside of a cage takes no TERM: the kernel keeps it from who has no use for it.
        for (const member of members) if (member.pid !== pid) sendSignal(member.pid, 'SIGTERM')
      } else this.#signalAll(pid, members, 'SIGTERM')
      await sleep(this.#killAfterSeconds * 1000, AbortSignal.any([this.#exit.signal, this.#hurry.signal]))
    }
    if (this.#exit.signal.aborted) return
    this.#hurry.abort()
    this.#signalAll(pid, members, 'SIGKILL')
  }

  /** The whole group, where it has one of its own. */
  #signalAll(pid: number, members: readonly ProcessEntry[], signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.#exit.signal.aborted) return
    if (this.#options.terminal === 'handed-over')
      return [pid, ...members.map((member) => member.pid)].forEach((one) => sendSignal(one, signal))
    if (platform() !== 'win32') return sendSignal(-pid, signal)
    // Without /F it asks windows to close, and no program of a terminal has one.
    void askSystem('taskkill.exe', ['/PID', String(pid), '/T', '/F'])
  }
}
