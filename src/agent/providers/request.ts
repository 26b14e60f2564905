import type { McpServer } from '../../base/mcp-server.ts'
import { platform } from 'node:os'
import { FOLDER, type AgentRequest, type Invocation } from '../port.ts'

/**
 * An option with its value, or nothing where there is none to give. They are one argument: a model named `--yolo` in
 * a task file would otherwise be an option of its own.
 */
export function option(name: `--${string}`, value: string | number | null): readonly string[] {
  return value === null ? [] : [`${name}=${value}`]
}

/** True where the agent is to have servers besides its own. */
export function hasMcpServers(request: AgentRequest): boolean {
  return Object.keys(request.mcpServers).length > 0
}

/** What an agent wants to know of a server beside its command, in its own words. */
type ServerSettings = (server: McpServer) => object

/** The servers by name, each with the settings that this agent wants beside the command. */
export function mcpServers(
  request: AgentRequest,
  settings: ServerSettings,
): Readonly<Record<string, object>> {
  const entries = Object.entries(request.mcpServers)
  return Object.fromEntries(
    entries.map(([name, server]) => {
      const { command, args, env } = server
      return [name, { command, args, env, ...settings(server) }]
    }),
  )
}

/** How long the tools of a server may take, in milliseconds under that key; nothing where the agent's own limit holds. */
export function toolLimit(key: string, { toolSeconds }: McpServer): object {
  return toolSeconds === undefined ? {} : { [key]: Math.round(toolSeconds * 1000) }
}

/** `mcp.json` in the shape that several agents share; no file where there are no servers. */
export function mcpFile(request: AgentRequest, settings: ServerSettings = () => ({})): Invocation['files'] {
  if (!hasMcpServers(request)) return {}
  return { 'mcp.json': JSON.stringify({ mcpServers: mcpServers(request, settings) }) }
}

/** More than one argument may be: Linux takes 128 kB in each, Windows 32 thousand signs in all. */
const LONGEST_ARGUMENT = platform() === 'win32' ? 16_000 : 120_000

/** The prompt where it can only be an argument: one that is too long stands in a file, which the agent is told to read. */
export function openingPrompt({ prompt }: AgentRequest): {
  readonly text: string
  readonly files: Invocation['files']
} {
  if (Buffer.byteLength(prompt) <= LONGEST_ARGUMENT) return { text: prompt, files: {} }
  return {
    text: `Your task is in the file ${FOLDER}/prompt.md. Read all of it first, then do what it says.`,
    files: { 'prompt.md': prompt },
  }
}

/** What a program that is no agent of its own learns through its environment. */
export function taskEnvironment({ task, limits }: AgentRequest): Invocation['env'] {
  return {
    RALPH_TASK: task.id,
    RALPH_TASK_FILE: task.file,
    RALPH_ATTEMPT: String(task.attempt),
    RALPH_MAX_TURNS: String(limits.turns),
    RALPH_TIMEOUT: String(limits.seconds),
    RALPH_NOTES_FILE: task.notesFile,
  }
}
