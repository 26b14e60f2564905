import type { Gate } from '../events/gate.ts'
import type { RunOptions } from '../run/ports.ts'
import { detectGates } from '../gates/detect.ts'
import { GATE_TIMEOUT_SECONDS, type Config, type SandboxMode } from './config/defaults.ts'

/** What the command line says of a run; null where it leaves that to the configuration. */
export interface RunWish {
  /** The task that was named; null takes whatever is next. */
  readonly task: string | null
  readonly loop: boolean
  readonly maxTasks: number | null
  readonly jobs: number | null
  /** A workspace of its own also for one job. */
  readonly isolated: boolean
  /** The branch that is landed on, where that is not the one checked out. */
  readonly branch: string | null
  readonly retries: number | null
  readonly onFailure: RunOptions['onFailure'] | null
  readonly budget: number | null
  readonly maxTurns: number | null
  readonly timeoutSeconds: number | null
  /** The commands of the gates; none at all where it is empty. */
  readonly gates: readonly string[] | null
  readonly baseline: RunOptions['baseline'] | null
  readonly push: boolean
  readonly commitTasks: boolean
  readonly agent: string | null
  readonly model: string | null
  /** What the agent named `command` runs. */
  readonly command: string | null
  /** The permission `full`. */
  readonly full: boolean
  readonly sandbox: SandboxMode | null
  /** A person drives the agent's own interactive program. */
  readonly byHand: boolean
  /** The queue that leads to workers: empty for the one that is configured, null where there is to be none. */
  readonly queue: string | null
  /** The remote that workers share with the run. */
  readonly remote: string | null
  /** Whether somebody is there to be asked. */
  readonly isInteractive: boolean
}

/** A command line that leaves all of it to the configuration. */
export const NO_WISH: RunWish = {
  task: null,
  loop: false,
  maxTasks: null,
  jobs: null,
  isolated: false,
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

/** What a run is asked to do: the command line's word, else the configuration's. */
export function runOptions(
  wish: RunWish,
  { config, root }: { readonly config: Config; readonly root: string },
): RunOptions {
  const { task, loop, maxTurns, timeoutSeconds, commitTasks } = wish
  return {
    task,
    loop,
    maxTasks: wish.maxTasks ?? config.maxTasks,
    apart: apartOf(wish, config),
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
    commitTasks,
    maxAddedTasks: config.maxAddedTasks,
  }
}

/** With a queue as many jobs go on as workers take, up to this. */
const MOST_GIVEN = 100

/** One task at a time needs no workspace of its own, unless that is asked for. */
function apartOf(
  { loop, jobs: asked, isolated, branch, byHand, queue }: RunWish,
  config: Config,
): RunOptions['apart'] {
  if (queue !== null) return { jobs: loop ? (asked ?? MOST_GIVEN) : 1, branch }
  // A person drives one at a time.
  const jobs = loop && !byHand ? (asked ?? config.jobs) : 1
  return jobs > 1 || isolated || branch !== null ? { jobs, branch } : null
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

/** Where nobody can be asked a task that failed is blocked, and the others are done. */
function onFailureOf({ onFailure, isInteractive }: RunWish, config: Config): RunOptions['onFailure'] {
  const asked = onFailure ?? config.onFailure
  if (asked === 'block' || asked === 'stop') return asked
  return isInteractive ? 'ask' : 'block'
}
