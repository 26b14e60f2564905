import { closest } from '../base/spelling.ts'
import { UserError } from '../base/errors.ts'
import { findOnPath, resolveProgram } from '../process/program.ts'
import type { AgentRequest, Provider } from './port.ts'

/** What is known of an agent without loading what speaks to it, which takes longer than all else that `next` does. */
export interface AgentEntry {
  readonly name: string
  /** The program that is looked up on PATH; null for an agent that needs none. */
  readonly program: string | null
  /** It runs what stands in the task file, so only a person may choose it, on the command line or in the configuration. */
  readonly runsTaskFiles?: boolean
  /** Loads its provider; `command` is what the agent of that name runs, `pty` whether at a terminal. */
  readonly load: (command: string | null, pty?: boolean) => Promise<Provider>
}

/** Every agent that ralph can run, in the order in which they are looked for. One more is one more line. */
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

/** Every name that a task or the configuration may give. */
export const AGENT_NAMES: readonly string[] = AGENTS.map(({ name }) => name)

/** The agent of that name. There is no substitute for one that is unknown. */
export function agentNamed(name: string): AgentEntry {
  const found = AGENTS.find((agent) => agent.name === name)
  if (found) return found
  const near = closest(name, AGENT_NAMES)
  const hint = near ? `Did you mean ${near}? ` : ''
  throw new UserError(`there is no agent named "${name}"`, `${hint}The agents are ${AGENT_NAMES.join(', ')}.`)
}

/** The first of these, or of all, whose program is there; null where none is. An agent that needs no program is never found. */
export function firstInstalled(names: readonly string[] | null, env: AgentRequest['env']): AgentEntry | null {
  const wanted = names?.flatMap((name) => AGENTS.filter((entry) => entry.name === name)) ?? AGENTS
  return wanted.find(({ program }) => program !== null && isStartable(program, env)) ?? null
}

function agent(name: string, program: string | null, load: AgentEntry['load']): AgentEntry {
  return { name, program, load }
}

/** A batch file that nothing can start is no reason not to take the next agent. */
function isStartable(program: string, env: AgentRequest['env']): boolean {
  return findOnPath(program, env) !== null && 'program' in resolveProgram(program, [], { env })
}
