import type { CagedAction } from './caged.ts'
import type { Denial } from './denial.ts'
import type { Gate, GateResult } from './gate.ts'
import type { Interference } from './interference.ts'
import type { OutcomeKind } from './outcome.ts'
import type { TaskJson } from './task.ts'
import type { Usage } from './usage.ts'

/**
 * Everything that can happen in a run, as plain data: a line of the journal, and of `ralph run --json`. Whatever shows a
 * run is a function of these. `at` is when it happened, as every time here in the form of ISO 8601.
 */
export type RunEvent = { readonly at: string } & Emitted

/** The same where jobs run at once: `workspace` says in which; 0 is that of landings. */
export type Emitted = Happening & { readonly workspace?: number }

/** The same before it has its time, in about the order in which it happens. */
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
  /** Names the run, and its journal. */
  readonly run: string
  readonly root: string
  /** Null for a detached HEAD. */
  readonly branch: string | null
  readonly head: string
  readonly agent: string
  readonly gates: readonly Gate[]
  readonly sandbox: SandboxState
  readonly loop: boolean
  /** How many tasks it works on at once; with a queue the most that it gives to workers. */
  readonly jobs: number
  /** How many tasks of the backlog have that status. */
  readonly counts: Readonly<Record<NonNullable<TaskJson['status']>, number>>
  /** In dollars, for the whole run; null where it has no limit. */
  readonly budget: number | null
  /** Where workers find its jobs, without a password; null where it does them itself. */
  readonly queue: string | null
}

/** A worker does jobs of the run from now on. */
export interface WorkerJoined {
  readonly type: 'worker-joined'
  readonly worker: string
  /** How many jobs it does at once. */
  readonly places: number
  /** What it takes: tasks that have one of them, or all. */
  readonly labels: readonly string[]
}

/** It does none any more. What it was busy with another worker does. */
export interface WorkerLeft {
  readonly type: 'worker-left'
  readonly worker: string
  /** `lost`: nothing was heard of it; `refused`: it is of another version. */
  readonly why: 'ended' | 'lost' | 'refused'
  /** One sentence. */
  readonly reason: string
}

/** Whether agents and gates are in a sandbox of the system. */
export interface SandboxState {
  readonly on: boolean
  /** Why it is not; null where it is, or was not asked for. */
  readonly reason: string | null
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

/** Something is made ready: a workspace, whose packages are installed, or the queue of a run. */
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
  /** Whether they were known from an earlier run on the same commit. */
  readonly known: boolean
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
  /** Counts every attempt at the task that is kept. */
  readonly attempt: number
  /** Which of those that count it is, and how many the task has. */
  readonly counted: number
  readonly most: number
  readonly agent: string
  readonly model: string | null
  /** The raw stream, relative to the root. */
  readonly log: string
  /** The worker that makes it, where it is not made here: its log is there. */
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

/** The agent says by a tool of ralph's how it stands. It is its word, and no proof. */
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

/** A person drives the agent's own interactive program from here on, in the terminal of the run. */
export interface TakenOver {
  readonly type: 'taken-over'
  readonly id: string
  readonly agent: string
  /** The agent's conversation that they go on with; null for a new one, or the last one in that folder. */
  readonly session: string | null
}

/** They have left it: the gates judge what is there. */
export interface HandedBack {
  readonly type: 'handed-back'
  readonly id: string
  /** How the program ended; null where it was ended, or never started. */
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

/** Gates changed files, as a formatter does: all of them run once more on what is there now. */
export interface GatesAgain {
  readonly type: 'gates-again'
  readonly id: string
  readonly paths: readonly string[]
}

/** The agent did what is not its to do. */
export interface Interfered {
  readonly type: 'interference'
  readonly id: string
  readonly interference: Interference
}

/** The sandbox refused what an agent or a gate tried, as far as that is seen. */
export interface Caged extends CagedAction {
  readonly type: 'caged'
  /** The task; empty where the gates run before the first one. */
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
  /** Where the attempt is kept; null where all of it is in the task's commit. */
  readonly ref: string | null
}

/** The work has passed, and is kept until it has landed. */
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

/** How that went. */
export interface LandingFinished {
  readonly type: 'landing-finished'
  readonly id: string
  /** `held`: something of the person's is in the way. */
  readonly result: 'landed' | 'conflict' | 'gate-failed' | 'held' | 'not-committed'
  /** What is in the way, where it is held. */
  readonly paths: readonly string[]
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
  /** In seconds, of all attempts that led to it, with the landing and its seal. */
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
  /** What its agent asks, or why nothing more is tried. */
  readonly reason: string
  readonly asks: boolean
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

/** The run, or an agent of it, waits. */
export interface Waiting {
  readonly type: 'waiting'
  readonly id: string
  readonly until: string
  readonly reason: string
}

/** Somebody asked the run to begin no further attempt. */
export interface Paused {
  readonly type: 'paused'
}

/** It goes on. */
export interface Resumed {
  readonly type: 'resumed'
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
  /** Done, and not landed: something of the person's is in the way. */
  readonly held: readonly string[]
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
  /** What it did is done, and some of it could not land. */
  | 'held'
  /** All is done and committed here, and git refused to push it. */
  | 'not-pushed'
