import type { Agent } from '../agent/port.ts'
import type { RunGate } from '../gates/run.ts'
import type { SignalInput } from '../signal/signal.ts'
import type { Status } from '../task/model.ts'
import type { PersonTerminal } from '../process/terminal.ts'
import type { Workspace } from '../workspace/port.ts'
import type { Checkpoint } from '../workspace/checkpoint.ts'
import type { AgentChoice } from './job.ts'

/** Everything that an attempt touches: all of it handed in. */
export interface AttemptPorts {
  readonly workspace: Workspace
  readonly agent: (choice: AgentChoice) => Promise<Agent>
  readonly runGate: RunGate
  /** What a task file with that text says of its status, in the words of the team. */
  readonly statusIn: (file: string, text: string) => Promise<Status | null>
  readonly logs: AttemptLogs
  readonly env: Readonly<Record<string, string | undefined>>
  readonly now: () => Date
  /** The first Ctrl-C: finish cleanly. */
  readonly signal: AbortSignal
  /** The second: end at once what still runs. */
  readonly killSignal: AbortSignal
  readonly control: AttemptControl
  /** The person's terminal, which a program can be lent; null where there is none. */
  readonly terminal: PersonTerminal | null
  /** How ralph's own server is started, for agents that take one; null where they get none. */
  readonly server: readonly [string, ...string[]] | null
  /** Asks a person what the agent wants to know; null where nobody has answered before the signal is aborted. */
  readonly ask: (question: AgentQuestion, signal: AbortSignal) => Promise<string | null>
  /** Writes the file of a task that the agent adds into the workspace. */
  readonly addTask: (draft: SignalInput<'add_task'>) => Promise<TaskAddition>
  /** Called between two side effects; a test kills the run there. */
  readonly checkpoint: (name: Checkpoint) => void
}

/** What an agent wants to know. */
export interface AgentQuestion {
  /** The task that it is at work on. */
  readonly id: string
  readonly text: string
  /** Answers to choose from; any other will do too. */
  readonly options: readonly string[]
}

/** The task that was added, or why it was not. */
export type TaskAddition = { readonly id: string; readonly file: string } | { readonly problem: string }

/** What can be done to an attempt while it goes on. */
interface AttemptControl {
  /** Resolves at once, or when a pause ends. */
  readonly unpaused: () => Promise<void>
  /** Aborts when somebody skips the task: the attempt ends, is kept, and counts for nothing. */
  readonly skipped: AbortSignal
  /** Until what it returns is called, whoever takes over has this done, which says why not, or null. */
  readonly offer: (take: () => string | null) => () => void
}

/** Where attempts write what is not history. An agent may clean it away: it is made anew where it is needed. */
export interface AttemptLogs {
  /** A log of that name, over whatever stood there, that stops growing at its cap. */
  open(name: string): CappedLog
  /** The path of a file or folder beside the logs. */
  result(name: string): string
}

/** A log that stops growing at its cap, saying so; its beginning is what is kept. */
export interface CappedLog {
  write(chunk: Uint8Array): void
  close(): void
}

/** Hears of everything that happens. */
export type Emit<Event> = (event: Event) => void
