import type { Denial } from './denial.ts'
import type { Usage } from './usage.ts'
import type { Gate, GateResult } from './gate.ts'
import type { Task, Tier } from '../task/model.ts'
import type { OutcomeKind } from './outcome.ts'
import type { Interference } from './interference.ts'

/** Everything that can happen in a run, with when it did: reporters, journal and state are made of it. */
export type RunEvent = { readonly at: Date } & Happening

/** Everything that can happen in a run, in about the order in which it does. */
export type Happening =
  | RunStarted
  | Recovered
  | Warned
  | BaselineStarted
  | BaselineFinished
  | TaskStarted
  | AttemptStarted
  | AgentStarted
  | AgentText
  | AgentTool
  | AgentUsage
  | AgentRetrying
  | GateStarted
  | GateFinished
  | Interfered
  | Committing
  | AttemptFinished
  | Sealing
  | TaskCompleted
  | TaskBlocked
  | TaskGivenUp
  | MilestoneCompleted
  | Waiting
  | Stopping
  | Pushed
  | RunFinished

/** What a run is about to do, and where. */
export interface RunStarted {
  readonly type: 'run-started'
  readonly root: string
  /** Null for a detached HEAD. */
  readonly branch: string | null
  readonly head: string
  readonly agent: string
  readonly gates: readonly Gate[]
  readonly loop: boolean
}

/** A run before this one died; this is one thing that was found of it, and what was done. */
export interface Recovered {
  readonly type: 'recovered'
  readonly message: string
  readonly task: string | null
  /** Where work that was in the tree is kept now. */
  readonly ref: string | null
}

/** Something that a person should know, and that stops nothing. */
export interface Warned {
  readonly type: 'warning'
  readonly message: string
}

/** The gates run on the untouched tree. */
export interface BaselineStarted {
  readonly type: 'baseline-started'
  readonly gates: readonly Gate[]
}

export interface BaselineFinished {
  readonly type: 'baseline-finished'
  readonly results: readonly GateResult[]
  /** Whether they were known from an earlier run on the same commit. */
  readonly known: boolean
}

export interface TaskStarted {
  readonly type: 'task-started'
  readonly task: Task
  readonly tier: Tier
  readonly limits: { readonly turns: number; readonly seconds: number; readonly tries: number }
  readonly agent: string
}

export interface AttemptStarted {
  readonly type: 'attempt-started'
  readonly id: string
  /** Counts all that was ever tried on the task; `try` counts what may end in giving up. */
  readonly attempt: number
  readonly try: number
  readonly tries: number
  readonly agent: string
  readonly model: string | null
  /** The raw stream, relative to the root. */
  readonly log: string
}

export interface AgentStarted {
  readonly type: 'agent-started'
  readonly id: string
  readonly pid: number
  readonly sessionId: string | null
  readonly model: string | null
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
  readonly until: Date | null
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

/** The agent did what is not its to do. */
export interface Interfered {
  readonly type: 'interference'
  readonly id: string
  readonly interference: Interference
}

export interface AttemptFinished {
  readonly type: 'attempt-finished'
  readonly id: string
  readonly attempt: number
  readonly try: number
  readonly outcome: OutcomeKind
  readonly reason: string
  readonly detail: string
  readonly seconds: number
  readonly usage: Usage
  readonly denied: readonly Denial[]
  /** Where the attempt is kept; null where all of it is in the task's commit. */
  readonly ref: string | null
}

/** git commits the work, with the hooks that there are. */
export interface Committing {
  readonly type: 'committing'
  readonly id: string
}

/** The commit looks for its own name. */
export interface Sealing {
  readonly type: 'sealing'
  readonly id: string
  readonly seconds: number
  /** How long it takes in all, as expected. */
  readonly expectedSeconds: number
}

export interface TaskCompleted {
  readonly type: 'task-completed'
  readonly id: string
  readonly title: string
  readonly commit: string
  readonly seconds: number
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
  readonly reason: string
  readonly attempts: number
  readonly commit: string
}

/** A task was left TODO: its attempts are kept, its work is not in the tree. */
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

export interface Waiting {
  readonly type: 'waiting'
  readonly id: string
  readonly until: Date
  readonly reason: string
}

/** Somebody asked the run to end; it is finishing cleanly. */
export interface Stopping {
  readonly type: 'stopping'
}

export interface Pushed {
  readonly type: 'pushed'
  readonly branch: string
}

export interface RunFinished {
  readonly type: 'run-finished'
  readonly completed: readonly string[]
  readonly blocked: readonly string[]
  /** Left TODO after trying. */
  readonly failed: readonly string[]
  /** How many tasks are TODO and cannot be begun. */
  readonly waiting: number
  readonly end: RunEnd
  /** One sentence. */
  readonly reason: string
  readonly seconds: number
  readonly cost: number | null
}

/** Why a run ended. */
export type RunEnd =
  /** It did what it was asked: one task, or as many as there may be. */
  | 'done'
  | 'nothing-eligible'
  | 'budget'
  | 'interrupted'
  | 'failed'
  /** Nothing can be done before a person does something. */
  | 'stopped'
  /** All is done and committed here, and git refused to push it. */
  | 'not-pushed'
