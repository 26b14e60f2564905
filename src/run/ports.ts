import type { Agent } from '../agent/port.ts'
import type { AgentQuestion, AttemptLogs, TaskAddition } from '../attempt/ports.ts'
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
import type { Control } from './control.ts'
import type { Elsewhere } from './elsewhere.ts'
import type { RunFolder } from './folder.ts'
import type { TaskSource } from './source.ts'

/** What a run is asked to do. */
export interface RunOptions {
  /** One task by its id; null takes whatever is next. */
  readonly task: string | null
  readonly loop: boolean
  readonly maxTasks: number | null
  /** How many jobs at once, in workspaces of ralph's own, and the branch that they land on: null is the one that is checked out. Null: one job, in the checkout. */
  readonly apart: { readonly jobs: number; readonly branch: string | null } | null
  /** What tasks do whose Touches overlap. */
  readonly overlap: 'wait' | 'ignore'
  /** Attempts after the first one. */
  readonly retries: number
  readonly onFailure: 'block' | 'stop' | 'ask'
  /** A person drives the agent's own interactive program, from the start. */
  readonly byHand: boolean
  /** In dollars, for the whole run and for one task. */
  readonly budget: number | null
  readonly maxCostPerTask: number | null
  /** Over the tier's and the task's own, where given. */
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
  /** A file that finished tasks' notes are added to, relative to the root. */
  readonly progress: string | null
  readonly push: boolean
  /** Task files that are not committed yet are committed before the run. */
  readonly commitTasks: boolean
  /** Of tasks that agents add, how many the run takes. */
  readonly maxAddedTasks: number
}

/** Everything that a run touches: all of it handed in. */
export interface RunPorts {
  readonly workspace: Workspace
  /** Workspaces of ralph's own: nothing is made before a job needs it. */
  readonly workspaces: Workspaces
  /** Where attempts are made by workers; null where they are made here. */
  readonly elsewhere: Elsewhere | null
  readonly source: TaskSource
  readonly edits: TaskEdits
  readonly origins: Origins
  readonly folder: RunFolder
  readonly logs: AttemptLogs
  /** Every attempt that is kept, by task and number. */
  readonly records: () => Promise<readonly KeptAttempt[]>
  readonly tierOf: (task: Task) => TierChoice
  /** Who does the task, and who goes on while the first waits for a limit to end. */
  readonly agentsFor: (task: Task) => Promise<readonly [AgentChoice, ...AgentChoice[]]>
  readonly agent: (choice: AgentChoice) => Promise<Agent>
  readonly prompt: (request: PromptRequest) => Promise<WrittenPrompt>
  readonly runGate: RunGate
  /** The program that keeps a gate's command from starting, because it is nowhere; null where all are there. */
  readonly missingProgram: (command: string) => Promise<string | null>
  /** Whether agents and gates are in cages. */
  readonly sandbox: SandboxState
  /** Runs a gate as if there were no cage; null where there is none. */
  readonly runGateUncaged: RunGate | null
  /** Runs what installs the packages that a workspace lacks. */
  readonly runPrepare: RunGate
  /** Where the shell is that gates are commands of; null where there is none. */
  readonly shell: string | null
  /** What a task file with that text says of its status, in the words of the team. */
  readonly statusIn: (file: string, text: string) => Promise<Status | null>
  /** Null where commits are not sealed. */
  readonly sealer: Sealer | null
  /**
   * Asks a person what to do with a task that has failed, or to answer its agent; null where there is none. The signal
   * takes the question back.
   */
  readonly ask: ((question: TaskQuestion, signal: AbortSignal) => Promise<TaskAnswer>) | null
  /** Asks a person what an agent at work wants to know; null where there is none. The signal takes the question back. */
  readonly reply: ((question: AgentQuestion, signal: AbortSignal) => Promise<string | null>) | null
  /** The terminal of the run, in which a person can take over; null where there is none. */
  readonly terminal: PersonTerminal | null
  /** How ralph's own server is started, for agents that take one; null where they get none. */
  readonly server: readonly [string, ...string[]] | null
  /** Writes the file of a task that an agent adds, below that root, beside those that are there. */
  readonly addTask: (
    draft: SignalInput<'add_task'>,
    at: { readonly root: string; readonly tasks: readonly Task[] },
  ) => Promise<TaskAddition>
  /**
   * Asks whether to commit task files that are not committed yet; null where there is no person. The signal takes the
   * question back.
   */
  readonly askToCommit: ((paths: readonly string[], signal: AbortSignal) => Promise<boolean>) | null
  readonly push: () => Promise<{ readonly branch: string } | { readonly problem: string }>
  /** What a person should know of the agents before the run begins, and that stops nothing. */
  readonly warnings: readonly string[]
  /** Names a candidate, so that no two are the same. */
  readonly newToken: () => string
  /** Marks every process that the run starts, those of git too, so that the next run can find them. */
  readonly mark: string
  /** Tells which of the agents and gates that were started are alive, each time that one begins; what it returns ends that. */
  readonly onStarted: (listener: (living: readonly StartedProcess[]) => void) => () => void
  /** Ends what a dead run left alive; returns what it found, one line each. */
  readonly endLeftovers: (dead: RunTrace) => Promise<readonly string[]>
  readonly now: () => Date
  /** Waits, or stops waiting when the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>
  /** Called between two side effects; a test kills the run there. */
  readonly checkpoint: (name: Checkpoint) => void
  readonly env: Readonly<Record<string, string | undefined>>
  /** What somebody can do to the run while it goes on; Ctrl-C is one of its callers. */
  readonly control: Control
  readonly pid: number
}

/** What is another in each workspace of ralph's own. */
type JobPorts = Pick<
  RunPorts,
  'prompt' | 'sealer' | 'origins' | 'agent' | 'runGate' | 'runGateUncaged' | 'runPrepare' | 'missingProgram'
>

/** Workspaces of ralph's own, and the branch that is landed on from there. */
export interface Workspaces {
  /** The folder that they are in; throws where there is none. */
  readonly folder: () => string
  readonly furniture: Furniture
  /** The one of that number; 0 is that of landings, where no job works. */
  readonly own: (number: number) => OwnWorkspace
  /** What a job needs of the project as it is there. */
  readonly portsIn: (own: OwnWorkspace) => Promise<JobPorts>
  readonly sourceIn: (own: OwnWorkspace) => Promise<TaskSource>
  readonly trunk: (on: { readonly branch: string; readonly note: (move: Move | null) => void }) => Trunk
  /** Puts the checkout in order after a run that died while it was to follow. */
  readonly finish: (move: Move | null) => Promise<void>
  /** Makes a branch at HEAD where there is none; why jobs cannot land on it, null where they can. */
  readonly prepareBranch: (branch: string) => Promise<string | null>
  /** Throws where this repository lends nothing. */
  readonly refuseUnlendable: () => Promise<void>
}

/** The edits of a task file that are ralph's, in the words of the team: each gives the file's new text. */
interface TaskEdits {
  complete(task: Task, completion: Completion): string
  block(task: Task, blockage: Blockage): string
  /** With what its agent asked, and what a person says to that. */
  answer(task: Task, exchange: { readonly question: string; readonly answer: string }): string
  /** A blocked task as it is once it may be done again. */
  reopened(task: Task): Promise<Task>
}

export interface PromptRequest {
  readonly task: Task
  readonly tasks: readonly Task[]
  /** Those of this task, oldest first. */
  readonly attempts: readonly KeptAttempt[]
  readonly gates: readonly Gate[]
  /** Gates that failed before anybody began. */
  readonly failedBefore: readonly GateResult[]
}

/** A prompt, and what the task names and is not there. */
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
  /** Why nothing more is tried, or what the agent asks. */
  readonly reason: string
  readonly asks: boolean
}

/** What to do with the task, or what to say to its agent. */
export type TaskAnswer = FailureAnswer | { readonly text: string }

export const FAILURE_ANSWERS = ['retry', 'skip', 'block', 'abort'] as const
export type FailureAnswer = (typeof FAILURE_ANSWERS)[number]
