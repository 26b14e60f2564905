import type { McpServer } from '../base/mcp-server.ts'
import type { Bridge } from '../backlog/formats.ts'
import { DEFAULT_TIERS, type TierRow, type TierTable } from '../backlog/select/tier.ts'
import type { FieldName, SectionName, Status, Tier } from '../backlog/model.ts'

/** The default folder of tasks. */
export const TASK_FOLDER = 'docs/tasks'

/** The whole configuration, each key with its value; null means "not set". */
export interface Config {
  /** The task folder, relative to the root; or several, with patterns of files that are no tasks. */
  readonly tasks: string | TaskFolders
  readonly aliases: AliasConfig
  readonly tiers: TierConfig
  /** Null for the first of `agents` that is installed. */
  readonly agent: string | null
  /** Null for every known agent, in ralph's own order. */
  readonly agents: readonly string[] | null
  readonly model: string | null
  /** What the agent named `command` runs. */
  readonly command: string | null
  /** Whether that command gets a terminal, in which it prints colours and progress. */
  readonly pty: boolean
  /** Null for `edit`, and in a sandbox for `full`. */
  readonly permission: PermissionLevel | null
  /** The agent's own arguments for `custom` permission. */
  readonly agentArgs: readonly string[]
  /** The agents that replace it while it waits for a rate limit to end. */
  readonly fallback: readonly string[]
  readonly stallSeconds: number
  /** How long an agent may wait for a person's answer. */
  readonly askSeconds: number
  /** The key that returns to the run's screen while a driven program continues: `ctrl-` and a character. */
  readonly detachKey: string | null
  /** Whether the prompt contains a feature's documents, or lists them to be read on demand. */
  readonly knowledge: 'inline' | 'resources'
  /** Whether criteria that the agent says are met are checked off in the task's file. */
  readonly checkCriteria: boolean
  /** Null detects them; an empty list means none. */
  readonly gates: readonly GateConfig[] | null
  /** What to do if a task changes files that decide the gates, and the paths of further such files. */
  readonly gatesChanged: { readonly action: 'report' | 'refuse'; readonly paths: readonly string[] }
  readonly baseline: 'warn' | 'stop' | 'off'
  /** The number of attempts after the first. */
  readonly retries: number
  /** Null asks in a terminal and blocks elsewhere. */
  readonly onFailure: 'block' | 'stop' | 'ask' | null
  /** In dollars, for a whole run and for one task. */
  readonly budget: number | null
  readonly maxCostPerTask: number | null
  readonly maxTasks: number | null
  /** The number of tasks that a loop works on at once. */
  readonly jobs: number
  /** What happens to tasks whose Touches overlap. */
  readonly overlap: 'wait' | 'ignore'
  readonly workspace: WorkspaceConfig
  /** How many of the tasks that agents add a run may take. */
  readonly maxAddedTasks: number
  readonly commit: CommitConfig
  readonly push: boolean
  /** A file that finished tasks' notes are appended to, in the same commit. */
  readonly progress: string | null
  readonly prompt: PromptConfig
  readonly mcpServers: Readonly<Record<string, McpServer>>
  readonly logs: { readonly maxBytes: number }
  readonly sandbox: SandboxConfig
  /** Backlogs of other tools that tasks were imported from. */
  readonly bridges: readonly Bridge[]
  readonly plan: PlanConfig
  readonly notify: NotifyConfig
  readonly queue: QueueConfig
}

/** What is called for a question, a blocked task and the end of a run. */
export interface NotifyConfig {
  /** Null for none. */
  readonly command: string | null
  /** `env:NAME`: the variable with its address. Null for none. */
  readonly webhook: string | null
}

export const SANDBOX_MODES = ['auto', 'on', 'off'] as const
export type SandboxMode = (typeof SANDBOX_MODES)[number]

/** The cage around agents and gates, and what it allows besides what they need. */
interface SandboxConfig {
  readonly mode: SandboxMode
  /** Further files and folders that may be written. */
  readonly write: readonly string[]
  /** Files and folders with keys that may be read, and `env:NAME` for variables. */
  readonly read: readonly string[]
  /** Further files and folders that may not be read. */
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
  /** The interval of a worker's, and a run's, heartbeats. */
  readonly heartbeatSeconds: number
  /** After this much silence a worker's jobs are given to others. */
  readonly lostSeconds: number
  /** How long a run waits for a worker before it warns, and a worker for a run before it ends. */
  readonly workerTimeoutSeconds: number
}

/** The folders of tasks: new ones go into the first. */
export interface TaskFolders {
  readonly dir: readonly string[]
  readonly ignore: readonly string[]
}

/** The folders of plans and decisions, and the agent that makes them; null uses the settings for tasks. */
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
  /** `Related` is for keys that name other tasks without depending on them. */
  readonly fields: Words<FieldName | 'Related'>
  readonly statuses: Words<Status>
  readonly sections: Words<SectionName>
  readonly tiers: Words<Tier>
}
type Words<Name extends string> = { readonly [name in Name]?: readonly string[] }

/** How a task's tier is decided, its limits, and its agent. */
interface TierConfig extends TierTable {
  readonly rows: Readonly<Record<Tier, TierSettings>>
}

/** A tier, and its agent for tasks that name none, nor has their discipline one. */
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
  /** Null for the user's cache folder. */
  readonly dir: string | null
  /** Null detects it from lock files; an empty text means none. */
  readonly prepare: string | null
  /** Patterns of ignored files that are copied into each workspace. */
  readonly copy: readonly string[]
  /** Folders outside of the repository that are beside each folder of a slot too. */
  readonly link: readonly string[]
  /** Ignored files that stay in a slot between tasks. */
  readonly keep: readonly string[]
}

/** The form of a task's commit. */
interface CommitConfig {
  /** A template: see `SUBJECT_SLOTS`. */
  readonly subject: string
  readonly digits: 'auto' | 4 | 5 | 6 | 7 | 8
  readonly seal: boolean
}

/** The limits for files in a prompt, in tokens: for all together, and for each. */
interface PromptConfig {
  readonly budget: number
  readonly fileCap: number
}

/** The names that may be in braces in `commit.subject`. */
export const SUBJECT_SLOTS = ['id', 'title', 'milestone'] as const

/** The default time limit of a gate. */
export const GATE_TIMEOUT_SECONDS = 600

const NOBODY = { agent: null, model: null }

/** The default configuration. */
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
  detachKey: null,
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
  workspace: { dir: null, prepare: null, copy: [], link: [], keep: [] },
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
