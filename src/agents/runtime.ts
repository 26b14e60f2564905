import { StringDecoder } from 'node:string_decoder'
import { stripVTControlCharacters } from 'node:util'
import { LineSplitter, Tail } from '../base/stream.ts'
import type { CagedAction } from '../base/nouns.ts'
import { UNKNOWN_USAGE } from '../base/usage.ts'
import { openPty } from '../process/terminal.ts'
import type { EndMode, ProcessEnd, Running, StartProcess } from '../process/start.ts'
import { driveByHand } from './by-hand.ts'
import { readLastLine, readMarker, type Marker } from './marker.ts'
import type {
  Agent,
  AgentEnd,
  AgentEvent,
  AgentOutcome,
  AgentRequest,
  Provider,
  StreamEnd,
  StreamEvent,
} from './port.ts'
import { writableOf, writePrivateFiles, type PreparedFiles } from './private-files.ts'
import { cutOff } from './providers/failure.ts'
import { Watch } from './watch.ts'
import { messageOf } from '../base/errors.ts'

interface RuntimeOptions {
  readonly start: StartProcess
  /** Whether its conversations are lost when it ends. */
  readonly forgets?: boolean
  /** `start` for a program that a person drives; by default the same. */
  readonly startByHand?: StartProcess
  readonly now: () => Date
  /** Seconds that an agent may take to end after its result; 5 by default. */
  readonly resultGraceSeconds?: number
  /** Seconds between TERM and KILL; 5 by default. */
  readonly killAfterSeconds?: number
}

const STDERR_BYTES = 64 * 1024
/** The size of a terminal that nobody looks at. */
const USUAL_SIZE = { columns: 120, rows: 40 }
const USUAL_TERM = 'xterm-256color'
/** How long after some output an unfinished line is shown. */
const SHOW_MS = 500

/** Makes an agent from a provider: runs its program, reads its stream and enforces its limits. */
export function createAgent(provider: Provider, options: RuntimeOptions): Agent {
  const { name, alwaysReads, takesMcpServers = false, resumes = false, interactive } = provider
  const start = options.startByHand ?? options.start
  return {
    name,
    takesMcpServers,
    resumes: resumes && !options.forgets,
    ...(alwaysReads && { alwaysReads }),
    run: (request, emit) => new AgentProcess(provider, request, { ...options, emit }).run(),
    ...(interactive && {
      byHand: (request, at) => driveByHand({ ...provider, interactive }, request, { ...at, start }),
    }),
  }
}

interface ProcessOptions extends RuntimeOptions {
  readonly emit: (event: AgentEvent) => void
}

/** One run of an agent. */
class AgentProcess {
  readonly #provider: Provider
  readonly #request: AgentRequest
  readonly #options: ProcessOptions
  readonly #lines: LineSplitter | TerminalLines
  readonly #complaints = new LineSplitter()
  readonly #stderr = new Tail(STDERR_BYTES)
  readonly #reader: ReturnType<Provider['reader']>
  readonly #watch: Watch
  readonly #begun = performance.now()
  #process: Running | null = null
  /** What the receiver of its events threw. */
  #fault: { readonly error: unknown } | null = null
  /** Why ralph ended it; null if it ends by itself. */
  #forced: AgentEnd | null = null
  /** Whether the agent has sent its result. */
  #resulted = false
  /** What its stream has reported so far. */
  #heard: Pick<AgentOutcome, 'usage' | 'sessionId' | 'model'> = {
    usage: UNKNOWN_USAGE,
    sessionId: null,
    model: null,
  }
  #toolCalls = 0
  #checkTimer: NodeJS.Timeout | undefined
  #graceTimer: NodeJS.Timeout | undefined
  /** The unfinished line when it was last shown. */
  #shown = ''
  #showTimer: NodeJS.Timeout | undefined

  constructor(provider: Provider, request: AgentRequest, options: ProcessOptions) {
    this.#provider = provider
    this.#request = request
    this.#options = options
    this.#reader = provider.reader(request, options.now)
    this.#lines = provider.pty ? new TerminalLines() : new LineSplitter()
    const { limits } = request
    this.#watch = new Watch(provider.silent ? { ...limits, stallSeconds: Infinity } : limits)
  }

  /** Rejects only with what the receiver of its events threw: other errors are outcomes too. */
  async run(): Promise<AgentOutcome> {
    const { signal, killSignal } = this.#request
    const over = new AbortController()
    const interrupt = () =>
      this.#force({ kind: 'interrupted' }, signal.reason === 'now' ? 'now' : 'interrupt')
    const kill = () => this.#force({ kind: 'interrupted' }, 'now')
    signal.addEventListener('abort', interrupt, over)
    killSignal?.addEventListener('abort', kill, over)
    try {
      if (signal.aborted || killSignal?.aborted) interrupt()
      return this.#forced ? this.#notStarted('interrupted') : await this.#prepared()
    } catch (error) {
      this.#process?.end('now')
      await this.#process?.finished.catch(() => undefined)
      if (this.#fault) throw this.#fault.error
      return this.#notStarted(messageOf(error))
    } finally {
      over.abort()
      clearTimeout(this.#checkTimer)
      clearTimeout(this.#graceTimer)
      clearTimeout(this.#showTimer)
    }
  }

  #notStarted(reason: string): AgentOutcome {
    return this.#outcome({ kind: 'not-started', reason, missing: false })
  }

  #prepared(): Promise<AgentOutcome> {
    const invocation = this.#provider.invocation(this.#request)
    const files = writePrivateFiles(invocation, this.#request.env)
    return this.#runProcess(invocation.program, files).finally(files.remove)
  }

  async #runProcess(program: string, { args, env, stdinFile, folder }: PreparedFiles): Promise<AgentOutcome> {
    const request = this.#request
    const terminal = this.#provider.pty ? await openPty(USUAL_SIZE) : undefined
    if (terminal && 'problem' in terminal) return this.#notStarted(terminal.problem)
    const doubt = folder === undefined ? null : (this.#provider.doubt?.(folder) ?? null)
    if (doubt !== null) this.#emit({ type: 'warning', message: doubt })
    const running = this.#options.start(
      { program, args },
      {
        cwd: request.cwd,
        env: { ...request.env, ...(terminal ? { TERM: USUAL_TERM } : {}), ...env },
        terminal,
        stdinFile,
        readable: folder,
        writable: writableOf(request),
        onCaged: (action) => this.#caged(action),
        onOutput: (chunk, stream) => this.#take(chunk, stream),
        killAfterSeconds: this.#options.killAfterSeconds,
      },
    )
    this.#process = running
    // It may have been ended while its terminal was created.
    if (this.#forced) running.end('now')
    if (running.pid !== undefined) {
      this.#emit({ type: 'started', pid: running.pid })
      this.#arm()
    }
    const end = await running.finished
    this.#readComplaints(this.#complaints.end())
    this.#readOutput(this.#lines.end())
    if (end.kind === 'exited' && end.survivors.length > 0) this.#warnOf(end.survivors)
    return this.#outcome(end)
  }

  #take(chunk: Uint8Array, stream: 'stdout' | 'stderr'): void {
    this.#request.log(chunk, stream)
    if (stream === 'stderr') {
      this.#stderr.push(chunk)
      if (this.#reader.complaint) this.#readComplaints(this.#complaints.push(chunk))
      return
    }
    this.#readOutput(this.#lines.push(chunk))
    if (this.#lines instanceof TerminalLines) this.#showTimer ??= setTimeout(() => this.#show(), SHOW_MS)
  }

  #caged(action: CagedAction): void {
    const host = action.target.replace(/:\d+$/, '')
    const isNeedless = action.action === 'connect' && this.#provider.isNeedless?.(host)
    if (!isNeedless) this.#emit({ type: 'caged', action })
  }

  #emit(event: AgentEvent): void {
    try {
      this.#options.emit(event)
    } catch (error) {
      this.#fault = { error }
      throw error
    }
  }

  /** Questions end no line, and progress bars only when they are full. */
  #show(): void {
    this.#showTimer = undefined
    const text = this.#lines instanceof TerminalLines ? this.#lines.pending : ''
    if (text.trim() === '' || text === this.#shown) return
    this.#see([{ type: 'text', text }], this.#elapsed, this.#options.now())
    this.#shown = text
  }

  #readAll(lines: readonly string[], read: (line: string) => readonly StreamEvent[]): void {
    // All lines of a chunk arrived at the same time.
    const [elapsed, now] = [this.#elapsed, this.#options.now()]
    for (const line of lines) this.#see(read(line), elapsed, now)
  }

  #readOutput(lines: readonly string[]): void {
    this.#readAll(lines, (line) => this.#reader.line(line))
  }

  #readComplaints(lines: readonly string[]): void {
    this.#readAll(lines, (line) => this.#reader.complaint?.(line) ?? [])
  }

  #see(events: readonly StreamEvent[], elapsed: number, now: Date): void {
    let limit: AgentEnd | null = null
    for (const event of events) {
      limit ??= this.#watch.see(event, elapsed, now)
      this.#receive(event)
    }
    if (limit) this.#force(limit, 'interrupt')
  }

  #receive(event: StreamEvent): void {
    const { usage, sessionId, model } = this.#heard
    switch (event.type) {
      case 'session':
        this.#heard = {
          usage,
          sessionId: this.#options.forgets ? null : (event.sessionId ?? sessionId),
          model: event.model ?? model,
        }
        if (this.#provider.resumes && this.#heard.sessionId !== null)
          this.#emit({ type: 'session', session: this.#heard.sessionId })
        return
      case 'result':
        return this.#leaveSoon()
      case 'usage':
        this.#heard = { ...this.#heard, usage: event.usage }
        this.#emit(event)
        return
      case 'text':
        // It was shown before its line ended.
        if (event.text !== this.#shown) this.#emit(event)
        this.#shown = ''
        return
      case 'tool':
        if (event.status === 'running') this.#toolCalls++
        this.#emit(event)
        return
      default:
        this.#emit(event)
    }
  }

  /** What it still runs must not delay the end, and what is done to it now does not change its outcome. */
  #leaveSoon(): void {
    this.#resulted = true
    clearTimeout(this.#graceTimer)
    const seconds = this.#options.resultGraceSeconds ?? 5
    this.#graceTimer = setTimeout(() => this.#process?.end('interrupt'), seconds * 1000)
  }

  /** In milliseconds; does not count while the agent waits for a person. */
  get #elapsed(): number {
    return performance.now() - this.#begun - (this.#request.held?.() ?? 0)
  }

  #arm(): void {
    const wait = this.#watch.nextCheck(this.#elapsed) - this.#elapsed
    // Beyond 2^31 milliseconds Node's timers fire at once.
    this.#checkTimer = setTimeout(() => this.#check(), Math.min(Math.max(1, wait), 2 ** 31 - 1))
  }

  #check(): void {
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
    this.#emit({ type: 'warning', message })
  }

  /** How it ended, from its stream, its process and what ralph did to it. */
  #outcome(end: ProcessEnd): AgentOutcome {
    const { prompt } = this.#request
    const stream = notAllowed(this.#streamEnd(end), end)
    const { finalMessage, markerTail, denied } = stream
    const { marker, message } = readMarker(finalMessage, prompt)
    const counting = markerTail === undefined ? marker : readLastLine(markerTail, prompt).marker
    return {
      ...this.#heard,
      model: this.#heard.model ?? stream.model ?? null,
      end: this.#forced ? moreTelling(this.#forced, stream.end) : endOf(stream, counting),
      finalMessage: message,
      denied,
      toolCalls: this.#toolCalls,
      seconds: this.#elapsed / 1000,
    }
  }

  #streamEnd(end: ProcessEnd): StreamEnd {
    const { name, install } = this.#provider
    if (end.kind === 'not-started')
      return nothingHeard(end.reason + (end.missing ? `; to install it: ${install}` : ''))
    // An agent that stays after its result, and is then ended by ralph, ended well.
    const isOurs = this.#resulted && end.ended !== null
    const { code, signal } = isOurs ? { code: 0, signal: null } : end
    try {
      return this.#reader.end({ code, signal, stderr: this.#stderr.text() })
    } catch (error) {
      return nothingHeard(`a bug in the reader of ${name}: ${String(error)}`)
    }
  }
}

function nothingHeard(reason: string): StreamEnd {
  return { end: { kind: 'crashed', reason }, finalMessage: '', denied: [] }
}

/** A request that the cage refuses is refused on every attempt: only the configuration can change that. */
function notAllowed(stream: StreamEnd, process: ProcessEnd): StreamEnd {
  const hosts = process.kind === 'exited' ? (process.refusedHosts ?? []) : []
  if (stream.end.kind !== 'no-network' || hosts.length === 0) return stream
  const reason = `${stream.end.reason}; the sandbox refused ${hosts.join(', ')}: if that is its service, name it in sandbox.network`
  return { ...stream, end: { kind: 'refused', reason, hopeless: 'agent' } }
}

function endOf({ end, cutOff: cut }: StreamEnd, marker: Marker | null): AgentEnd {
  if (end.kind !== 'finished') return end
  return marker ?? (cut === undefined ? { kind: 'no-marker' } : cutOff(cut))
}

/** If an agent was ended while its service refused it, the service is the reason, not the time limit. */
function moreTelling(forced: AgentEnd, stream: StreamEnd['end']): AgentEnd {
  if (!['timeout', 'stalled', 'rate-limited'].includes(forced.kind)) return forced
  switch (stream.kind) {
    case 'rate-limited':
      return { ...stream, until: stream.until ?? (forced.kind === 'rate-limited' ? forced.until : null) }
    case 'auth':
    case 'overloaded':
    case 'no-network':
      return stream
    default:
      return forced
  }
}

/** A longer line is cut: nobody reads the rest. */
const MOST_CHARACTERS = 64 * 1024

/**
 * The lines that a program prints to a terminal, as a person reads them: without colours and cursor movements, and
 * without overwritten text, such as the earlier states of a progress bar.
 */
class TerminalLines {
  readonly #decoder = new StringDecoder()
  #rest = ''

  /** Adds a chunk and returns the lines that it completes. */
  push(chunk: Uint8Array): readonly string[] {
    const [first = '', ...others] = this.#decoder.write(chunk).split('\n')
    const lines = [this.#rest + first, ...others]
    this.#rest = lastOf(lines.pop()!)
    return lines.map(visible)
  }

  /** The unfinished line, such as a question. */
  get pending(): string {
    return visible(this.#rest)
  }

  end(): readonly string[] {
    const last = visible(this.#rest)
    this.#rest = ''
    return last === '' ? [] : [last]
  }
}

/** The part of a line that is not overwritten. */
function lastOf(rest: string): string {
  const returned = rest.lastIndexOf('\r', rest.length - 2)
  return rest.slice(Math.max(returned + 1, rest.length - MOST_CHARACTERS))
}

function visible(line: string): string {
  const written = stripVTControlCharacters(line)
    .split('\r')
    .findLast((text) => text !== '')
  return (written ?? '').replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
}
