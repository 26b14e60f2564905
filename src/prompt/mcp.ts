import type { McpServer } from '../base/mcp-server.ts'
import { unfenced } from '../backlog/markdown/fence.ts'

export type McpServers = Readonly<Record<string, McpServer>>

/** The servers of a section, and its problem; an invalid entry is left out. */
interface McpReading {
  readonly servers: McpServers
  readonly problems: readonly string[]
}

/** Reads the servers in the first fence of a section: a JSON object of name → `{ command, args, env }`. */
export function readMcpServers(section: string): McpReading {
  const json = unfenced(section)
  if (json === null) return { servers: {}, problems: ['expected the servers as a JSON object in a fence'] }
  const parsed = parseJson(json)
  if ('problem' in parsed) return { servers: {}, problems: [parsed.problem] }
  const outer = parsed.value
  // `.mcp.json` of other tools has the same object one level deeper.
  const value = isObject(outer) && isObject(outer['mcpServers']) ? outer['mcpServers'] : outer
  if (!isObject(value)) return { servers: {}, problems: ['expected an object of names and servers'] }
  const readings = Object.entries(value).map(([name, server]) => readServer(name, server))
  const servers = readings.flatMap((reading) => ('server' in reading ? [reading.server] : []))
  const problems = readings.flatMap((reading) => ('problem' in reading ? [reading.problem] : []))
  return { servers: Object.fromEntries(servers), problems }
}

/** Merges the servers of the configuration and the discipline; for the same name the discipline's counts. */
export function mergeMcpServers(config: McpServers, discipline: McpServers): McpServers {
  const merged = Object.entries({ ...config, ...discipline })
  return Object.fromEntries(merged.sort(([a], [b]) => (a < b ? -1 : 1)))
}

type ServerReading = { readonly server: readonly [string, McpServer] } | { readonly problem: string }

function readServer(name: string, value: unknown): ServerReading {
  if (!isObject(value)) return { problem: `server "${name}": expected an object with a command` }
  const { command, args = [], env = {} } = value
  if (typeof command !== 'string' || command.trim() === '') {
    return { problem: `server "${name}": "command" should be a text` }
  }
  if (!isTexts(args)) return { problem: `server "${name}": "args" should be a list of texts` }
  if (!isTextRecord(env)) return { problem: `server "${name}": "env" should be an object of names and texts` }
  return { server: [name, { command, args, env }] }
}

function parseJson(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) }
  } catch {
    // The error messages of V8 differ between versions of Node.
    return { problem: 'the fence does not hold JSON' }
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function isTextRecord(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.values(value).every((item) => typeof item === 'string')
}
