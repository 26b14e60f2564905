import { patience } from '../process/sleep.ts'
import type { AgentEnd, AgentOutcome } from './port.ts'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { unreachable } from '../base/errors.ts'
import type { McpServer } from '../base/nouns.ts'
import { INSIDE_VARIABLE, RALPH_SERVER } from '../base/names.ts'
import { openSignalFolder, type SignalFolder } from './signal/folder.ts'
import type { Reply, Signal, SignalInput, SignalResource, Withdrawal } from './signal/signal.ts'

/** A question of an agent. */
export interface QuestionToPerson {
  /** The task that it works on. */
  readonly id: string
  readonly text: string
  /** Answers to choose from; any other is valid too. */
  readonly options: readonly string[]
}

/** The file of a task that an agent adds, or why it is not added. */
export type TaskDraft =
  { readonly id: string; readonly file: string; readonly text: string } | { readonly problem: string }

/** What becomes known by a signal: a part of the events of a run. */
type SignalEvent =
  | {
      readonly type: 'agent-signal'
      readonly id: string
      readonly signal: 'done' | 'blocked' | 'progress'
      readonly text: string
    }
  | ({ readonly type: 'question' } & QuestionToPerson)
  | { readonly type: 'answered'; readonly id: string; readonly answer: string }
  | { readonly type: 'task-added'; readonly id: string; readonly added: string; readonly title: string }
  | { readonly type: 'warning'; readonly message: string }

/** The part of a job that its signals depend on. */
interface SignalJob {
  /** The task. */
  readonly id: string
  readonly askSeconds: number
  readonly resources: readonly SignalResource[]
  /** How many tasks its agent may add. */
  readonly mayAdd: number
}

/** What reading signals uses. */
export interface SignalPorts {
  /** A folder that the agent's server can write to. */
  readonly folder: string
  /** Where the agent works. */
  readonly root: string
  /** Aborts when the attempt is to end. */
  readonly over: AbortSignal
  /** Asks a person the agent's question; resolves with null if nobody has answered before the signal aborts. */
  readonly ask: (question: QuestionToPerson, signal: AbortSignal) => Promise<string | null>
  readonly draftTask: (draft: SignalInput<'add_task'>) => Promise<TaskDraft>
}

/** What the agent of an attempt has reported with its tools. */
export interface Signals {
  readonly done: SignalInput<'done'> | null
  /** Why it cannot continue; also a question of it that nobody answered. */
  readonly blocked: string | null
  /** How long it waited for a person. */
  readonly heldSeconds: number
  /** The files of tasks that it added, which become part of its work. */
  readonly added: readonly AddedTask[]
}

type AddedTask = Extract<TaskDraft, { readonly text: string }>

export const NO_SIGNALS: Signals = { done: null, blocked: null, heldSeconds: 0, added: [] }

/** The MCP server for the agent of an attempt; without `env`, as in a preview, it has no folder to write to. */
export function signalServer(
  [command, ...args]: readonly [string, ...string[]],
  { askSeconds }: Pick<SignalJob, 'askSeconds'>,
  env: Readonly<Record<string, string>> = {},
): Readonly<Record<string, McpServer>> {
  // Longer than ralph waits, so that ralph ends the wait.
  return { [RALPH_SERVER]: { command, args: [...args, 'mcp'], env, toolSeconds: askSeconds + 60 } }
}

/** How many refusals are shown, and how many calls are accepted: an agent may write without end. */
const MOST_REFUSALS = 5
const MOST_CALLS = 1000

/** Reads what the agent reports with its tools, and replies, until the attempt ends. */
export class AttemptSignals {
  readonly #job: SignalJob
  readonly #ports: SignalPorts
  readonly #emit: (event: SignalEvent) => void
  readonly #folder: SignalFolder
  readonly #over = new AbortController()
  readonly #unanswered = new AbortController()
  readonly #adding = new Set<Promise<void>>()
  #done: Signals['done'] = null
  #blocked: string | null = null
  #question: { readonly id: string; readonly text: string; readonly since: number } | null = null
  #heldMs = 0
  #refusals = 0
  #calls = 0
  readonly #added: AddedTask[] = []

  constructor(job: SignalJob, ports: SignalPorts, emit: (event: SignalEvent) => void) {
    this.#job = job
    this.#ports = ports
    this.#emit = emit
    const folder = join(ports.folder, 'signals')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#folder = openSignalFolder(folder, job.resources, {
      said: (signal) => this.#take(signal),
      refused: (why) => this.#refused(why),
    })
  }

  /** The folder of its files, which the agent's server must be able to write to. */
  get folder(): string {
    return this.#folder.path
  }

  /** The environment that connects the server to this attempt. */
  get env(): Readonly<Record<string, string>> {
    return { ...this.#folder.env, [INSIDE_VARIABLE]: this.#ports.root }
  }

  /** Aborts when nobody has answered: the attempt ends with the question. */
  get unanswered(): AbortSignal {
    return this.#unanswered.signal
  }

  /** For how many milliseconds the agent has waited for a person so far. */
  held(): number {
    return this.#heldMs + (this.#question ? performance.now() - this.#question.since : 0)
  }

  /** Closes the folder after the agent has ended, and returns what it reported. */
  async close(): Promise<Signals> {
    const isAsking = (): boolean => this.#question !== null
    await Promise.all(this.#adding)
    if (isAsking()) this.#blocked ??= this.#question!.text
    this.#over.abort()
    this.#folder.close()
    await Promise.all(this.#adding)
    return { done: this.#done, blocked: this.#blocked, heldSeconds: this.held() / 1000, added: this.#added }
  }

  #take(signal: Signal | Withdrawal): void {
    if (signal.signal !== 'withdrawn' && ++this.#calls > MOST_CALLS)
      return this.#refuse(signal, 'these are too many calls for one attempt')
    switch (signal.signal) {
      case 'withdrawn':
        if (this.#question?.id === signal.id) this.#giveUpOn(this.#question.text)
        return
      case 'done':
        if (this.#done || this.#blocked !== null)
          return this.#refuse(signal, 'you have said how it ends already')
        this.#done = signal.input
        return this.#accept(signal, signal.input.summary, 'Noted. End your turn now: ralph checks the work.')
      case 'blocked':
        // It also counts after "done": of two contradicting signals the worse one counts.
        if (this.#blocked !== null) return this.#refuse(signal, 'you have said that you are blocked already')
        this.#blocked = blockedText(signal.input)
        return this.#accept(signal, this.#blocked, 'Noted. End your turn now.')
      case 'progress':
        return this.#accept(signal, signal.input.note, 'Noted.')
      case 'ask':
        return void this.#ask(signal.id, signal.input)
      case 'add_task':
        return this.#add(signal.id, signal.input)
      default:
        return unreachable(signal)
    }
  }

  #accept(
    { id, signal }: Pick<Signal, 'id'> & { signal: 'done' | 'blocked' | 'progress' },
    text: string,
    reply: string,
  ) {
    this.#emit({ type: 'agent-signal', id: this.#job.id, signal, text })
    this.#reply({ id, ok: true, text: reply })
  }

  #refuse({ id }: Pick<Signal, 'id'>, why: string): void {
    this.#reply({ id, ok: false, text: `Refused: ${why}.` })
  }

  #refused(why: string): void {
    if (++this.#refusals > MOST_REFUSALS) return
    this.#emit({
      type: 'warning',
      message: `a signal of the agent of ${this.#job.id} is refused: ${why}`,
    })
  }

  /** After the attempt has ended, nobody waits for a reply. */
  #reply(reply: Reply): void {
    if (!this.#over.signal.aborted) this.#folder.reply(reply)
  }

  async #ask(id: string, input: SignalInput<'ask'>): Promise<void> {
    const [question, { options }] = [oneLine(input.question), input]
    if (this.#question) return this.#refuse({ id }, 'one question at a time')
    const { id: task, askSeconds } = this.#job
    this.#question = { id, text: question, since: performance.now() }
    this.#emit({ type: 'question', id: task, text: question, options })
    const ends = [this.#over.signal, this.#unanswered.signal, this.#ports.over]
    const wait = patience(askSeconds, AbortSignal.any(ends))
    const answer = await this.#ports.ask({ id: task, text: question, options }, wait.signal)
    wait.end()
    this.#heldMs = this.held()
    this.#question = null
    if (answer !== null) {
      this.#emit({ type: 'answered', id: task, answer })
      return this.#reply({ id, ok: true, text: answer })
    }
    this.#reply({
      id,
      ok: false,
      text: 'Nobody has answered: the attempt ends, and the task is blocked with your question.',
    })
    if (!this.#ports.over.aborted) this.#giveUpOn(question)
  }

  #giveUpOn(question: string): void {
    this.#blocked ??= question
    this.#unanswered.abort()
  }

  #add(id: string, draft: SignalInput<'add_task'>): void {
    const { mayAdd } = this.#job
    if (this.#added.length + this.#adding.size >= mayAdd)
      return this.#refuse(
        { id },
        `this run takes no more than ${mayAdd} more tasks from agents (maxAddedTasks)`,
      )
    const work = this.#write(id, draft).catch((error: unknown) => this.#refuse({ id }, String(error)))
    this.#adding.add(work)
    void work.finally(() => this.#adding.delete(work))
  }

  async #write(id: string, draft: SignalInput<'add_task'>): Promise<void> {
    const result = await this.#ports.draftTask(draft)
    if ('problem' in result) return this.#refuse({ id }, result.problem)
    this.#added.push(result)
    this.#emit({ type: 'task-added', id: this.#job.id, added: result.id, title: draft.title })
    this.#reply({
      id,
      ok: true,
      text: `Added ${result.id}: ${result.file} will be in the commit of your work.`,
    })
  }
}

function blockedText({ reason, question, options }: SignalInput<'blocked'>): string {
  const words = [reason, question, options.length > 0 ? `(${options.join(' / ')})` : undefined]
  return oneLine(words.filter(Boolean).join(' '))
}

/** Like the reason of a blocked task. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

/** Ends that do not say how the work stands: the agent's own signal replaces them. */
const OPEN_ENDS: ReadonlySet<AgentEnd['kind']> = new Set([
  'done',
  'blocked',
  'no-marker',
  'max-turns',
  'timeout',
  'stalled',
])

/** How the agent ended, by its signals before its text; if they contradict each other, the worse one counts. */
export function withSignals(outcome: AgentOutcome, sent: Signals, endedForNoAnswer: boolean): AgentOutcome {
  const { done, blocked } = sent
  const { end } = outcome
  if (blocked !== null && (OPEN_ENDS.has(end.kind) || endedForNoAnswer))
    return {
      ...outcome,
      end: { kind: 'blocked', reason: blocked },
      finalMessage: done?.summary ?? outcome.finalMessage,
    }
  if (done === null) return outcome
  // The signal may have been sent in its last turn.
  const isDone = end.kind === 'no-marker' || end.kind === 'max-turns'
  return { ...outcome, end: isDone ? { kind: 'done' } : end, finalMessage: done.summary }
}
