import { LineSplitter, Tail } from '../base/stream.ts'
import { openPty } from '../process/pty.ts'
import type { EndMode, ProcessEnd, Running, StartProcess } from '../process/start.ts'
import { driveByHand } from './by-hand.ts'
import { Channel } from './channel.ts'
import { outcomeOf, type Hearing } from './outcome.ts'
import type {
  Agent,
  AgentEnd,
  AgentEvent,
  AgentOutcome,
  AgentRequest,
  Invocation,
  Provider,
  StreamEvent,
  StreamReader,
} from './port.ts'
import { writableOf, writePrivateFiles, type PreparedFiles } from './private-files.ts'
import { TerminalLines } from './terminal-lines.ts'
import { Watch } from './watch.ts'

interface RuntimeOptions {
  readonly start: StartProcess
  /** What it remembers of its conversation is gone when it ends. */
  readonly forgets?: boolean
  /** The same as `start` for what a person drives; as for the agent itself where nothing is said. */
  readonly startByHand?: StartProcess
  readonly now: () => Date
  /** How long an agent that has said its last may take to leave; 5 by default. */
  readonly resultGraceSeconds?: number
  /** Between TERM and KILL; 5 by default. */
  readonly killAfterSeconds?: number
}

const STDERR_BYTES = 64 * 1024
/** Of a terminal that nobody sits at. */
const USUAL_SIZE = { columns: 120, rows: 40 }
const USUAL_TERM = 'xterm-256color'
/** An unfinished line is shown so long after something was printed. */
const SHOW_MS = 500

/** Makes an agent of a provider: runs its program, reads its stream and holds it to its limits. */
export function createAgent(provider: Provider, options: RuntimeOptions): Agent {
  const { name, obeysAnyway, takesMcpServers = false, interactive } = provider
  const start = options.startByHand ?? options.start
  return {
    name,
    takesMcpServers,
    ...(obeysAnyway && { obeysAnyway }),
    run: (request) => new Session(provider, request, options).events(),
    ...(interactive && {
      byHand: (request, at) => driveByHand({ ...provider, interactive }, request, { ...at, start }),
    }),
  }
}

/** One run of an agent. */
class Session {
  readonly #provider: Provider
  readonly #request: AgentRequest
  readonly #options: RuntimeOptions
  readonly #channel = new Channel<AgentEvent>()
  readonly #lines: LineSplitter | TerminalLines
  readonly #complaints = new LineSplitter()
  readonly #stderr = new Tail(STDERR_BYTES)
  readonly #reader: StreamReader
  readonly #watch: Watch
  readonly #begun = performance.now()
  #process: Running | null = null
  /** Why we ended it; null where it ends by itself. */
  #forced: AgentEnd | null = null
  /** The agent has said its last. */
  #resulted = false
  #heard: Hearing = { usage: null, sessionId: null, model: null }
  #checkTimer: NodeJS.Timeout | undefined
  #graceTimer: NodeJS.Timeout | undefined
  /** What stood in an unfinished line when that was shown. */
  #shown = ''
  #showTimer: NodeJS.Timeout | undefined

  constructor(provider: Provider, request: AgentRequest, options: RuntimeOptions) {
    this.#provider = provider
    this.#request = request
    this.#options = options
    this.#reader = provider.reader(request, options.now)
    this.#lines = provider.pty ? new TerminalLines() : new LineSplitter()
    const { limits } = request
    this.#watch = new Watch(provider.silent ? { ...limits, stallSeconds: Infinity } : limits)
  }

  async *events(): AsyncGenerator<AgentEvent, void, void> {
    const work = this.#work()
    try {
      for (let events = await this.#channel.take(); events; events = await this.#channel.take()) {
        for (const event of events) yield event
      }
    } finally {
      // Whoever stops listening has no more use for the agent.
      this.#process?.end('now')
      await work
    }
  }

  /** Never fails: what goes wrong is an outcome too. */
  async #work(): Promise<void> {
    let outcome: AgentOutcome
    try {
      outcome = await this.#run()
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      outcome = this.#outcome({ kind: 'not-started', reason, missing: false })
    }
    this.#channel.push({ type: 'finished', outcome })
    this.#channel.close()
  }

  async #run(): Promise<AgentOutcome> {
    const { signal, killSignal } = this.#request
    const interrupt = () =>
      this.#force({ kind: 'interrupted' }, signal.reason === 'now' ? 'now' : 'interrupt')
    const kill = () => this.#force({ kind: 'interrupted' }, 'now')
    signal.addEventListener('abort', interrupt)
    killSignal?.addEventListener('abort', kill)
    try {
      if (signal.aborted || killSignal?.aborted) return this.#interruptedBeforeStart()
      const invocation = this.#provider.invocation(this.#request)
      const prepared = writePrivateFiles(invocation, this.#request.env)
      return await this.#runProcess(invocation, prepared).finally(prepared.remove)
    } finally {
      signal.removeEventListener('abort', interrupt)
      killSignal?.removeEventListener('abort', kill)
      clearTimeout(this.#checkTimer)
      clearTimeout(this.#graceTimer)
      clearTimeout(this.#showTimer)
    }
  }

  #interruptedBeforeStart(): AgentOutcome {
    this.#forced = { kind: 'interrupted' }
    return this.#outcome({ kind: 'not-started', reason: 'interrupted', missing: false })
  }

  async #runProcess(
    { program }: Invocation,
    { args, env, stdinFile, folder }: PreparedFiles,
  ): Promise<AgentOutcome> {
    const request = this.#request
    const terminal = this.#provider.pty ? await openPty(USUAL_SIZE) : undefined
    if (terminal && 'problem' in terminal)
      return this.#outcome({ kind: 'not-started', reason: terminal.problem, missing: false })
    const running = this.#options.start(
      { program, args },
      {
        cwd: request.cwd,
        env: { ...request.env, ...(terminal ? { TERM: USUAL_TERM } : {}), ...env },
        terminal,
        stdinFile,
        handed: folder,
        writable: writableOf(request),
        onCaged: (action) => this.#channel.push({ type: 'caged', action }),
        onOutput: (chunk, stream) => this.#take(chunk, stream),
        killAfterSeconds: this.#options.killAfterSeconds,
      },
    )
    this.#process = running
    // Somebody may have ended it while its terminal was made.
    if (this.#forced) running.end('now')
    if (running.pid !== undefined) {
      this.#channel.push({ type: 'started', pid: running.pid })
      this.#arm()
    }
    const end = await running.finished
    this.#readComplaints(this.#complaints.end())
    this.#readAll(this.#lines.end())
    if (end.kind === 'exited' && end.survivors.length > 0) this.#warnOf(end.survivors)
    return this.#outcome(end)
  }

  #take(chunk: Uint8Array, stream: 'stdout' | 'stderr'): Promise<void> | undefined {
    this.#request.log(chunk, stream)
    if (stream === 'stderr') {
      this.#stderr.push(chunk)
      if (this.#reader.complaint) this.#readComplaints(this.#complaints.push(chunk))
      return undefined
    }
    this.#readAll(this.#lines.push(chunk))
    if (this.#lines instanceof TerminalLines) this.#showTimer ??= setTimeout(() => this.#show(), SHOW_MS)
    return this.#channel.room()
  }

  /** A question has no end of its line, and a progress bar none before it is full. */
  #show(): void {
    this.#showTimer = undefined
    const text = this.#lines instanceof TerminalLines ? this.#lines.pending : ''
    if (text.trim() === '' || text === this.#shown) return
    this.#see([{ type: 'text', text }], this.#elapsed, this.#options.now())
    this.#shown = text
  }

  /** All lines of a chunk came at one time. */
  #readAll(lines: readonly string[]): void {
    const [elapsed, now] = [this.#elapsed, this.#options.now()]
    for (const line of lines) this.#see(this.#reader.line(line), elapsed, now)
  }

  #readComplaints(lines: readonly string[]): void {
    const [elapsed, now] = [this.#elapsed, this.#options.now()]
    for (const line of lines) this.#see(this.#reader.complaint?.(line) ?? [], elapsed, now)
  }

  #see(events: readonly StreamEvent[], elapsed: number, now: Date): void {
    let limit: AgentEnd | null = null
    for (const event of events) {
      limit ??= this.#watch.see(event, elapsed, now)
      this.#hear(event)
    }
    if (limit) this.#force(limit, 'interrupt')
  }

  #hear(event: StreamEvent): void {
    switch (event.type) {
      case 'session':
        this.#heard = {
          ...this.#heard,
          sessionId: this.#options.forgets ? null : (event.sessionId ?? this.#heard.sessionId),
          model: event.model ?? this.#heard.model,
        }
        return
      case 'result':
        return this.#leaveSoon()
      case 'usage':
        this.#heard = { ...this.#heard, usage: event.usage }
        this.#channel.push(event)
        return
      case 'text':
        // It has been shown before its line ended.
        if (event.text !== this.#shown) this.#channel.push(event)
        this.#shown = ''
        return
      default:
        this.#channel.push(event)
    }
  }

  /** What it still has running must not keep it, and what is done to it now does not change how it ended. */
  #leaveSoon(): void {
    this.#resulted = true
    clearTimeout(this.#graceTimer)
    const seconds = this.#options.resultGraceSeconds ?? 5
    this.#graceTimer = setTimeout(() => this.#process?.end('interrupt'), seconds * 1000)
  }

  /** In milliseconds; it stands still while the agent waits for a person. */
  get #elapsed(): number {
    return performance.now() - this.#begun - (this.#request.held?.() ?? 0)
  }

  #arm(): void {
    const wait = this.#watch.nextCheck(this.#elapsed) - this.#elapsed
    // Beyond 2^31 milliseconds Node's timers fire at once.
    this.#checkTimer = setTimeout(() => this.#check(), Math.min(Math.max(1, wait), 2 ** 31 - 1))
  }

  #check(): void {
    if (!this.#channel.isDrained) this.#watch.excuse(this.#elapsed)
    const expired = this.#watch.expired(this.#elapsed)
    if (expired) this.#force(expired, 'interrupt')
    else this.#arm()
  }

  #force(end: AgentEnd, mode: EndMode): void {
    if (!this.#resulted) this.#forced ??= end
    this.#process?.end(mode)
  }

  #warnOf(survivors: readonly number[]): void {
    const message = `these processes of the agent could not be ended: ${survivors.join(', ')}`
    this.#channel.push({ type: 'warning', message })
  }

  #outcome(end: ProcessEnd): AgentOutcome {
    return outcomeOf({
      provider: this.#provider,
      prompt: this.#request.prompt,
      reader: this.#reader,
      stderr: this.#stderr.text(),
      heard: this.#heard,
      forced: this.#forced,
      resulted: this.#resulted,
      process: end,
      seconds: this.#elapsed / 1000,
    })
  }
}
