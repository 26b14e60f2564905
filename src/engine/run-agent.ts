import type { Usage } from '../base/nouns.ts'
import type { Agent, AgentEvent, AgentOutcome, AgentRequest, AnswerShape } from '../agents/port.ts'
import { writtenNotes } from '../agents/providers/command.ts'
import { unreachable } from '../base/errors.ts'
import type { Happening } from './events/event.ts'
import { join } from 'node:path'
import { addUsage, amountsOf, UNKNOWN_USAGE } from '../base/usage.ts'
import { askText } from '../prompt/go-on.ts'
import { Trace } from './trace.ts'
import { withMark } from '../process/mark.ts'
import type { Job } from './job.ts'
import type { AttemptPorts, Emit } from './ports.ts'
import { AttemptSignals, NO_SIGNALS, signalServer, withSignals, type Signals } from '../agents/signals.ts'

/** How the agent of a job ended, and what it reported with its tools. */
export interface AgentRun {
  readonly outcome: AgentOutcome
  readonly reported: Signals
  /** What it did last, in Markdown. */
  readonly trace: string
  /** Whether it ended because a person took over. */
  readonly isTakenOver?: boolean
}

/** How an agent ended, without the rest. */
type Ran = Pick<AgentRun, 'outcome' | 'reported'>

/** The ports of running an agent, and where events go. */
interface Reporting<Ports> {
  readonly ports: Ports
  readonly emit: Emit<Happening>
}

/** The part of a job that its agent needs; with the shape of the answer if it is to answer, not to work. */
type AgentJob = Pick<Job, 'task' | 'agent' | 'attempt' | 'prompt' | 'limits' | 'gates'> & {
  readonly resume?: Job['resume']
  readonly answer?: AnswerShape
  readonly env?: Readonly<Record<string, string>>
}

/** The ports that running an agent needs. */
type AgentPorts = Pick<AttemptPorts, 'slot' | 'work' | 'logs' | 'mark' | 'control'>

/** Runs the agent of a job, emits what it does and returns how it ended. */
export async function runAgent(job: Job, ports: AttemptPorts, emit: Emit<Happening>): Promise<AgentRun> {
  const agent = await ports.work.agent(job.agent)
  const taken = new AbortController()
  const withdraw = ports.control.offer(job.task.id, () => {
    if (ports.terminal === null) return NO_TERMINAL
    if (!agent.byHand) return `${agent.name} has no interactive program to take over with`
    taken.abort('take-over')
    return null
  })
  const trace = new Trace()
  const follow: Emit<Happening> = (event) => {
    trace.see(event)
    emit(event)
  }
  try {
    const run = await runOffered(job, agent, { ports, emit: follow, taken: taken.signal })
    return { ...run, trace: trace.text(run.outcome.finalMessage), isTakenOver: taken.signal.aborted }
  } finally {
    withdraw()
  }
}

/** Why a task cannot be taken over here. */
const NO_TERMINAL = 'a task is taken over in the terminal of its run, and this run has none'

async function runOffered(
  job: Job,
  agent: Agent,
  { ports, emit, taken }: Reporting<AttemptPorts> & { readonly taken: AbortSignal },
): Promise<Ran> {
  const { server } = ports
  const reporting = { ports, emit }
  if (!agent.takesMcpServers || server === null)
    return {
      outcome: await listenAndAsk(job, agent, reporting, { servers: {}, ends: [taken] }, () => false),
      reported: NO_SIGNALS,
    }
  const { task, askSeconds, resources, backlog } = job
  const { slot, control, ask, draftTask } = ports
  const over = AbortSignal.any([control.signal, control.skipped(task.id)])
  const signals = new AttemptSignals(
    { id: task.id, askSeconds, resources, mayAdd: backlog.mayAdd },
    { folder: slot.attemptFolder, root: slot.work.root, over, ask, draftTask },
    emit,
  )
  const { env, folder, unanswered } = signals
  const servers = signalServer(server, job, env)
  const request = { servers, signalFolder: folder, held: () => signals.held(), ends: [unanswered, taken] }
  const outcome = await listenAndAsk(job, agent, reporting, request, () => signals.hasEnded).catch(
    async (error: unknown) => {
      await signals.close()
      throw error
    },
  )
  const endedForNoAnswer = unanswered.aborted
  const reported = await signals.close()
  return { outcome: withSignals(outcome, reported, endedForNoAnswer), reported }
}

/**
 * Runs an agent, and asks it once how its task stands, in the same conversation, if it has changed something and ended without
 * a word about that.
 */
async function listenAndAsk(
  job: Job,
  agent: Agent,
  reporting: Reporting<AttemptPorts>,
  request: SignalRequest,
  hasSaid: () => boolean,
): Promise<AgentOutcome> {
  const { ports, emit } = reporting
  const first = await listen(job, agent, reporting, request)
  if (first.end.kind !== 'no-marker' || !agent.resumes || first.sessionId === null || hasSaid()) return first
  if ((await ports.slot.take(job.base.head)).changes.length === 0) return first
  emit({ type: 'agent-signal', id: job.task.id, signal: 'progress', text: 'asked whether it is done' })
  return joined(first, await goOn(job, agent, { ...first, prompt: askText() }, reporting, request))
}

/** Puts one thing more to an agent that has ended, in its conversation; null if it cannot go on with it. */
export async function askMore(
  job: Job,
  first: AgentOutcome,
  prompt: string,
  reporting: Reporting<AttemptPorts>,
): Promise<AgentOutcome | null> {
  if (job.byHand !== null || first.sessionId === null) return null
  const agent = await reporting.ports.work.agent(job.agent)
  return agent.resumes ? goOn(job, agent, { ...first, prompt }, reporting, { servers: {}, ends: [] }) : null
}

/** Goes on with the conversation of an agent that has ended, within what its limits leave. */
function goOn(
  job: Job,
  agent: Agent,
  { prompt, ...first }: AgentOutcome & { readonly prompt: string },
  { ports, emit }: Reporting<AttemptPorts>,
  request: SignalRequest,
): Promise<AgentOutcome> {
  const resume = { session: first.sessionId!, used: usedBy(job, first.usage), prompt }
  // The attempt's usage is that of both parts.
  const adding: Emit<Happening> = (event) =>
    emit(event.type === 'agent-usage' ? { ...event, usage: addUsage(first.usage, event.usage) } : event)
  const question = { ...job, resume, limits: limitsAfter(first, job.limits) }
  return listen(question, agent, { ports, emit: adding }, request)
}

/** What an agent that is asked again has left of its limits. */
function limitsAfter({ seconds, usage }: AgentOutcome, limits: Job['limits']): Job['limits'] {
  const used = amountsOf(usage)
  const left = (most: number | null, spent: number | null): number | null =>
    most === null ? null : Math.max(0, most - (spent ?? 0))
  return {
    ...limits,
    seconds: Math.max(LEAST_SECONDS, limits.seconds - seconds),
    budgetUsd: left(limits.budgetUsd, used.usd),
    tokens: left(limits.tokens, used.tokens),
  }
}

/** All that the conversation of a job has used, with this. */
export function usedBy({ resume }: Pick<Job, 'resume'>, usage: Usage): Usage {
  return resume ? addUsage(resume.used, usage) : usage
}

/** For an answer, however long it has worked before. */
const LEAST_SECONDS = 120

/** Two parts of one conversation: the second decides how it ended, if it did not fail. */
function joined(first: AgentOutcome, second: AgentOutcome): AgentOutcome {
  const isAnswer = !['crashed', 'refused', 'no-marker', 'stalled'].includes(second.end.kind)
  const isLonger = second.finalMessage.length > first.finalMessage.length
  return {
    ...second,
    end: isAnswer ? second.end : first.end,
    finalMessage: isAnswer && isLonger ? second.finalMessage : first.finalMessage,
    usage: addUsage(first.usage, second.usage),
    denied: [...new Set([...first.denied, ...second.denied])],
    toolCalls: first.toolCalls + second.toolCalls,
    seconds: first.seconds + second.seconds,
  }
}

/** Runs an agent without ralph's tools: it only answers. */
export async function runAnswering(
  job: AgentJob,
  ports: AgentPorts,
  emit: Emit<Happening>,
): Promise<AgentOutcome> {
  return listen(job, await ports.work.agent(job.agent), { ports, emit }, { servers: {}, ends: [] })
}

/** What an attempt with ralph's own server needs besides. */
interface SignalRequest extends Pick<AgentRequest, 'signalFolder' | 'held'> {
  /** Ralph's own server, which replaces one of the project with the same name. */
  readonly servers: AgentRequest['mcpServers']
  readonly ends: readonly AbortSignal[]
}

async function listen(
  job: AgentJob,
  agent: Agent,
  { ports, emit }: Reporting<AgentPorts>,
  signals: SignalRequest,
): Promise<AgentOutcome> {
  const { task } = job
  return withRequest(job, ports, signals, async (request) => {
    const text = gatheredText((gathered) => emit({ type: 'agent-text', id: task.id, text: gathered }))
    const outcome = await agent.run(request, (event) => {
      if (event.type === 'text') return text.add(event.text)
      text.flush()
      emit(happening(task.id, event))
    })
    text.flush()
    emit({ type: 'agent-usage', id: task.id, usage: outcome.usage })
    return outcome
  })
}

const WINDOW_MS = 50
const MOST_CHARACTERS = 16_384

/** Joins texts that arrive quickly: an agent may print millions of lines, and each event passes through the whole run. */
export function gatheredText(emit: (text: string) => void): {
  readonly add: (text: string) => void
  readonly flush: () => void
} {
  let texts: string[] = []
  let size = 0
  let timer: NodeJS.Timeout | undefined
  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (texts.length > 0) emit(texts.join('\n'))
    texts = []
    size = 0
  }
  return {
    add(text) {
      texts.push(text)
      size += text.length
      timer ??= setTimeout(flush, WINDOW_MS)
      if (size >= MOST_CHARACTERS) flush()
    },
    flush,
  }
}

/** Does `work` with the request to the agent of a job, while its log is open. */
async function withRequest<Result>(
  job: AgentJob,
  ports: AgentPorts,
  { ends, ...signals }: SignalRequest,
  work: (request: AgentRequest) => Promise<Result>,
): Promise<Result> {
  const { task, attempt } = job
  const log = ports.logs.open(`${task.id}-${attempt}.log`, { adds: job.resume != null })
  const { slot, control } = ports
  const notesFile = join(slot.attemptFolder, 'notes.md')
  const request = agentRequest(job, {
    ...signals,
    cwd: slot.work.root,
    env: { ...withMark(slot.env(slot.work), ports.mark), ...job.env },
    notesFile,
    signal: AbortSignal.any([control.signal, control.skipped(task.id), ...ends]),
    killSignal: control.killSignal,
    log: (chunk) => log.write(chunk),
  })
  try {
    return await work(request)
  } finally {
    log.close()
  }
}

/** The request to the agent of a job: the same for an attempt and for a preview of one. */
export function agentRequest(
  job: AgentJob,
  at: Pick<AgentRequest, 'cwd' | 'env' | 'signal' | 'killSignal' | 'log' | 'signalFolder' | 'held'> & {
    readonly notesFile: string
    /** As in SignalRequest. */
    readonly servers: AgentRequest['mcpServers']
  },
): AgentRequest {
  const { task, agent, attempt, prompt, resume, limits, gates, answer } = job
  const { notesFile, servers, ...rest } = at
  return {
    ...rest,
    prompt: resume?.prompt ?? prompt,
    model: agent.model,
    resume: resume ? { session: resume.session, used: resume.used } : undefined,
    limits,
    permission: agent.permission,
    gateCommands: gates.map(({ command }) => command),
    mcpServers: { ...agent.mcpServers, ...servers },
    ...(answer ? { answer } : {}),
    task: { id: task.id, file: task.file, attempt, notesFile, script: task.script },
  }
}

function happening(id: string, event: Exclude<AgentEvent, { type: 'text' }>): Happening {
  switch (event.type) {
    case 'started':
      return { type: 'agent-started', id, pid: event.pid }
    case 'tool':
      return { type: 'agent-tool', id, name: event.name, summary: event.summary, status: event.status }
    case 'usage':
      return { type: 'agent-usage', id, usage: event.usage }
    case 'session':
      return { type: 'agent-session', id, session: event.session }
    case 'retrying':
      return { type: 'agent-retrying', id, reason: event.reason, until: event.until?.toISOString() ?? null }
    case 'warning':
      return { type: 'warning', message: event.message }
    case 'caged':
      return { type: 'caged', id, by: 'agent', ...event.action }
    default:
      return unreachable(event)
  }
}

/** Starts the agent's interactive program for a person, in the attempt's workspace; leaving it means that the work is done. */
export async function driveAgent(
  job: Job,
  ports: AttemptPorts,
  emit: Emit<Happening>,
): Promise<AgentOutcome> {
  const { task, agent: choice, byHand: session } = job
  const agent = await ports.work.agent(choice)
  const { terminal } = ports
  if (session === null || terminal === null || !agent.byHand)
    throw new Error(`${choice.name} cannot be driven by hand here`)
  const sessionId = typeof session === 'object' ? session.id : null
  return withRequest(job, ports, { servers: {}, ends: [] }, async (request) => {
    emit({ type: 'taken-over', id: task.id, agent: choice.name, session: sessionId })
    const withdraw = ports.control.offer(
      task.id,
      () => `you drive ${task.id} already, in the terminal of its run`,
    )
    const driven = agent.byHand!(request, { session, terminal }).finally(withdraw)
    const { end, code, seconds } = await driven
    emit({ type: 'handed-back', id: task.id, code, seconds })
    return { ...UNKNOWN, end, finalMessage: writtenNotes(request) ?? '', sessionId, seconds }
  })
}

/** What is not known of a program that owns the terminal. */
const UNKNOWN: Pick<AgentOutcome, 'usage' | 'model' | 'denied' | 'toolCalls'> = {
  usage: UNKNOWN_USAGE,
  model: null,
  denied: [],
  toolCalls: 0,
}
