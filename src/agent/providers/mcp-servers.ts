import type { AgentRequest, Invocation } from '../port.ts'

/** True where the agent is to have servers besides its own. */
export function hasMcpServers(request: AgentRequest): boolean {
  return Object.keys(request.mcpServers).length > 0
}

/** The servers by name, each with the settings that this agent wants beside the command. */
export function mcpServers(request: AgentRequest, settings: object): Readonly<Record<string, object>> {
  const entries = Object.entries(request.mcpServers)
  return Object.fromEntries(entries.map(([name, server]) => [name, { ...server, ...settings }]))
}

/** `mcp.json` in the shape that several agents share; no file where there are no servers. */
export function mcpFile(request: AgentRequest, settings: object = {}): Invocation['files'] {
  if (!hasMcpServers(request)) return {}
  return { 'mcp.json': JSON.stringify({ mcpServers: mcpServers(request, settings) }) }
}
