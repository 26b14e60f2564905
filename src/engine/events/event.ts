import type { CagedAction } from '../../base/caged.ts'
import type { Denial } from '../../base/denial.ts'
import type { Gate, GateResult } from '../../base/gate.ts'
import type { Interference } from './interference.ts'
import type { OutcomeKind } from '../../base/outcome.ts'
import type { TaskJson } from '../../backlog/json.ts'
import type { Usage } from '../../base/usage.ts'

/**
 * Everything that can happen in a run, as plain data: a line of the journal, and of `ralph run --json`. All views of
 * a run are functions of these. `at` is the time of the event; all times are in ISO 8601.
 */
export type RunEvent = { readonly at: string } & Emitted

/** An event of a run with several jobs: `workspace` is its workspace; 0 is that of landings. */
export type Emitted = Happening & { readonly workspace?: number }

/** An event before it gets its time, in about the order in which events happen. */
export type Happening =
  | RunStarted
  | Recovered
  | Warned
  | WorkerJoined
  | WorkerLeft
  | Preparing
  | BaselineStarted
  | BaselineFinished
  | TaskStarted
  | AttemptStarted
  | AgentStarted
  | AgentText
  | AgentTool
  | AgentUsage
  | AgentRetrying
  | AgentSignal
  | TaskAdded
  | TakenOver
  | HandedBack
  | GateStarted
  | GateFinished
  | GatesAgain
  | Interfered
  | Caged
  | CandidateReady
  | LandingStarted
  | Committing
  | Sealing
  | LandingFinished
  | AttemptFinished
  | TaskCompleted
  | TaskBlocked
  | TaskGivenUp
  | MilestoneCompleted
  | Question
  | Answered
  | Waiting
  | Paused
  | Resumed
  | Stopping
  | Pushed
  | RunFinished

/** What a run is about to do, and where. */
export interface RunStarted {
  readonly type: 'run-started'
  readonly version: 1
  /** The id of the run and its journal. */
  readonly run: string
  readonly root: string
  /** Null for a detached HEAD. */
  readonly branch: string | null
  readonly head: string
  readonly agent: string
  readonly gates: readonly Gate[]
  readonly sandbox: SandboxState
  readonly loop: boolean
  /** How many tasks it works on at once; with a queue, the most that it gives to workers. */
  readonly jobs: number
  /** The number of tasks in the backlog by status. */
  readonly counts: Readonly<Record<NonNullable<TaskJson['status']>, number>>
  /** In dollars, for the whole run; null if it has no limit. */
  readonly budget: number | null
  /** The address where workers find its jobs, without a password; null if it has no workers. */
  readonly queue: string | null
}

/** A worker does jobs of the run from now on. */
export interface WorkerJoined {
  readonly type: 'worker-joined'
  readonly worker: string
  /** How many jobs it does at once. */
  readonly places: number
  /** The labels of tasks that it takes; empty for all tasks. */
  readonly labels: readonly string[]
}

/** A worker does no more jobs. Another one does those that it had. */
export interface WorkerLeft {
  readonly type: 'worker-left'
  readonly worker: string
  /** `lost`: it sends nothing any more. */
  readonly why: 'ended' | 'lost'
  /** One sentence. */
  readonly reason: string
}

/** Whether agents and gates are in a sandbox of the system. */
export interface SandboxState {
  readonly on: boolean
  /** Why they are not; null if they are, or if no sandbox was requested. */
  readonly reason: string | null
}

/** Something that was found of an earlier run which died, and what was done about it. */
export interface Recovered {
  readonly type: 'recovered'
  readonly message: string
  readonly task: string | null
  /** The ref that now keeps the work in the tree. */
  readonly ref: string | null
}

/** A warning for a person; the run continues. */
export interface Warned {
  readonly type: 'warning'
  readonly message: string
}

/** Something is being prepared: the packages of a workspace, or the queue of a run. */
export interface Preparing {
  readonly type: 'preparing'
  readonly command: string
}

/** The gates run on the untouched tree. */
export interface BaselineStarted {
  readonly type: 'baseline-started'
  readonly gates: readonly Gate[]
}

export interface BaselineFinished {
  readonly type: 'baseline-finished'
  readonly results: readonly GateResult[]
}

export interface TaskStarted {
  readonly type: 'task-started'
  readonly id: string
  readonly task: TaskJson
  readonly tier: string
  readonly limits: { readonly turns: number; readonly seconds: number; readonly attempts: number }
  readonly agent: string
}

export interface AttemptStarted {
  readonly type: 'attempt-started'
  readonly id: string
  /** The number of this attempt among all that are kept. */
  readonly attempt: number
  /** The number of this attempt among those that count, and how many the task has. */
  readonly counted: number
  readonly most: number
  readonly agent: string
  readonly model: string | null
  /** The raw stream, relative to the root. */
  readonly log: string
  /** The worker that makes it, which has its log; absent if it is made here. */
  readonly worker?: string
}

export interface AgentStarted {
  readonly type: 'agent-started'
  readonly id: string
  readonly pid: number
}

export interface AgentText {
  readonly type: 'agent-text'
  readonly id: string
  readonly text: string
}

export interface AgentTool {
  readonly type: 'agent-tool'
  readonly id: string
  readonly name: string
  readonly summary: string
  readonly status: 'running' | 'ok' | 'failed' | 'denied'
}

/** The attempt's sum so far. */
export interface AgentUsage {
  readonly type: 'agent-usage'
  readonly id: string
  readonly usage: Usage
}

/** The agent itself waits for its service. */
export interface AgentRetrying {
  readonly type: 'agent-retrying'
  readonly id: string
  readonly reason: string
  readonly until: string | null
}

/** The agent reports its state with a tool of ralph's; ralph does not trust it. */
export interface AgentSignal {
  readonly type: 'agent-signal'
  readonly id: string
  readonly signal: 'done' | 'blocked' | 'progress'
  /** Its summary, its reason or its note. */
  readonly text: string
}

/** The agent has added a task, which becomes part of this task's commit. */
export interface TaskAdded {
  readonly type: 'task-added'
  readonly id: string
  /** The id of the new task. */
  readonly added: string
  readonly title: string
}

/** From now on a person drives the agent's interactive program, in the terminal of the run. */
export interface TakenOver {
  readonly type: 'taken-over'
  readonly id: string
  readonly agent: string
  /** The agent's conversation that is continued; null for a new one, or the last one in that folder. */
  readonly session: string | null
}

/** The person has left it: the gates check the work. */
export interface HandedBack {
  readonly type: 'handed-back'
  readonly id: string
  /** How the program ended; null if it was ended, or never started. */
  readonly code: number | null
  readonly seconds: number
}

export interface GateStarted {
  readonly type: 'gate-started'
  readonly id: string
  readonly gate: Gate
}

export interface GateFinished {
  readonly type: 'gate-finished'
  readonly id: string
  readonly result: GateResult
}

/** Gates changed files, as a formatter does: all of them run once more on the result. */
export interface GatesAgain {
  readonly type: 'gates-again'
  readonly id: string
  readonly paths: readonly string[]
}

/** The agent did something that it may not do. */
export interface Interfered {
  readonly type: 'interference'
  readonly id: string
  readonly interference: Interference
}

/** The sandbox refused an action of an agent or a gate, as far as ralph can see. */
export interface Caged extends CagedAction {
  readonly type: 'caged'
  /** The task; empty if the gates run before the first one. */
  readonly id: string
  readonly by: 'agent' | 'gate'
}

export interface AttemptFinished {
  readonly type: 'attempt-finished'
  readonly id: string
  readonly attempt: number
  readonly counted: number
  readonly outcome: OutcomeKind
  readonly reason: string
  readonly detail: string
  readonly seconds: number
  readonly usage: Usage
  readonly denied: readonly Denial[]
  /** The ref that keeps the attempt; null if the task's commit contains all of it. */
  readonly ref: string | null
}

/** The work has passed, and is kept until it lands. */
export interface CandidateReady {
  readonly type: 'candidate-ready'
  readonly id: string
  readonly attempt: number
  readonly ref: string
}

/** The candidate becomes the task's commit. */
export interface LandingStarted {
  readonly type: 'landing-started'
  readonly id: string
  readonly ref: string
}

/** The result of a landing. */
export interface LandingFinished {
  readonly type: 'landing-finished'
  readonly id: string
  /** `held`: the person's uncommitted work is in the way. */
  readonly result: 'landed' | 'conflict' | 'gate-failed' | 'held' | 'not-committed'
  /** The person's files in the way, if it is held. */
  readonly paths: readonly string[]
}

/** git commits the work, with the repository's hooks. */
export interface Committing {
  readonly type: 'committing'
  readonly id: string
}

/** The search for the commit's seal. */
export interface Sealing {
  readonly type: 'sealing'
  readonly id: string
  readonly seconds: number
  /** The expected duration of the whole search. */
  readonly expectedSeconds: number
}

export interface TaskCompleted {
  readonly type: 'task-completed'
  readonly id: string
  readonly title: string
  readonly commit: string
  /** In seconds, for all attempts that led to it, with the landing and its seal. */
  readonly duration: number
  readonly attempts: number
  readonly turns: number | null
  readonly cost: number | null
  readonly usage: Usage
  readonly files: number
  readonly added: number
  readonly removed: number
}

export interface TaskBlocked {
  readonly type: 'task-blocked'
  readonly id: string
  readonly title: string
  /** The agent's question, or why no attempt follows. */
  readonly reason: string
  readonly asks: boolean
  readonly attempts: number
  readonly commit: string
}

/** A task was left TODO: its attempts are kept, and its work is not in the tree. */
export interface TaskGivenUp {
  readonly type: 'task-given-up'
  readonly id: string
  readonly title: string
  readonly reason: string
}

export interface MilestoneCompleted {
  readonly type: 'milestone-completed'
  readonly milestone: string
  readonly tasks: number
}

/** The run cannot decide, and asks a person. */
export interface Question {
  readonly type: 'question'
  readonly id: string
  readonly text: string
  readonly options: readonly string[]
}

/** Somebody has answered. */
export interface Answered {
  readonly type: 'answered'
  readonly id: string
  readonly answer: string
}

/** The run, or one of its agents, waits. */
export interface Waiting {
  readonly type: 'waiting'
  readonly id: string
  readonly until: string
  readonly reason: string
}

/** A person asked the run to begin no further attempt. */
export interface Paused {
  readonly type: 'paused'
}

/** A paused run continues. */
export interface Resumed {
  readonly type: 'resumed'
}

/** A person asked the run to end, or to end sooner than asked before. */
export interface Stopping {
  readonly type: 'stopping'
  /** An earlier version of ralph did not write it. */
  readonly how?: StopMode
}

/** How a run ends: after the attempts under way; in order, which records them; or at once, by a kill of what still runs. */
export type StopMode = 'after-attempt' | 'clean' | 'now'

export interface Pushed {
  readonly type: 'pushed'
  readonly branch: string
}

export interface RunFinished {
  readonly type: 'run-finished'
  readonly completed: readonly string[]
  readonly blocked: readonly string[]
  /** Tasks that were tried and left TODO. */
  readonly failed: readonly string[]
  /** Candidates that did not land: the person's uncommitted work is in the way. */
  readonly held: readonly string[]
  /** The number of TODO tasks that are not eligible. */
  readonly waiting: number
  readonly end: RunEnd
  /** One sentence. */
  readonly reason: string
  readonly seconds: number
  readonly cost: number | null
}

/** Why a run ended. */
export type RunEnd =
  /** It did what was requested: one task, or the most that it may do. */
  | 'done'
  | 'nothing-eligible'
  | 'budget'
  | 'interrupted'
  | 'failed'
  /** It cannot continue before a person does something. */
  | 'stopped'
  /** Its tasks are done, and some could not land. */
  | 'held'
  /** Everything is committed here, and git could not push it. */
  | 'not-pushed'
