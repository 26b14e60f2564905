import type { Agent } from '../agent/port.ts'
import type { QuestionToPerson, AttemptLogs, TaskAddition } from '../attempt/ports.ts'
import type { AgentChoice, GatesChanged } from '../attempt/job.ts'
import type { SandboxState } from '../events/event.ts'
import type { Gate, GateResult } from '../events/gate.ts'
import type { RunGate } from '../gates/run.ts'
import type { KeptAttempt } from '../git/record.ts'
import type { Sealer } from '../git/seal/sealer.ts'
import type { StartedProcess } from '../process/remains.ts'
import type { PersonTerminal } from '../process/terminal.ts'
import type { RunTrace } from '../process/tree.ts'
import type { SignalInput, SignalResource } from '../signal/signal.ts'
import type { TierChoice } from '../select/tier.ts'
import type { Blockage, Completion } from '../task/finish.ts'
import type { Status, Task } from '../task/model.ts'
import type { Origins } from '../task/origin.ts'
import type { Checkpoint } from '../workspace/checkpoint.ts'
import type { Move } from '../workspace/follow.ts'
import type { Furniture } from '../workspace/furnish.ts'
import type { OwnWorkspace } from '../workspace/own.ts'
import type { Workspace } from '../workspace/port.ts'
import type { Trunk } from '../workspace/trunk.ts'
import type { AgentAtWork } from './ask-agent.ts'
import type { Control } from './control.ts'
import type { Elsewhere } from './elsewhere.ts'
import type { RunFolder } from './folder.ts'
import type { TaskSource } from './source.ts'

/** The options of a run. */
export interface RunOptions {
  /** One task by its id; null for the next one. */
  readonly task: string | null
  readonly loop: boolean
  readonly maxTasks: number | null
  /**
   * The number of jobs at once, in workspaces of ralph's own, and the branch that they land on (null: the checked-out
   * one). Null: one job, in the checkout.
   */
  readonly apart: { readonly jobs: number; readonly branch: string | null } | null
  /** What happens to tasks whose Touches overlap. */
  readonly overlap: 'wait' | 'ignore'
  /** The number of attempts after the first. */
  readonly retries: number
  readonly onFailure: 'block' | 'stop' | 'ask'
  /** A person drives the agent's interactive program from the start. */
  readonly byHand: boolean
  /** In dollars, for the whole run and for one task. */
  readonly budget: number | null
  readonly maxCostPerTask: number | null
  /** Override the tier's and the task's own, if set. */
  readonly maxTurns: number | null
  readonly timeoutSeconds: number | null
  readonly stallSeconds: number
  /** How long an agent may wait for a person's answer. */
  readonly askSeconds: number
  /** Whether criteria that the agent says are met are checked off in the task's file. */
  readonly checkCriteria: boolean
  readonly gates: readonly Gate[]
  readonly gatesChanged: GatesChanged
  readonly baseline: 'warn' | 'stop' | 'off'
  /** With `{id}`, `{title}` and `{milestone}`. */
  readonly subject: string
  /** A file that finished tasks' notes are appended to, relative to the root. */
  readonly progress: string | null
  readonly push: boolean
  /** Whether uncommitted task files are committed before the run. */
  readonly commitTasks: boolean
  /** How many of the tasks that agents add the run takes. */
  readonly maxAddedTasks: number
}

/** Everything that a run uses; the caller passes all of it. */
export interface RunPorts {
  readonly workspace: Workspace
  /** Workspaces of ralph's own: each is made when a job needs it. */
  readonly workspaces: Workspaces
  /** Makes attempts by workers; null if they are made here. */
  readonly elsewhere: Elsewhere | null
  readonly source: TaskSource
  readonly edits: TaskEdits
  readonly origins: Origins
  readonly folder: RunFolder
  readonly logs: AttemptLogs
  /** Every attempt that is kept, by task and number. */
  readonly records: () => Promise<readonly KeptAttempt[]>
  readonly tierOf: (task: Task) => TierChoice
  /** The agent for the task, and those that replace it while it waits for a limit to end. */
  readonly agentsFor: (task: Task) => Promise<readonly [AgentChoice, ...AgentChoice[]]>
  readonly agent: (choice: AgentChoice) => Promise<Agent>
  readonly prompt: (request: PromptRequest) => Promise<WrittenPrompt>
  readonly runGate: RunGate
  /** The program of a gate's command that does not exist; null if all exist. */
  readonly missingProgram: (command: string) => Promise<string | null>
  /** Whether agents and gates run in cages. */
  readonly sandbox: SandboxState
  /** Runs a gate without a cage; null if there is no cage. */
  readonly runGateUncaged: RunGate | null
  /** Runs the command that installs a workspace's packages. */
  readonly runPrepare: RunGate
  /** The path of the shell that runs gates; null if there is none. */
  readonly shell: string | null
  /** The status in a task file's text, with the team's words. */
  readonly statusIn: (file: string, text: string) => Promise<Status | null>
  /** Null if commits are not sealed. */
  readonly sealer: Sealer | null
  /**
   * Asks a person what to do with a failed task, or to answer its agent; null if nobody can be asked. The signal
   * withdraws the question.
   */
  readonly ask: ((question: TaskQuestion, signal: AbortSignal) => Promise<PersonAnswer>) | null
  /** Puts the question of a working agent to a person; null if nobody can be asked. The signal withdraws the question. */
  readonly reply: ((question: QuestionToPerson, signal: AbortSignal) => Promise<string | null>) | null
  /** The terminal of the run, in which a person can take over; null if there is none. */
  readonly terminal: PersonTerminal | null
  /** The command that starts ralph's own server, for agents that accept one; null if they get none. */
  readonly server: readonly [string, ...string[]] | null
  /** Writes the file of a task that an agent adds, below that root. */
  readonly addTask: (
    draft: SignalInput<'add_task'>,
    at: { readonly root: string; readonly tasks: readonly Task[] },
  ) => Promise<TaskAddition>
  /**
   * Asks whether to commit uncommitted task files; null if nobody can be asked. The signal withdraws the
   * question.
   */
  readonly askToCommit: ((paths: readonly string[], signal: AbortSignal) => Promise<boolean>) | null
  readonly push: () => Promise<{ readonly branch: string } | { readonly problem: string }>
  /** Warnings about the agents to show before the run begins; they stop nothing. */
  readonly warnings: readonly string[]
  /** A unique token for a candidate's name. */
  readonly newToken: () => string
  /** Marks every process that the run starts, git's too, so that the next run can find them. */
  readonly mark: string
  /** Calls the listener with the living agents and gates each time that one begins; the returned function ends that. */
  readonly onStarted: (listener: (living: readonly StartedProcess[]) => void) => () => void
  /** The agent that a killed planning has left at work; `forget` notes that nothing is left of it. */
  readonly planner: { readonly read: () => AgentAtWork | null; readonly forget: () => void }
  /** Ends what a dead run left alive; returns a line for each process found. */
  readonly endLeftovers: (dead: RunTrace) => Promise<readonly string[]>
  readonly now: () => Date
  /** Waits until the time is over or the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>
  /** Called between two side effects; a test kills the run there. */
  readonly checkpoint: (name: Checkpoint) => void
  readonly env: Readonly<Record<string, string | undefined>>
  /** Controls the run while it goes on; Ctrl-C is one of its callers. */
  readonly control: Control
  readonly pid: number
}

/** The ports that differ in each workspace of ralph's own. */
type JobPorts = Pick<
  RunPorts,
  'prompt' | 'sealer' | 'origins' | 'agent' | 'runGate' | 'runGateUncaged' | 'runPrepare' | 'missingProgram'
>

/** Workspaces of ralph's own, and the branch that they land on. */
export interface Workspaces {
  /** The folder that holds them; throws if there is none. */
  readonly folder: () => string
  readonly furniture: Furniture
  /** The workspace of that number; 0 is that for landings, without a job. */
  readonly own: (number: number) => OwnWorkspace
  /** The ports of the project as it is in that workspace. */
  readonly portsIn: (own: OwnWorkspace) => Promise<JobPorts>
  readonly sourceIn: (own: OwnWorkspace) => Promise<TaskSource>
  readonly trunk: (on: { readonly branch: string; readonly note: (move: Move | null) => void }) => Trunk
  /** Finishes a move of the checkout after a run that died. */
  readonly finish: (move: Move | null) => Promise<void>
  /** Makes a branch at HEAD if it does not exist; null, or why jobs cannot land on it. */
  readonly prepareBranch: (branch: string) => Promise<string | null>
  /** Throws if workspaces cannot be made from this repository. */
  readonly refuseUnlendable: () => Promise<void>
}

/** ralph's edits of a task file, with the team's words: each returns the file's new text. */
interface TaskEdits {
  complete(task: Task, completion: Completion): string
  block(task: Task, blockage: Blockage): string
  /** Adds the agent's question and a person's answer. */
  answer(task: Task, exchange: { readonly question: string; readonly answer: string }): string
  /** Returns a blocked task as it is after it was reopened. */
  reopened(task: Task): Promise<Task>
}

export interface PromptRequest {
  readonly task: Task
  readonly tasks: readonly Task[]
  /** The kept attempts at this task, oldest first. */
  readonly attempts: readonly KeptAttempt[]
  readonly gates: readonly Gate[]
  /** Gates that failed before the run. */
  readonly failedBefore: readonly GateResult[]
}

/** A prompt, and the paths that the task names and that do not exist. */
interface WrittenPrompt {
  readonly text: string
  /** In tokens. */
  readonly estimate: number
  readonly warnings: readonly string[]
  /** What the agent can read on demand. */
  readonly resources: readonly SignalResource[]
}

interface TaskQuestion {
  readonly task: Task
  /** Why there is no further attempt, or the agent's question. */
  readonly reason: string
  readonly asks: boolean
}

/** What to do with the task, or an answer to its agent. */
export type PersonAnswer = FailureAnswer | { readonly text: string }

export const FAILURE_ANSWERS = ['retry', 'skip', 'block', 'abort'] as const
export type FailureAnswer = (typeof FAILURE_ANSWERS)[number]
