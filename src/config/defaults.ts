import { DEFAULT_TIERS } from '../backlog/select/tier.ts'
import type { AgentName } from '../base/names.ts'
import type { Read } from '../base/schema.ts'
import type { configSchema } from './schema.ts'

/** The default folder of tasks. */
export const TASK_FOLDER = 'docs/tasks'

/** The whole configuration, each key with its value; null means "not set". */
export type Config = Read<typeof configSchema>

export const SANDBOX_MODES = ['auto', 'on', 'off'] as const
export type SandboxMode = Config['sandbox']['mode']

/** The names that may be in braces in `commit.subject`. */
export const SUBJECT_SLOTS = ['id', 'title', 'milestone'] as const

/** The default time limit of a gate. */
export const GATE_TIMEOUT_SECONDS = 600

/** How the configuration says of a gate that it is required once it was green. */
export const IF_GREEN = 'if-green'

const NOBODY = { agent: null, model: null, review: [] as readonly AgentName[] }

/** The default configuration. */
export const DEFAULTS = {
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
  checkCriteria: true,
  gates: null,
  gatesChanged: { action: 'report', paths: [] },
  tests: { paths: [], changed: 'check', new: 'warn', limitSeconds: 300 },
  secrets: { allow: [] },
  review: [],
  baseline: 'warn',
  retries: 3,
  onFailure: null,
  budget: null,
  maxCostPerTask: null,
  maxTokens: null,
  maxTokensPerTask: null,
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
} as const
