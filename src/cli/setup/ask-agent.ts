import type { AgentChoice, AgentOutcome, AgentQuestion, AgentReply } from '../../agents/port.ts'
import { attemptFinished } from '../../engine/attempt.ts'
import { decide } from '../../engine/decide.ts'
import { outcome, outcomeOfEnd } from '../../engine/outcome.ts'
import { runAnswering } from '../../engine/run-agent.ts'
import type { Happening } from '../../engine/events/event.ts'
import { formatCost, NO_AMOUNTS } from '../../base/usage.ts'
import { rawChanges } from '../../git/raw-changes.ts'
import type { RunTrace } from '../../process/tree.ts'
import { freeAgent } from '../../engine/free-agent.ts'
import { Ledger } from '../../engine/ledger.ts'
import type { Emit, RunOptions, RunPorts } from '../../engine/ports.ts'
import { openBranch } from '../../engine/slot/branch.ts'
import { takeCheckout } from '../../engine/slot/checkout.ts'
import type { Slot } from '../../engine/slot/slot.ts'
import { NO_WAITS, waited } from '../../engine/task.ts'

/** Limits for each question, and for all of them, with what was spent before; null if that is unknown. */
type QuestionOptions = Pick<RunOptions, 'retries' | 'budget' | 'stallSeconds' | 'askSeconds'> & {
  readonly turns: number
  readonly seconds: number
  readonly spentUsd: number | null
}

/** What asking uses. */
type QuestionPorts = Pick<
  RunPorts,
  'home' | 'slots' | 'logs' | 'now' | 'sleep' | 'control' | 'mark' | 'onStarted'
> & {
  readonly choices: readonly [AgentChoice, ...AgentChoice[]]
  /** Notes what is under way, for the run that may have to end it; null if nothing is. */
  readonly note: (work: RunTrace | null) => void
  readonly emit: Emit<Happening>
}

/** Puts questions to agents; limits, waits and money are counted over all questions. */
export function agentQuestions(options: QuestionOptions, ports: QuestionPorts) {
  const { retries, budget, askSeconds } = options
  const { control, choices, sleep, now, emit } = ports
  const ledger = new Ledger([])
  let { spentUsd } = options
  return {
    /** The cost of all questions so far; null if unknown. */
    spentUsd: () => spentUsd,
    /** Repeats the question until there is an answer, or a reason to stop; waits for limits as a run does. */
    async ask(question: AgentQuestion): Promise<AgentReply> {
      let waits = NO_WAITS
      for (let counted = 1; ;) {
        const over = { id: question.id, over: control.stopping }
        const choice = await freeAgent({ ports, ledger, emit }, choices, over)
        if (!choice || control.isStopping) return INTERRUPTED
        if ('unable' in choice) return stopped('failed', choice.unable)
        const spent = spentUsd ?? 0
        if (budget !== null && spent >= budget)
          return stopped(
            'budget',
            `planning has cost ${formatCost(spent)}, its budget is ${formatCost(budget)}`,
          )
        const left = budget === null ? null : budget - spent
        const { end, usage, seconds, toolCalls, ...agent } = await askOnce(question, choice, {
          options,
          ports,
          left,
        })
        if (usage.costUsd !== null) spentUsd = spent + usage.costUsd
        if (end.kind === 'interrupted') return INTERRUPTED
        if (end.kind === 'blocked') return stopped('asks', end.reason)
        if (end.kind === 'done' || end.kind === 'no-marker') {
          const { finalMessage: text, model } = agent
          return { kind: 'answered', text, agent: choice.label, model: model ?? choice.model, usage, seconds }
        }
        const ended = outcomeOfEnd(end)
        const decision = decide(
          { outcome: ended, usage, idle: toolCalls === 0 && !usage.outputTokens },
          {
            counted,
            most: retries + 1,
            series: [],
            taskLimit: NO_AMOUNTS,
            runLeft: { usd: left, tokens: null },
            waits: waits.waits,
            endlessWaits: waits.endlessWaits.get(choice.name) ?? 0,
            askSeconds,
            now: now(),
          },
        )
        if (decision.kind === 'wait') {
          ledger.limit(choice.name, decision)
          waits = waited(waits, choice, ended)
        } else if (decision.kind === 'retry') {
          counted++
          waits = NO_WAITS
          await sleep(decision.pauseSeconds * 1000, control.signal)
        } else if (decision.kind === 'stop')
          return stopped(decision.why === 'budget' ? 'budget' : 'failed', decision.reason)
        else return stopped('failed', ended.reason)
      }
    },
  }
}

function stopped(why: Extract<AgentReply, { kind: 'stopped' }>['why'], reason: string): AgentReply {
  return { kind: 'stopped', why, reason }
}

const INTERRUPTED = stopped('interrupted', 'planning was interrupted')

const GIVEN_SCHEMA = 'It fits the schema that you were given.'

interface Asking {
  readonly options: QuestionOptions
  readonly ports: QuestionPorts
  /** What may still be spent; null without a budget. */
  readonly left: number | null
}

/** Runs the agent once, in a slot with the files of the checkout: it is only to read, and what it writes is thrown away. */
async function askOnce(question: AgentQuestion, choice: AgentChoice, asking: Asking): Promise<AgentOutcome> {
  const { home, slots, note, mark, onStarted, emit } = asking.ports
  const { id } = question
  const slot = slots.get(1)
  const { tree } = await takeCheckout(home, slots.folder)
  await slot.bringWork(tree, null)
  const tip = await openBranch(home, null, () => undefined).tip()
  await slot.lendGit(tip, id)
  note({ mark, processes: [] })
  const forget = onStarted((processes) => note({ mark, processes }))
  try {
    const agent = await runIn(slot, question, choice, asking)
    const after = (await slot.take(tip.head)).tree
    const paths = after === tree ? [] : (await rawChanges(home.git, tree, after)).map(({ path }) => path)
    if (paths.length > 0) emit({ type: 'interference', id, interference: { kind: 'written', paths } })
    return agent
  } finally {
    forget()
    note(null)
  }
}

async function runIn(
  slot: Slot,
  { id, file, prompt, answer, env, time, most }: AgentQuestion,
  choice: AgentChoice,
  { options, ports, left }: Asking,
): Promise<AgentOutcome> {
  const { control, now, slots, logs, mark, emit } = ports
  const { turns, seconds, stallSeconds } = options
  emit({
    type: 'attempt-started',
    id,
    attempt: time,
    counted: time,
    most,
    agent: choice.label,
    model: choice.model,
    log: `.ralph/logs/${id}-${time}.log`,
  })
  const startedAt = now()
  const agent = await runAnswering(
    {
      task: { id, title: id, file, produces: null, script: null },
      agent: choice,
      attempt: time,
      prompt: choice.takesSchema ? prompt.replace(answer.passage, () => GIVEN_SCHEMA) : prompt,
      limits: { turns, seconds, stallSeconds, budgetUsd: left, tokens: null },
      gates: [],
      answer,
      env,
    },
    { slot, logs, mark, work: await slots.programs(slot, slot.work), control },
    emit,
  )
  const { end, usage } = agent
  const ended = end.kind === 'no-marker' ? outcome('done', 'the agent answers') : outcomeOfEnd(end)
  const took = Math.max(0, (now().getTime() - startedAt.getTime()) / 1000)
  const facts = { task: id, number: time, counted: time, seconds: took, usage }
  emit(attemptFinished(facts, ended, { denied: [], ref: null }))
  return agent
}
