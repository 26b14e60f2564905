import type { McpServer } from '../base/nouns.ts'
import { parsedJson, isObject } from '../base/text.ts'
import { unfenced } from '../backlog/markdown/fence.ts'

export type McpServers = Readonly<Record<string, McpServer>>

/** The servers of a section, and its problem; an invalid entry is left out. */
interface McpReading {
  readonly servers: McpServers
  readonly problems: readonly string[]
}

/** Reads the servers in the first fence of a section: a JSON object of name → `{ command, args, env }`. */
export function readMcpServers(section: string): McpReading {
  const outer = parsedJson(unfenced(section) ?? '')
  // `.mcp.json` of other tools has the same object one level deeper.
  const value = isObject(outer) && isObject(outer['mcpServers']) ? outer['mcpServers'] : outer
  if (!isObject(value)) return { servers: {}, problems: ['expected the servers as a JSON object in a fence'] }
  const read = Object.entries(value).map(([name, server]) => ({ name, server: serverIn(server) }))
  return {
    servers: Object.fromEntries(read.flatMap(({ name, server }) => (server ? [[name, server]] : []))),
    problems: read.flatMap(({ name, server }) => (server ? [] : [`server "${name}": ${EXPECTED}`])),
  }
}

const EXPECTED =
  'expected a "command" that is a text, perhaps "args" that are a list of texts, and "env" with texts by name'

/** Merges the servers of the configuration and the discipline; for the same name the discipline's counts. */
export function mergeMcpServers(config: McpServers, discipline: McpServers): McpServers {
  const merged = Object.entries({ ...config, ...discipline })
  return Object.fromEntries(merged.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function serverIn(value: unknown): McpServer | null {
  if (!isObject(value)) return null
  const { command, args = [], env = {} } = value
  const isServer = isText(command) && command.trim() !== '' && isTexts(args) && isTextRecord(env)
  return isServer ? { command, args, env } : null
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText)
}

function isTextRecord(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.values(value).every(isText)
}
