import type { McpServer } from '../../base/mcp-server.ts'
import type { Bridge } from '../../bridge/write-back.ts'
import { DEFAULT_TIERS, type TierRow, type TierTable } from '../../select/tier.ts'
import type { FieldName, SectionName, Status, Tier } from '../../task/model.ts'

/** Where tasks lie unless something else is said. */
export const TASK_FOLDER = 'docs/tasks'

/** The whole configuration, each key with its value; null stands for "not set". */
export interface Config {
  /** The task folder, relative to the root; or several, and patterns of files that are no tasks. */
  readonly tasks: string | TaskFolders
  readonly aliases: AliasConfig
  readonly tiers: TierConfig
  /** Null takes the first of `agents` that is installed. */
  readonly agent: string | null
  /** Null looks for every agent that there is, in ralph's own order. */
  readonly agents: readonly string[] | null
  readonly model: string | null
  /** What the agent named `command` runs. */
  readonly command: string | null
  /** Whether that has a terminal, where it prints colours and progress. */
  readonly pty: boolean
  /** Null is `edit`, and `full` in a sandbox. */
  readonly permission: PermissionLevel | null
  /** What `custom` permission gives the agent, in the agent's own words. */
  readonly agentArgs: readonly string[]
  /** Who goes on while the agent waits for a rate limit to end. */
  readonly fallback: readonly string[]
  readonly stallSeconds: number
  /** How long an agent may wait for a person's answer. */
  readonly askSeconds: number
  /** What brings the run's screen back while a program goes on that somebody drives: `ctrl-` and a sign. */
  readonly detachKey: string
  /** Whether a feature's documents stand in the prompt, or are listed there to be read on demand. */
  readonly knowledge: 'inline' | 'resources'
  /** Whether criteria that the agent says are met are checked off in the task's file. */
  readonly checkCriteria: boolean
  /** Null has them detected; an empty list has none. */
  readonly gates: readonly GateConfig[] | null
  /** What to do where a task changes what decides the gates, and more files that do. */
  readonly gatesChanged: { readonly action: 'report' | 'refuse'; readonly paths: readonly string[] }
  readonly baseline: 'warn' | 'stop' | 'off'
  /** Attempts after the first one. */
  readonly retries: number
  /** Null asks in a terminal and blocks elsewhere. */
  readonly onFailure: 'block' | 'stop' | 'ask' | null
  /** In dollars, for a whole run and for one task. */
  readonly budget: number | null
  readonly maxCostPerTask: number | null
  readonly maxTasks: number | null
  /** How many tasks a loop works on at once. */
  readonly jobs: number
  /** What tasks do whose Touches overlap. */
  readonly overlap: 'wait' | 'ignore'
  readonly workspace: WorkspaceConfig
  /** Of tasks that agents add, how many a run may take. */
  readonly maxAddedTasks: number
  readonly commit: CommitConfig
  readonly push: boolean
  /** A file that finished tasks' notes are added to, in the same commit. */
  readonly progress: string | null
  readonly prompt: PromptConfig
  readonly mcpServers: Readonly<Record<string, McpServer>>
  readonly logs: { readonly maxBytes: number }
  readonly sandbox: SandboxConfig
  /** Backlogs of other tools that tasks came from. */
  readonly bridges: readonly Bridge[]
  readonly plan: PlanConfig
  readonly notify: NotifyConfig
  readonly queue: QueueConfig
}

/** Who is called for a question, a blocked task and the end of a run. */
export interface NotifyConfig {
  /** Null calls none. */
  readonly command: string | null
  /** `env:NAME`: the variable that holds its address. Null calls none. */
  readonly webhook: string | null
}

export const SANDBOX_MODES = ['auto', 'on', 'off'] as const
export type SandboxMode = (typeof SANDBOX_MODES)[number]

/** The cage around agents and gates, and what it lets through besides what they need. */
interface SandboxConfig {
  readonly mode: SandboxMode
  /** Files and folders that may be written too. */
  readonly write: readonly string[]
  /** Those with keys that may be read, and `env:NAME` for variables. */
  readonly read: readonly string[]
  /** More that may not be read. */
  readonly denyRead: readonly string[]
  /** Hosts that agents may reach besides their own service. */
  readonly network: readonly string[]
  /** Hosts that gates may reach. */
  readonly gatesNetwork: readonly string[]
}

/** The queue by which workers on other machines are reached. */
interface QueueConfig {
  readonly url: string | null
  /** The remote that run and workers share. */
  readonly remote: string
  /** How often a worker, and a run, says that it lives. */
  readonly heartbeatSeconds: number
  /** After so long without a word a worker's jobs are given to others. */
  readonly lostSeconds: number
  /** How long a run waits for a worker before it says so, and a worker for a run before it ends. */
  readonly workerTimeoutSeconds: number
}

/** Where tasks lie: new ones go into the first folder. */
export interface TaskFolders {
  readonly dir: readonly string[]
  readonly ignore: readonly string[]
}

/** Where plans and decisions stand, and who makes them; null leaves that to what holds for tasks. */
interface PlanConfig {
  readonly dir: string
  readonly decisions: string
  readonly agent: string | null
  readonly model: string | null
  /** In dollars, for one call of `ralph plan`. */
  readonly budget: number | null
}

/** A team's own words for the names of the task file. */
interface AliasConfig {
  /** `Related` stands for keys under which other tasks are named and not needed. */
  readonly fields: Words<FieldName | 'Related'>
  readonly statuses: Words<Status>
  readonly sections: Words<SectionName>
  readonly tiers: Words<Tier>
}
type Words<Name extends string> = { readonly [name in Name]?: readonly string[] }

/** How a task's tier is told, what a task of each tier may take, and who does it. */
interface TierConfig extends TierTable {
  readonly rows: Readonly<Record<Tier, TierSettings>>
}

/** A tier, and who does its tasks where the task and its discipline don't say. */
export interface TierSettings extends TierRow {
  readonly agent: string | null
  readonly model: string | null
}

type PermissionLevel = 'edit' | 'full' | 'custom'

/** One check of the project. */
export interface GateConfig {
  readonly name: string
  readonly command: string
  readonly required: boolean
  readonly timeoutSeconds: number
}

/** Workspaces of ralph's own. */
export interface WorkspaceConfig {
  /** Null has them in the user's folder of caches. */
  readonly dir: string | null
  /** Null has it detected from lock files; an empty one is none. */
  readonly prepare: string | null
  /** Patterns of ignored files that each workspace gets a copy of. */
  readonly copy: readonly string[]
  /** Ignored folders that all share with the checkout. */
  readonly link: readonly string[]
}

/** How the one commit of a task looks. */
interface CommitConfig {
  /** A template: see `SUBJECT_SLOTS`. */
  readonly subject: string
  readonly digits: 'auto' | 4 | 5 | 6 | 7 | 8
  readonly seal: boolean
}

/** How much of the included files a prompt may hold, in tokens: all of them together, and each. */
interface PromptConfig {
  readonly budget: number
  readonly fileCap: number
}

/** What may stand in braces in `commit.subject`. */
export const SUBJECT_SLOTS = ['id', 'title', 'milestone'] as const

/** A gate's time limit where it names none. */
export const GATE_TIMEOUT_SECONDS = 600

const NOBODY = { agent: null, model: null }

/** What holds where nothing is configured. */
export const DEFAULTS: Config = {
  tasks: TASK_FOLDER,
  aliases: { fields: {}, statuses: {}, sections: {}, tiers: {} },
  tiers: {
    rows: {
      Light: { ...DEFAULT_TIERS.rows.Light, ...NOBODY },
      Standard: { ...DEFAULT_TIERS.rows.Standard, ...NOBODY },
      Heavy: { ...DEFAULT_TIERS.rows.Heavy, ...NOBODY },
    },
    keywords: DEFAULT_TIERS.keywords,
  },
  agent: null,
  agents: null,
  model: null,
  command: null,
  pty: false,
  permission: null,
  agentArgs: [],
  fallback: [],
  stallSeconds: 300,
  askSeconds: 3600,
  detachKey: 'ctrl-]',
  knowledge: 'inline',
  checkCriteria: false,
  gates: null,
  gatesChanged: { action: 'report', paths: [] },
  baseline: 'warn',
  retries: 3,
  onFailure: null,
  budget: null,
  maxCostPerTask: null,
  maxTasks: null,
  jobs: 1,
  overlap: 'wait',
  workspace: { dir: null, prepare: null, copy: [], link: [] },
  maxAddedTasks: 20,
  commit: { subject: '{id}: {title}', digits: 'auto', seal: true },
  push: false,
  progress: null,
  prompt: { budget: 60_000, fileCap: 15_000 },
  mcpServers: {},
  logs: { maxBytes: 50_000_000 },
  sandbox: { mode: 'auto', write: [], read: [], denyRead: [], network: [], gatesNetwork: [] },
  bridges: [],
  plan: { dir: 'docs/plans', decisions: 'docs/decisions', agent: null, model: null, budget: null },
  notify: { command: null, webhook: null },
  queue: { url: null, remote: 'origin', heartbeatSeconds: 10, lostSeconds: 30, workerTimeoutSeconds: 60 },
}
