import { findOnPath } from '../../process/program.ts'

/** What to add to a program's configuration to use ralph's server, and where. */
export interface McpConfig {
  readonly client: string
  /** The file, as in that program's documentation. */
  readonly file: string
  readonly text: string
  /** A command that does the same; null if there is none. */
  readonly command: string | null
}

interface Client {
  readonly file: string
  readonly write: (start: Start) => string
  readonly command?: (start: Start) => string
}

/** The command that starts the server. */
type Start = readonly [string, ...string[]]

const CLIENTS: Readonly<Record<string, Client>> = {
  claude: {
    file: '.mcp.json in the project, or ~/.claude.json for all projects',
    write: ([command, ...args]) => json({ mcpServers: { ralph: { command, args } } }),
    command: (start) => `claude mcp add --scope project ralph -- ${shellWords(start)}`,
  },
  codex: {
    file: '~/.codex/config.toml',
    write: ([command, ...args]) =>
      `[mcp_servers.ralph]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`,
    command: (start) => `codex mcp add ralph -- ${shellWords(start)}`,
  },
  gemini: {
    file: '.gemini/settings.json in the project, or ~/.gemini/settings.json',
    write: ([command, ...args]) => json({ mcpServers: { ralph: { command, args } } }),
    command: ([command, ...args]) => `gemini mcp add ralph ${shellWords([command, ...args])}`,
  },
  opencode: {
    file: 'opencode.json in the project, or ~/.config/opencode/opencode.json',
    write: (start) => json({ mcp: { ralph: { type: 'local', command: start, enabled: true } } }),
  },
  cursor: {
    file: '.cursor/mcp.json in the project',
    write: ([command, ...args]) =>
      json({ mcpServers: { ralph: { command, args: [...args, '-C', '${workspaceFolder}'] } } }),
  },
  vscode: {
    file: '.vscode/mcp.json in the project',
    write: ([command, ...args]) =>
      json({ servers: { ralph: { type: 'stdio', command, args: [...args, '-C', '${workspaceFolder}'] } } }),
  },
}

/** The configuration for one of them; it starts the `ralph` on PATH, or else this very program. */
export function mcpConfigFor(
  name: string,
  { self, env }: { readonly self: Start; readonly env: Readonly<Record<string, string | undefined>> },
): McpConfig {
  const client = CLIENTS[name]
  if (!client) throw new Error(`there is no configuration for ${name}`)
  const [program, ...args]: Start = findOnPath('ralph', env) === null ? self : ['ralph']
  const start: Start = [program, ...args, 'mcp']
  return {
    client: name,
    file: client.file,
    text: client.write(start),
    command: client.command?.(start) ?? null,
  }
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function shellWords(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ')
}
