import type { AgentChoice, AgentOutcome, AgentQuestion, AgentReply } from '../../agents/port.ts'
import { attemptFinished } from '../../engine/attempt.ts'
import { decide, type Situation } from '../../engine/decide.ts'
import { outcome, outcomeOfEnd } from '../../engine/outcome.ts'
import { runAnswering } from '../../engine/run-agent.ts'
import type { Happening } from '../../engine/events/event.ts'
import { formatCost } from '../../base/usage.ts'
import { rawChanges } from '../../git/raw-changes.ts'
import type { RunTrace } from '../../process/tree.ts'
import { freeAgent } from '../../engine/free-agent.ts'
import { Ledger } from '../../engine/ledger.ts'
import type { Emit, RunOptions, RunPorts } from '../../engine/ports.ts'
import { openBranch } from '../../engine/slot/branch.ts'
import { takeCheckout } from '../../engine/slot/checkout.ts'
import type { Slot } from '../../engine/slot/slot.ts'
import { NO_WAITS, waited } from '../../engine/task.ts'

/** Limits for each question, and for all of them. */
type QuestionOptions = Pick<RunOptions, 'retries' | 'budget' | 'stallSeconds'> & {
  readonly turns: number
  readonly seconds: number
}

/** What asking uses. */
export type QuestionPorts = Pick<
  RunPorts,
  'home' | 'slots' | 'logs' | 'now' | 'sleep' | 'control' | 'mark' | 'onStarted'
> & {
  readonly choices: readonly [AgentChoice, ...AgentChoice[]]
  /** Notes what is under way, for the run that may have to end it; null if nothing is. */
  readonly note: (work: RunTrace | null) => void
}

/** Puts questions to agents; limits, waits and money are counted over all questions. */
export class AgentQuestions {
  readonly #options: QuestionOptions
  readonly #ports: QuestionPorts
  readonly #emit: Emit<Happening>
  readonly #ledger = new Ledger([])
  #spentUsd: number | null

  constructor(
    options: QuestionOptions & { readonly spentUsd: number | null },
    ports: QuestionPorts,
    emit: Emit<Happening>,
  ) {
    this.#options = options
    this.#ports = ports
    this.#emit = emit
    this.#spentUsd = options.spentUsd
  }

  /** The cost of all questions so far; null if unknown. */
  get spentUsd(): number | null {
    return this.#spentUsd
  }

  /** Repeats the question until there is an answer, or a reason to stop; waits for limits as a run does. */
  async ask(question: AgentQuestion): Promise<AgentReply> {
    const { control, choices, sleep, now } = this.#ports
    const waiting = { ports: this.#ports, ledger: this.#ledger, emit: this.#emit }
    let waits = NO_WAITS
    for (let counted = 1; ;) {
      const choice = await freeAgent(waiting, choices, { id: question.id, over: control.stopping })
      if (!choice || control.isStopping) return INTERRUPTED
      const spent = this.#overBudget()
      if (spent !== null) return { kind: 'stopped', why: 'budget', reason: spent }
      const left = this.#left()
      const agent = await this.#run(question, choice)
      const { usage, seconds, finalMessage: text } = agent
      const { kind } = agent.end
      if (kind === 'interrupted') return INTERRUPTED
      if (kind === 'done' || kind === 'no-marker')
        return {
          kind: 'answered',
          text,
          agent: choice.label,
          model: agent.model ?? choice.model,
          usage,
          seconds,
        }
      if (agent.end.kind === 'blocked') return { kind: 'stopped', why: 'asks', reason: agent.end.reason }
      const ended = outcomeOfEnd(agent.end)
      const decision = decide(
        { outcome: ended, seconds, usage, unchanged: true },
        {
          ...this.#situation(counted, left),
          waits: waits.waits,
          unpaid: waits.unpaid.has(choice.name),
          now: now(),
        },
      )
      switch (decision.kind) {
        case 'wait':
          this.#ledger.limit(choice.name, decision)
          waits = waited(waits, choice, ended)
          break
        case 'retry':
          counted++
          waits = NO_WAITS
          await sleep(decision.pauseSeconds * 1000, control.signal)
          break
        case 'stop':
          return {
            kind: 'stopped',
            why: decision.why === 'budget' ? 'budget' : 'failed',
            reason: decision.reason,
          }
        case 'complete':
        case 'leave':
        case 'hand-over':
        case 'give-up':
          return { kind: 'stopped', why: 'failed', reason: ended.reason }
      }
    }
  }

  #situation(counted: number, runBudgetLeft: number | null): Omit<Situation, 'now' | 'waits' | 'unpaid'> {
    return { counted, most: this.#options.retries + 1, series: [], maxCostPerTask: null, runBudgetLeft }
  }

  #left(): number | null {
    const { budget } = this.#options
    return budget === null ? null : Math.max(0, budget - (this.#spentUsd ?? 0))
  }

  #overBudget(): string | null {
    const { budget } = this.#options
    const spent = this.#spentUsd ?? 0
    if (budget === null || spent < budget) return null
    return `planning has cost ${formatCost(spent)}, its budget is ${formatCost(budget)}`
  }

  /** Runs the agent once, in a slot with the files of the checkout: it is only to read, and what it writes is thrown away. */
  async #run(question: AgentQuestion, choice: AgentChoice): Promise<AgentOutcome> {
    const { home, slots, note, mark, onStarted } = this.#ports
    const slot = slots.get(1)
    const { tree } = await takeCheckout(home, slots.folder)
    await slot.bringWork(tree, null)
    const head = await openBranch(home, null, () => undefined).tip()
    await slot.lendGit(head, question.id)
    note({ mark, processes: [] })
    const forget = onStarted((processes) => note({ mark, processes }))
    try {
      const agent = await this.#attempt(question, choice, slot)
      const { costUsd } = agent.usage
      if (costUsd !== null) this.#spentUsd = (this.#spentUsd ?? 0) + costUsd
      const after = (await slot.take(head.head)).tree
      const paths = after === tree ? [] : (await rawChanges(home.git, tree, after)).map(({ path }) => path)
      if (paths.length > 0)
        this.#emit({ type: 'interference', id: question.id, interference: { kind: 'written', paths } })
      return agent
    } finally {
      forget()
      note(null)
    }
  }

  async #attempt(question: AgentQuestion, choice: AgentChoice, slot: Slot): Promise<AgentOutcome> {
    const { id, file, prompt, answer, env, time, most } = question
    const { control, now, slots, logs, mark } = this.#ports
    const { turns, seconds, stallSeconds } = this.#options
    const log = `.ralph/logs/${id}-${time}.log`
    this.#emit({
      type: 'attempt-started',
      id,
      attempt: time,
      counted: time,
      most,
      agent: choice.label,
      model: choice.model,
      log,
    })
    const startedAt = now()
    const agent = await runAnswering(
      {
        task: { id, title: id, file, produces: null, script: null },
        agent: choice,
        attempt: time,
        prompt,
        limits: { turns, seconds, stallSeconds, budgetUsd: this.#left() },
        gates: [],
        answer,
        env,
      },
      {
        slot,
        logs,
        mark,
        work: await slots.programs(slot, slot.work),
        control,
      },
      this.#emit,
    )
    const { end } = agent
    const ended = end.kind === 'no-marker' ? outcome('done', 'the agent answers') : outcomeOfEnd(end)
    const took = Math.max(0, (now().getTime() - startedAt.getTime()) / 1000)
    const facts = { task: id, number: time, counted: time, seconds: took, usage: agent.usage }
    this.#emit(attemptFinished(facts, ended, { denied: [], ref: null }))
    return agent
  }
}

const INTERRUPTED: AgentReply = { kind: 'stopped', why: 'interrupted', reason: 'planning was interrupted' }
