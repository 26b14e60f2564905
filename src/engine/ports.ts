import type { Agent, AgentChoice, Reviewer } from '../agents/port.ts'
import type { SandboxState } from './events/event.ts'
import type { Gate, GateResult } from '../base/nouns.ts'
import type { KeptAttempt } from '../git/record.ts'
import type { Sealer } from '../git/seal/sealer.ts'
import type { StartedProcess } from '../process/started.ts'
import type { PersonTerminal } from '../process/terminal.ts'
import type { TierChoice } from '../backlog/select/tier.ts'
import type { QuestionToPerson, SignalPorts, TaskDraft } from '../agents/signals.ts'
import type { SignalInput, SignalResource } from '../agents/signal/signal.ts'
import type { Task } from '../backlog/model.ts'
import type { TaskFolders } from '../backlog/task-folders.ts'
import type { TaskVocabulary } from '../backlog/vocabulary.ts'
import type { Origins } from '../backlog/origin.ts'
import type { OnCheckpoint } from './checkpoint.ts'
import type { Control } from './control.ts'
import type { RunFolder } from './folder.ts'
import type { openLogs } from './journal.ts'
import type { RunGate } from './gates/run.ts'
import type { GatesChanged, TestPolicy } from './job.ts'
import type { Searched } from './secrets.ts'
import type { Home } from './slot/home.ts'
import type { Readying } from './slot/ready.ts'
import type { Side, Slot } from './slot/slot.ts'
import type { Coordinator } from './workers/coordinator.ts'

/** The options of a run. */
export interface RunOptions {
  /** One task by its id; null for the next one. */
  readonly task: string | null
  readonly loop: boolean
  readonly maxTasks: number | null
  /** How many tasks are worked on at once. */
  readonly jobs: number
  /** The branch that tasks land on; null for the one that is checked out. */
  readonly branch: string | null
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
  readonly maxTokens: number | null
  readonly maxTokensPerTask: number | null
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
  readonly tests: TestPolicy
  readonly baseline: 'warn' | 'stop' | 'off'
  /** With `{id}`, `{title}` and `{milestone}`. */
  readonly subject: string
  /** A file that finished tasks' notes are appended to, relative to the root. */
  readonly progress: string | null
  readonly push: boolean
  /** How many of the tasks that agents add the run takes. */
  readonly maxAddedTasks: number
}

/** What starts processes in one folder of a slot. */
export interface Programs {
  readonly agent: (choice: AgentChoice) => Promise<Agent>
  readonly runGate: RunGate
  /** Runs a command that installs packages. */
  readonly runInstall: RunGate
}

/** The slots of a checkout. */
export interface Slots {
  /** The folder that holds them. */
  readonly folder: string
  readonly readying: Readying
  readonly get: (number: number) => Slot
  readonly programs: (slot: Slot, side: Side) => Promise<Programs>
  /** Writes the prompt of a task, from the files that a folder of a slot holds. */
  readonly prompt: (side: Side) => WritePrompt
  /** Other tools' backlogs, from the files that a folder of a slot holds. */
  readonly origins: (side: Side) => Promise<Origins>
  /** Closes what a landed task came from, if that is in no file; returns why it could not. */
  readonly closeOrigin: (task: Pick<Task, 'id' | 'origin'>) => Promise<string | null>
}

/** The tasks of a run: as they are on its branch, whatever is in the checkout. */
export interface TaskSource {
  readonly folders: TaskFolders
  /** The team's words, in which its files are read and edited. */
  readonly words: TaskVocabulary
  /** The tasks by number, as last read. */
  tasks(): readonly Task[]
  /** Says which files look like tasks that are to be done, and are not read; null if there are none. */
  unread(): string | null
  /** Reads the tasks of a commit. */
  at(commit: string): Promise<void>
}

/** How a run asks people, and the terminal of the person who started it. */
export interface People {
  /** Puts a question to the person, who may also answer in words of their own; null if nobody can be asked. */
  readonly ask: ((question: QuestionToPerson, signal: AbortSignal) => Promise<string | null>) | null
  /** Where a person can take over; null if there is none. */
  readonly terminal: PersonTerminal | null
}

/** Everything that a run uses; the caller passes all of it. */
export interface RunPorts extends People {
  readonly home: Home
  readonly slots: Slots
  /** Makes attempts by workers; null if they are made here. */
  readonly workers: Coordinator | null
  readonly source: TaskSource
  /** What no commit may hold. */
  readonly secrets: Searched
  /** Files of other tools' backlogs that are kept in sync. */
  readonly origins: readonly string[]
  /** The text of the file of a task that an agent adds. */
  readonly draftTask: (draft: SignalInput<'add_task'>, tasks: readonly Task[]) => Promise<TaskDraft>
  readonly folder: RunFolder
  /** Where attempts write what is not history. */
  readonly logs: ReturnType<typeof openLogs>
  readonly tierOf: (task: Task) => TierChoice
  /** The agent for the task, and those that replace it while it waits for a limit to end. */
  readonly agentsFor: (task: Task) => Promise<readonly [AgentChoice, ...AgentChoice[]]>
  /** The agents that review the task. */
  readonly reviewersFor: (task: Task) => Promise<readonly Reviewer[]>
  /** Whether agents and gates run in cages. */
  readonly sandbox: SandboxState
  /** Null if commits are not sealed. */
  readonly sealer: Sealer | null
  /** The command that starts ralph's own server, for agents that accept one; null if they get none. */
  readonly server: readonly [string, ...string[]] | null
  /** Warnings to show before the run begins; they stop nothing. */
  readonly warnings: readonly string[]
  /** Marks every process that the run starts, git's too, so that the next run can find them. */
  readonly mark: string
  /** Calls the listener with the living agents and gates each time that one begins; the returned function ends that. */
  readonly onStarted: (listener: (living: readonly StartedProcess[]) => void) => () => void
  readonly now: () => Date
  /** Waits until the time is over or the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>
  readonly checkpoint: OnCheckpoint
  readonly env: Readonly<Record<string, string | undefined>>
  /** Controls the run while it goes on; Ctrl-C is one of its callers. */
  readonly control: Control
  readonly pid: number
}

/** Everything that an attempt uses: the same here and at a worker. */
export interface AttemptPorts
  extends
    Pick<
      RunPorts,
      | 'home'
      | 'source'
      | 'secrets'
      | 'logs'
      | 'now'
      | 'terminal'
      | 'server'
      | 'checkpoint'
      | 'mark'
      | 'sleep'
      | 'control'
    >,
    Pick<SignalPorts, 'ask' | 'draftTask'> {
  readonly slot: Slot
  readonly work: Programs
  readonly check: Programs
}

/** Receives each event. */
export type Emit<Event> = (event: Event) => void

export type WritePrompt = (request: PromptRequest) => Promise<WrittenPrompt>

export interface PromptRequest {
  readonly task: Task
  readonly tasks: readonly Task[]
  /** The kept attempts at this task, oldest first. */
  readonly attempts: readonly KeptAttempt[]
  readonly gates: readonly Gate[]
  /** Gates that failed before the run. */
  readonly failedBefore: readonly GateResult[]
  /** The number of the attempt whose files the agent finds; null if it finds those of the branch. */
  readonly continues: number | null
  /** Whether the agent gets ralph's tools. */
  readonly hasTools: boolean
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
