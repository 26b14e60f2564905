import type { Agent } from '../agent/port.ts'
import type { RunGate } from '../gates/run.ts'
import type { SignalInput } from '../signal/signal.ts'
import type { Status } from '../task/model.ts'
import type { PersonTerminal } from '../process/terminal.ts'
import type { Workspace } from '../workspace/port.ts'
import type { Checkpoint } from '../workspace/checkpoint.ts'
import type { AgentChoice } from './job.ts'

/** Everything that an attempt uses, all of it passed in. */
export interface AttemptPorts {
  readonly workspace: Workspace
  readonly agent: (choice: AgentChoice) => Promise<Agent>
  readonly runGate: RunGate
  /** The status in the text of a task file, with the team's words for it; null if there is none. */
  readonly statusIn: (file: string, text: string) => Promise<Status | null>
  readonly logs: AttemptLogs
  readonly env: Readonly<Record<string, string | undefined>>
  readonly now: () => Date
  /** The first Ctrl-C: end cleanly. */
  readonly signal: AbortSignal
  /** The second: kill at once what still runs. */
  readonly killSignal: AbortSignal
  readonly control: AttemptControl
  /** The person's terminal, which a program can use; null if there is none. */
  readonly terminal: PersonTerminal | null
  /** The command that starts ralph's MCP server, for agents that take one; null if they get none. */
  readonly server: readonly [string, ...string[]] | null
  /** Asks a person the agent's question; resolves with null if nobody has answered before the signal aborts. */
  readonly ask: (question: QuestionToPerson, signal: AbortSignal) => Promise<string | null>
  /** Writes the file of a task that the agent adds to the workspace. */
  readonly addTask: (draft: SignalInput<'add_task'>) => Promise<TaskAddition>
  /** Called between two side effects; a test kills the run there. */
  readonly checkpoint: (name: Checkpoint) => void
}

/** A question of an agent. */
export interface QuestionToPerson {
  /** The task that it works on. */
  readonly id: string
  readonly text: string
  /** Answers to choose from; any other is valid too. */
  readonly options: readonly string[]
}

/** The added task, or why it was not added. */
export type TaskAddition = { readonly id: string; readonly file: string } | { readonly problem: string }

/** What can be done to an attempt while it runs. */
interface AttemptControl {
  /** Resolves at once, or when a pause ends. */
  readonly unpaused: () => Promise<void>
  /** Aborts when somebody skips the task: the attempt ends and is kept, but does not count. */
  readonly skipped: AbortSignal
  /** Offers `take` to a person who takes over, until the returned function is called; `take` returns null, or why it cannot. */
  readonly offer: (take: () => string | null) => () => void
}

/** Where attempts write what is not history. An agent may delete the folder: it is created again when needed. */
export interface AttemptLogs {
  /** Opens a log of that name, replacing an earlier one; it stops growing at its cap. */
  open(name: string): CappedLog
  /** The path of a file or folder beside the logs. */
  result(name: string): string
}

/** A log that stops growing at its cap, with a note; the beginning is kept. */
export interface CappedLog {
  write(chunk: Uint8Array): void
  close(): void
}

/** Receives each event. */
export type Emit<Event> = (event: Event) => void
