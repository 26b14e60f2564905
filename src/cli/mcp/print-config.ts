import { findOnPath } from '../../process/program.ts'

/** The command that starts the server. */
type Start = readonly [string, ...string[]]

const IN_FOLDER = ['-C', '${workspaceFolder}']

const mcpServers = (command: string, args: readonly string[]) =>
  json({ mcpServers: { ralph: { command, args } } })

/**
 * The programs that can use ralph's server: the file to write, as in their documentation, its text, and the beginning of
 * a command that does the same.
 */
const CLIENTS = {
  claude: {
    file: '.mcp.json in the project, or ~/.claude.json for all projects',
    write: mcpServers,
    add: 'claude mcp add --scope project ralph --',
  },
  codex: {
    file: '~/.codex/config.toml',
    write: (command: string, args: readonly string[]) =>
      `[mcp_servers.ralph]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`,
    add: 'codex mcp add ralph --',
  },
  gemini: {
    file: '.gemini/settings.json in the project, or ~/.gemini/settings.json',
    write: mcpServers,
    add: 'gemini mcp add ralph',
  },
  opencode: {
    file: 'opencode.json in the project, or ~/.config/opencode/opencode.json',
    write: (command: string, args: readonly string[]) =>
      json({ mcp: { ralph: { type: 'local', command: [command, ...args], enabled: true } } }),
    add: null,
  },
  cursor: {
    file: '.cursor/mcp.json in the project',
    write: (command: string, args: readonly string[]) => mcpServers(command, [...args, ...IN_FOLDER]),
    add: null,
  },
  vscode: {
    file: '.vscode/mcp.json in the project',
    write: (command: string, args: readonly string[]) =>
      json({ servers: { ralph: { type: 'stdio', command, args: [...args, ...IN_FOLDER] } } }),
    add: null,
  },
}

/** What to add to the configuration of one of them, and where; it starts the `ralph` on PATH, or else this very program. */
export function mcpConfigFor(
  client: keyof typeof CLIENTS,
  { self, env }: { self: Start; env: Readonly<Record<string, string | undefined>> },
) {
  const { file, write, add } = CLIENTS[client]
  const [program, ...before]: Start = findOnPath('ralph', env) === null ? self : ['ralph']
  const args = [...before, 'mcp']
  const command = add === null ? null : `${add} ${[program, ...args].map(shellWord).join(' ')}`
  return { client, file, text: write(program, args), command }
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function shellWord(word: string): string {
  return /^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
