/** The line that an agent writes when it is done: the prompt asks for it, and the reader of its last message searches for it. */
export const DONE_MARKER = '<TASK_DONE>'

/** Holds the workspace, for everything that an attempt starts: ralph starts nothing of its own there. */
export const INSIDE_VARIABLE = 'RALPH_INSIDE'

/** The files that may have a project's configuration, besides the `ralph` key of package.json. */
export const CONFIG_FILES = [
  'ralph.config.json',
  'ralph.config.jsonc',
  'ralph.config.yaml',
  'ralph.config.yml',
] as const

/** The name of ralph's own server in agents. */
export const RALPH_SERVER = 'ralph'

/** Every agent that ralph can run, in the order in which they are looked for. */
export const AGENT_NAMES = [
  'claude',
  'codex',
  'gemini',
  'opencode',
  'copilot',
  'qwen',
  'continue',
  'command',
  'script',
] as const
export type AgentName = (typeof AGENT_NAMES)[number]

export function isAgentName(name: string): name is AgentName {
  return AGENT_NAMES.some((known) => known === name)
}

export const OUTCOMES = [
  'done',
  'blocked',
  'no-marker',
  'gate-failed',
  'gate-missing',
  'base-changed',
  'tests-changed',
  'no-tests',
  'review-failed',
  'secret',
  'too-large',
  'conflict',
  'missing-output',
  'no-change',
  'timeout',
  'max-turns',
  'agent-failed',
  'rate-limited',
  'no-network',
  'auth',
  'skipped',
  'taken-over',
  'interrupted',
  'lost',
] as const

/** How an attempt can end. */
export type OutcomeKind = (typeof OUTCOMES)[number]
