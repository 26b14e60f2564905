import type { Agent } from '../agent/port.ts'
import type { RunGate } from '../gates/run.ts'
import type { Status } from '../task/model.ts'
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
  /** Called between two side effects; a test kills the run there. */
  readonly checkpoint: (name: Checkpoint) => void
}

/** What can be done to an attempt while it goes on. */
interface AttemptControl {
  /** Resolves at once, or when a pause ends. */
  readonly unpaused: () => Promise<void>
  /** Aborts when somebody skips the task: the attempt ends, is kept, and counts for nothing. */
  readonly skipped: AbortSignal
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
