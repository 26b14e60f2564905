import type { McpServer } from '../../base/mcp-server.ts'
import { DEFAULT_TIERS, type TierRow, type TierTable } from '../../select/tier.ts'
import type { FieldName, SectionName, Status, Tier } from '../../task/model.ts'

/** The whole configuration, each key with its value; null stands for "not set". */
export interface Config {
  /** The task folder, relative to the root. */
  readonly tasks: string
  readonly aliases: AliasConfig
  readonly tiers: TierConfig
  /** Null takes the first of `agents` that is installed. */
  readonly agent: string | null
  /** Null looks for every agent that there is, in ralph's own order. */
  readonly agents: readonly string[] | null
  readonly model: string | null
  /** What the agent named `command` runs. */
  readonly command: string | null
  readonly permission: PermissionLevel
  /** What `custom` permission gives the agent, in the agent's own words. */
  readonly agentArgs: readonly string[]
  /** Who goes on while the agent waits for a rate limit to end. */
  readonly fallback: readonly string[]
  readonly stallSeconds: number
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
  /** Of tasks that agents add, how many a run may take. */
  readonly maxAddedTasks: number
  readonly commit: CommitConfig
  readonly push: boolean
  /** A file that finished tasks' notes are added to, in the same commit. */
  readonly progress: string | null
  readonly prompt: PromptConfig
  readonly mcpServers: Readonly<Record<string, McpServer>>
  readonly logs: { readonly maxBytes: number }
  readonly plan: PlanConfig
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
  tasks: 'docs/tasks',
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
  permission: 'edit',
  agentArgs: [],
  fallback: [],
  stallSeconds: 300,
  gates: null,
  gatesChanged: { action: 'report', paths: [] },
  baseline: 'warn',
  retries: 3,
  onFailure: null,
  budget: null,
  maxCostPerTask: null,
  maxTasks: null,
  maxAddedTasks: 20,
  commit: { subject: '{id}: {title}', digits: 'auto', seal: true },
  push: false,
  progress: null,
  prompt: { budget: 60_000, fileCap: 15_000 },
  mcpServers: {},
  logs: { maxBytes: 50_000_000 },
  plan: { dir: 'docs/plans', decisions: 'docs/decisions', agent: null, model: null, budget: null },
}
