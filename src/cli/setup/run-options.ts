import type { AgentOptions } from '../../agents/agents.ts'
import type { Gate } from '../../base/nouns.ts'
import type { RunOptions } from '../../engine/ports.ts'
import { detectGates } from '../../config/detect-gates.ts'
import { GATE_TIMEOUT_SECONDS, type Config, type SandboxMode } from '../../config/defaults.ts'

/** The command line of a run; null leaves a value to the configuration. */
export interface RunWish extends AgentOptions {
  /** The named task; null for the next one. */
  readonly task: string | null
  readonly loop: boolean
  readonly maxTasks: number | null
  readonly jobs: number | null
  /** The branch to land on, if it is not the checked-out one. */
  readonly branch: string | null
  readonly retries: number | null
  readonly onFailure: RunOptions['onFailure'] | null
  readonly maxTurns: number | null
  readonly timeoutSeconds: number | null
  /** The commands of the gates; an empty list means none. */
  readonly gates: readonly string[] | null
  readonly baseline: RunOptions['baseline'] | null
  readonly push: boolean
  readonly commitTasks: boolean
  readonly sandbox: SandboxMode | null
  /** The queue to workers: empty for the configured one, null for none. */
  readonly queue: string | null
  /** The remote that workers share with the run. */
  readonly remote: string | null
  /** Whether a person can be asked. */
  readonly isInteractive: boolean
}

/** A command line that leaves everything to the configuration. */
export const NO_WISH: RunWish = {
  task: null,
  loop: false,
  maxTasks: null,
  jobs: null,
  branch: null,
  retries: null,
  onFailure: null,
  budget: null,
  maxTurns: null,
  timeoutSeconds: null,
  gates: null,
  baseline: null,
  push: false,
  commitTasks: false,
  agent: null,
  model: null,
  command: null,
  full: false,
  sandbox: null,
  byHand: false,
  queue: null,
  remote: null,
  isInteractive: false,
}

/** The options of a run: from the command line, else from the configuration. */
export function runOptions(
  wish: RunWish,
  { config, root }: { readonly config: Config; readonly root: string },
): RunOptions {
  const { task, loop, maxTurns, timeoutSeconds } = wish
  return {
    task,
    loop,
    maxTasks: wish.maxTasks ?? config.maxTasks,
    jobs: jobsOf(wish, config),
    branch: wish.branch,
    overlap: config.overlap,
    retries: wish.retries ?? config.retries,
    onFailure: onFailureOf(wish, config),
    byHand: wish.byHand,
    budget: wish.budget ?? config.budget,
    maxCostPerTask: config.maxCostPerTask,
    maxTurns,
    timeoutSeconds,
    stallSeconds: config.stallSeconds,
    askSeconds: config.askSeconds,
    checkCriteria: config.checkCriteria,
    gates: gatesOf(wish, config, root),
    gatesChanged: config.gatesChanged,
    baseline: wish.baseline ?? config.baseline,
    subject: config.commit.subject,
    progress: config.progress,
    push: wish.push || config.push,
    maxAddedTasks: config.maxAddedTasks,
  }
}

/** With a queue the number of jobs follows the workers, up to this. */
const MOST_GIVEN = 100

function jobsOf({ loop, jobs, byHand, queue }: RunWish, config: Config): number {
  // A person drives one agent at a time.
  if (!loop || byHand) return 1
  return jobs ?? (queue === null ? config.jobs : MOST_GIVEN)
}

function gatesOf({ gates }: RunWish, config: Config, root: string): readonly Gate[] {
  if (gates === null) return config.gates ?? detectGates(root)
  return gates.map((command) => ({
    name: command,
    command,
    required: true,
    timeoutSeconds: GATE_TIMEOUT_SECONDS,
  }))
}

/** Without a person to ask, a failed task is blocked, and the others are done. */
function onFailureOf({ onFailure, isInteractive }: RunWish, config: Config): RunOptions['onFailure'] {
  const action = onFailure ?? config.onFailure
  if (action === 'block' || action === 'stop') return action
  return isInteractive ? 'ask' : 'block'
}
