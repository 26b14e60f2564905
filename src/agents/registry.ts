import { closest } from '../base/spelling.ts'
import { UserError } from '../base/errors.ts'
import { findOnPath, resolveProgram } from '../process/program.ts'
import type { AgentRequest, Provider } from './port.ts'

/** What is known of an agent without loading its provider, which takes longer than all else that `next` does. */
export interface AgentEntry {
  readonly name: string
  /** The program to look up on PATH; null for an agent that needs none. */
  readonly program: string | null
  /** Whether it runs commands of the task file, so that only a person may choose it, by an option or in the configuration. */
  readonly runsTaskFiles?: boolean
  /** Loads its provider; `command` is the command of an agent with that name, `pty` whether it gets a terminal. */
  readonly load: (command: string | null, pty?: boolean) => Promise<Provider>
}

/** Every agent that ralph can run, in the order in which they are looked up. Adding one takes one line. */
export const AGENTS: readonly AgentEntry[] = [
  agent('claude', 'claude', async () => (await import('./providers/claude.ts')).claude),
  agent('codex', 'codex', async () => (await import('./providers/codex.ts')).codex),
  agent('gemini', 'gemini', async () => (await import('./providers/gemini.ts')).gemini),
  agent('opencode', 'opencode', async () => (await import('./providers/opencode.ts')).opencode),
  agent('copilot', 'copilot', async () => (await import('./providers/copilot.ts')).copilot),
  agent('qwen', 'qwen', async () => (await import('./providers/qwen.ts')).qwen),
  agent('continue', 'cn', async () => (await import('./providers/continue.ts')).continueCli),
  agent('command', null, async (line, pty) =>
    (await import('./providers/command.ts')).commandProvider(line, pty),
  ),
  {
    ...agent('script', null, async () => (await import('./providers/script.ts')).script),
    runsTaskFiles: true,
  },
]

/** Every name that is valid in a task or the configuration. */
export const AGENT_NAMES: readonly string[] = AGENTS.map(({ name }) => name)

/** The agent of that name; throws if it is unknown. */
export function agentNamed(name: string): AgentEntry {
  const found = AGENTS.find((agent) => agent.name === name)
  if (found) return found
  const near = closest(name, AGENT_NAMES)
  const hint = near ? `Did you mean ${near}? ` : ''
  throw new UserError(`there is no agent named "${name}"`, `${hint}The agents are ${AGENT_NAMES.join(', ')}.`)
}

/** The first of these, or of all, whose program is installed; null if none is. Skips agents that need no program. */
export function firstInstalled(names: readonly string[] | null, env: AgentRequest['env']): AgentEntry | null {
  const wanted = names?.flatMap((name) => AGENTS.filter((entry) => entry.name === name)) ?? AGENTS
  return wanted.find(({ program }) => program !== null && isStartable(program, env)) ?? null
}

function agent(name: string, program: string | null, load: AgentEntry['load']): AgentEntry {
  return { name, program, load }
}

/** Whether the program can be started, unlike some batch files: then the next agent is taken. */
function isStartable(program: string, env: AgentRequest['env']): boolean {
  return findOnPath(program, env) !== null && 'program' in resolveProgram(program, [], { env })
}
