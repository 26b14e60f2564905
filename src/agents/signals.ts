import { inTime } from '../process/sleep.ts'
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
  /** Answers to choose from; any other is valid too, unless these are all. */
  readonly options: readonly string[]
  readonly isClosed?: true
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
  | {
      readonly type: 'answered'
      readonly id: string
      readonly answer: string
      readonly isDefault?: true
    }
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
  /** Questions that nobody answered, with the answers that the agent itself had given for that case. */
  readonly assumed: readonly string[]
}

type AddedTask = Extract<TaskDraft, { readonly text: string }>

export const NO_SIGNALS: Signals = { done: null, blocked: null, heldSeconds: 0, added: [], assumed: [] }

/** The MCP server for the agent of an attempt; without `env`, as in a preview, it has no folder to write to. */
export function signalServer(
  [command, ...args]: readonly [string, ...string[]],
  { askSeconds }: Pick<SignalJob, 'askSeconds'>,
  env: Readonly<Record<string, string>> = {},
): Readonly<Record<string, McpServer>> {
  // Longer than ralph waits, so that ralph ends the wait.
  return { [RALPH_SERVER]: { command, args: [...args, 'mcp'], env, toolSeconds: askSeconds + 60 } }
}

/** How many refused lines are shown, and how many calls are accepted: an agent may write without end. */
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
  /** The calls without a reply so far. */
  readonly #open = new Set<Promise<void>>()
  #done: Signals['done'] = null
  #blocked: string | null = null
  #question: { readonly id: string; readonly text: string; readonly since: number } | null = null
  #heldMs = 0
  #refusals = 0
  #calls = 0
  /** How many tasks it may still add. */
  #mayAdd: number
  readonly #added: AddedTask[] = []
  readonly #assumed: string[] = []

  constructor(job: SignalJob, ports: SignalPorts, emit: (event: SignalEvent) => void) {
    this.#job = job
    this.#ports = ports
    this.#emit = emit
    this.#mayAdd = job.mayAdd
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

  /** Whether the agent has said how its task stands. */
  get hasEnded(): boolean {
    return this.#done !== null || this.#blocked !== null
  }

  /** For how many milliseconds the agent has waited for a person so far. */
  held(): number {
    return this.#heldMs + (this.#question ? performance.now() - this.#question.since : 0)
  }

  /** Closes the folder after the agent has ended, and returns what it reported. */
  async close(): Promise<Signals> {
    this.#folder.close()
    this.#blocked ??= this.#question?.text ?? null
    this.#over.abort()
    await Promise.all(this.#open)
    const heldSeconds = this.held() / 1000
    const [added, assumed] = [this.#added, this.#assumed]
    return { done: this.#done, blocked: this.#blocked, heldSeconds, added, assumed }
  }

  #take(signal: Signal | Withdrawal): void {
    if (signal.signal === 'withdrawn') {
      if (this.#question?.id === signal.id) this.#giveUpOn(this.#question.text)
      return
    }
    const reply = this.#reply(signal).finally(() => this.#open.delete(reply))
    this.#open.add(reply)
  }

  async #reply(signal: Signal): Promise<void> {
    const answer = await this.#answerTo(signal).catch((error: unknown) => refusal(String(error)))
    // After the attempt has ended, nobody waits for it.
    if (!this.#over.signal.aborted) this.#folder.reply({ id: signal.id, ...answer })
  }

  async #answerTo(signal: Signal): Promise<Answer> {
    if (++this.#calls > MOST_CALLS) return refusal('these are too many calls for one attempt')
    switch (signal.signal) {
      case 'done':
        if (this.#done || this.#blocked !== null) return refusal('you have said how it ends already')
        this.#done = signal.input
        return this.#note(signal, signal.input.summary, ' End your turn now: ralph checks the work.')
      case 'blocked':
        // It also counts after "done": of two contradicting signals the worse one counts.
        if (this.#blocked !== null) return refusal('you have said that you are blocked already')
        this.#blocked = blockedText(signal.input)
        return this.#note(signal, this.#blocked, ' End your turn now.')
      case 'progress':
        return this.#note(signal, signal.input.note, '')
      case 'ask':
        return this.#ask(signal.id, signal.input)
      case 'add_task':
        return this.#add(signal.input)
      default:
        return unreachable(signal)
    }
  }

  #note({ signal }: { signal: 'done' | 'blocked' | 'progress' }, text: string, more: string): Answer {
    this.#emit({ type: 'agent-signal', id: this.#job.id, signal, text })
    return { ok: true, text: `Noted.${more}` }
  }

  #refused(why: string): void {
    if (++this.#refusals > MOST_REFUSALS) return
    this.#emit({
      type: 'warning',
      message: `a signal of the agent of ${this.#job.id} is refused: ${why}`,
    })
  }

  async #ask(id: string, { question, options, default: fallback }: SignalInput<'ask'>): Promise<Answer> {
    if (this.#question) return refusal('one question at a time')
    const text = oneLine(question)
    this.#question = { id, text, since: performance.now() }
    const answer = await askInTime(
      { id: this.#job.id, text, options },
      {
        ask: this.#ports.ask,
        seconds: this.#job.askSeconds,
        over: AbortSignal.any([this.#over.signal, this.#unanswered.signal, this.#ports.over]),
        emit: this.#emit,
      },
    )
    this.#heldMs = this.held()
    this.#question = null
    if (answer !== null) return { ok: true, text: answer }
    if (fallback !== undefined && !this.#isOver) return this.#assume(text, fallback)
    if (!this.#ports.over.aborted) this.#giveUpOn(text)
    return {
      ok: false,
      text: 'Nobody has answered: the attempt ends, and the task is blocked with your question.',
    }
  }

  get #isOver(): boolean {
    return this.#ports.over.aborted || this.#over.signal.aborted || this.#unanswered.signal.aborted
  }

  /** Nobody has answered, and the agent has said what it would do then. */
  #assume(question: string, answer: string): Answer {
    this.#assumed.push(`${question} → ${oneLine(answer)}`)
    this.#emit({ type: 'answered', id: this.#job.id, answer, isDefault: true })
    return { ok: true, text: `Nobody has answered in time. Go on with your own: ${answer}` }
  }

  #giveUpOn(question: string): void {
    this.#blocked ??= question
    this.#unanswered.abort()
  }

  async #add(draft: SignalInput<'add_task'>): Promise<Answer> {
    if (this.#mayAdd === 0)
      return refusal(`this run takes no more than ${this.#job.mayAdd} more tasks from agents (maxAddedTasks)`)
    this.#mayAdd--
    const result = await this.#ports.draftTask(draft)
    if ('problem' in result) {
      this.#mayAdd++
      return refusal(result.problem)
    }
    this.#added.push(result)
    this.#emit({ type: 'task-added', id: this.#job.id, added: result.id, title: draft.title })
    return { ok: true, text: `Added ${result.id}: ${result.file} will be in the commit of your work.` }
  }
}

type Answer = Pick<Reply, 'ok' | 'text'>

function refusal(why: string): Answer {
  return { ok: false, text: `Refused: ${why}.` }
}

/** Puts a question to a person, and says in events how that ends; null if nobody answers in time. */
export async function askInTime(
  question: QuestionToPerson,
  {
    ask,
    seconds,
    over,
    emit,
  }: Pick<SignalPorts, 'ask' | 'over'> & { seconds: number; emit: (event: SignalEvent) => void },
): Promise<string | null> {
  emit({ type: 'question', ...question })
  const answer = await inTime(seconds, over, (signal) => ask(question, signal))
  if (answer !== null) emit({ type: 'answered', id: question.id, answer })
  return answer
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
