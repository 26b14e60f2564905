import type { Agent, Permission } from '../agent/port.ts'
import type { McpServer } from '../base/mcp-server.ts'
import type { Gate, GateResult } from '../events/gate.ts'
import type { GateContext } from '../gates/run.ts'
import type { Repository } from '../git/repository.ts'
import type { Sealer } from '../git/seal/sealer.ts'
import type { TierChoice } from '../select/tier.ts'
import type { Blockage, Completion } from '../task/finish.ts'
import type { Task } from '../task/model.ts'
import type { AttemptRecord } from '../git/record.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { RunFolder } from './run-folder.ts'
import type { TaskSource } from './source.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** What a run is asked to do. */
export interface RunOptions {
  /** One task by its id; null takes whatever is next. */
  readonly task: string | null
  readonly loop: boolean
  readonly maxTasks: number | null
  /** Tries after the first one. */
  readonly retries: number
  readonly onFailure: 'block' | 'stop' | 'ask'
  /** In dollars, for the whole run and for one task. */
  readonly budget: number | null
  readonly maxCostPerTask: number | null
  /** Over the tier's and the task's own, where given. */
  readonly maxTurns: number | null
  readonly timeoutSeconds: number | null
  readonly stallSeconds: number
  readonly gates: readonly Gate[]
  readonly baseline: 'warn' | 'stop' | 'off'
  /** With `{id}`, `{title}` and `{milestone}`. */
  readonly subject: string
  /** A file that finished tasks' notes are added to, relative to the root. */
  readonly progress: string | null
  readonly push: boolean
  /** Task files that are not committed yet are committed before the run. */
  readonly commitTasks: boolean
  readonly logBytes: number
}

/** Everything that a run touches: all of it handed in. */
export interface RunPorts {
  readonly workspace: Workspace
  readonly repository: Repository
  readonly source: TaskSource
  readonly edits: TaskEdits
  readonly folder: RunFolder
  /** Every attempt that is kept, by task and number. */
  readonly attempts: () => Promise<readonly AttemptRecord[]>
  readonly tierOf: (task: Task) => TierChoice
  /** Who does the task, and who goes on while the first waits for a limit to end. */
  readonly agentsFor: (task: Task) => Promise<readonly [AgentChoice, ...AgentChoice[]]>
  readonly prompt: (request: PromptRequest) => Promise<string>
  readonly runGate: (gate: Gate, context: GateContext) => Promise<GateResult>
  /** Null where commits are not sealed. */
  readonly sealer: Sealer | null
  /** Asks a person what to do with a task that has failed; null where there is none. */
  readonly ask: ((question: FailureQuestion) => Promise<FailureAnswer>) | null
  /** Asks whether to commit task files that are not committed yet; null where there is no person. */
  readonly askToCommit: ((paths: readonly string[]) => Promise<boolean>) | null
  readonly push: () => Promise<{ readonly branch: string } | { readonly problem: string }>
  /** What a person should know of the agents before the run begins, and that stops nothing. */
  readonly warnings: readonly string[]
  /** Marks every process that the run starts, those of git too, so that the next run can find them. */
  readonly mark: string
  /** Ends what a dead run left alive; returns what it found, one line each. */
  readonly endLeftovers: (mark: string) => Promise<readonly string[]>
  readonly now: () => Date
  /** Waits, or stops waiting when the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>
  /** Called between two side effects; a test kills the run there. */
  readonly checkpoint: (name: Checkpoint) => void
  readonly env: Readonly<Record<string, string | undefined>>
  /** The first Ctrl-C: finish cleanly. */
  readonly signal: AbortSignal
  /** The second: end at once what still runs. */
  readonly killSignal: AbortSignal
  readonly pid: number
}

/** The edits of a task file that are ralph's, in the words of the team: each gives the file's new text. */
export interface TaskEdits {
  complete(task: Task, completion: Completion): string
  block(task: Task, blockage: Blockage): string
}

/** An agent, and how a task's settings have it work. */
export interface AgentChoice {
  readonly agent: Agent
  /** With its version, where that is known: `claude 2.1.326`. */
  readonly label: string
  readonly model: string | null
  readonly permission: Permission
  readonly mcpServers: Readonly<Record<string, McpServer>>
}

export interface PromptRequest {
  readonly task: Task
  readonly tasks: readonly Task[]
  /** Those of this task, oldest first. */
  readonly attempts: readonly AttemptRecord[]
  readonly gates: readonly Gate[]
  /** Gates that failed before anybody began. */
  readonly failedBefore: readonly GateResult[]
}

export interface FailureQuestion {
  readonly task: Task
  /** Why nothing more is tried. */
  readonly reason: string
}
export type FailureAnswer = 'retry' | 'skip' | 'block' | 'abort'
