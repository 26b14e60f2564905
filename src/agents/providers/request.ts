import { platform } from 'node:os'
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Denial, McpServer } from '../../base/nouns.ts'
import {
  FOLDER,
  type AgentRequest,
  type Invocation,
  type Provider,
  type Session,
  type StreamReader,
} from '../port.ts'
import type { FailureWords } from './failure.ts'

/** How a CLI is started; without `env` and `files` it needs none. */
type Start = Pick<Invocation, 'args'> & Partial<Pick<Invocation, 'env' | 'files'>>

/** An agent that is a program of its own, which reads its prompt from standard input and prints events as JSON. */
interface Cli extends Omit<Provider, 'preflight' | 'invocation' | 'interactive' | 'reader'> {
  /** Its name for a person, and what they do about a missing login. */
  readonly agent: string
  readonly login: string
  /** What shows that it has been set up: a variable, or a file below the home folder; absent if its login may be anywhere. */
  readonly setUp?: { readonly variables: readonly string[]; readonly files: readonly string[] }
  readonly program: string
  readonly start: (request: AgentRequest) => Start
  /** For its interactive program, which gets the prompt as an argument. */
  readonly drive: (request: AgentRequest, session: Session, prompt: string) => Start
  readonly reader: (words: FailureWords, request: AgentRequest) => StreamReader
}

/** The provider of such an agent. */
export function cliAgent({ agent, login, setUp, program, start, drive, reader, ...facts }: Cli): Provider {
  return {
    ...facts,
    preflight: ({ env }) =>
      setUp && isNeverSetUp(setUp, env) ? [`${agent} has never been set up here: ${login}.`] : [],
    invocation: (request) => ({ program, env: {}, files: {}, stdin: request.prompt, ...start(request) }),
    interactive(request, session) {
      const { text, files } = openingPrompt(request)
      const driven = drive(request, session, text)
      return { program, env: {}, ...driven, files: { ...files, ...driven.files } }
    },
    reader: (request, now) => reader({ agent, login, now }, request),
  }
}

/**
 * Whether nothing at all shows that the agent was ever started or has a key. Only this is certain before a run: a login
 * may be in a keychain, so with any trace of the agent its own error message decides.
 */
function isNeverSetUp({ variables, files }: NonNullable<Cli['setUp']>, env: AgentRequest['env']): boolean {
  const home = env['HOME'] ?? env['USERPROFILE']
  if (home === undefined || variables.some((name) => env[name])) return false
  return !files.some((file) => existsSync(path.join(home, file)))
}

/** The arguments for the conversation that a person begins or continues. */
export function conversation(
  session: Session,
  args: Readonly<Record<'fresh' | 'last', readonly string[]>> & { known: (id: string) => readonly string[] },
): readonly string[] {
  return typeof session === 'object' ? args.known(session.id) : args[session === 'new' ? 'fresh' : 'last']
}

/**
 * An option with its value, or nothing without a value. Both are one argument: otherwise a model named `--yolo` in a
 * task file would be an option.
 */
export function option(name: `--${string}`, value: string | number | null): readonly string[] {
  return value === null ? [] : [`${name}=${value}`]
}

/** The arguments for each level of permission; at `custom` they are the person's own. */
export function levelArgs(
  { permission }: AgentRequest,
  args: Readonly<Record<'read' | 'edit' | 'full', readonly string[]>>,
): readonly string[] {
  return permission.level === 'custom' ? permission.args : args[permission.level]
}

/** Whether an agent that only reads may read the web too. */
export function mayReadWeb({ permission }: AgentRequest): boolean {
  return permission.level === 'read' && permission.web
}

/** A variable that names a private file, unless the person has set it. */
export function fileVariable({ env }: AgentRequest, variable: string, file: string): Invocation['env'] {
  return { [variable]: env[variable] ?? `${FOLDER}/${file}` }
}

/** Whether the request has MCP servers. */
export function hasMcpServers(request: AgentRequest): boolean {
  return Object.keys(request.mcpServers).length > 0
}

/** The option that names `mcp.json`, if there is such a file. */
export function mcpOption(request: AgentRequest, name: `--${string}`, sign = ''): readonly string[] {
  return option(name, hasMcpServers(request) ? `${sign}${FOLDER}/mcp.json` : null)
}

/** An agent's own settings for a server, besides the command. */
type ServerSettings = (server: McpServer, name: string) => object

/** The servers by name, each with this agent's settings besides the command. */
export function mcpServers(
  request: AgentRequest,
  settings: ServerSettings,
): Readonly<Record<string, object>> {
  const entries = Object.entries(request.mcpServers)
  return Object.fromEntries(
    entries.map(([name, server]) => {
      const { command, args, env } = server
      return [name, { command, args, env, ...settings(server, name) }]
    }),
  )
}

/** The time limit for a server's tools in milliseconds; nothing if the agent's own limit applies. */
export function toolLimit({ toolSeconds }: McpServer): object {
  return toolSeconds === undefined ? {} : { timeout: Math.round(toolSeconds * 1000) }
}

/** `mcp.json` in the format that several agents share; no file without servers. */
export function mcpFile(request: AgentRequest, settings: ServerSettings = () => ({})): Invocation['files'] {
  if (!hasMcpServers(request)) return {}
  return { 'mcp.json': JSON.stringify({ mcpServers: mcpServers(request, settings) }) }
}

/** The longest argument that is safe: Linux allows 128 kB in each, Windows 32 thousand characters in all. */
const LONGEST_ARGUMENT = platform() === 'win32' ? 16_000 : 120_000

/** The prompt for an agent that takes it only as an argument: a long one goes into a file that the agent is to read. */
function openingPrompt({ prompt }: AgentRequest): {
  readonly text: string
  readonly files: Invocation['files']
} {
  if (Buffer.byteLength(prompt) <= LONGEST_ARGUMENT) return { text: prompt, files: {} }
  return {
    text: `Your task is in the file ${FOLDER}/prompt.md. Read all of it first, then do what it says.`,
    files: { 'prompt.md': prompt },
  }
}

/** The environment for a program that knows nothing of ralph. */
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

/** Commands that only ralph may run, as it makes the one commit of a task. */
export const RESERVED_COMMANDS = ['git commit', 'git push'] as const

/**
 * Commands that read the repository. Exactly as written here, they neither write nor read anything else; with one
 * more argument they could: `git log --output=FILE`, `git diff --no-index`, `git blame --contents`.
 */
const LOOKING = [
  'git status',
  'git status --short',
  'git status --porcelain',
  'git diff',
  'git diff --stat',
  'git diff --staged',
  'git diff --cached',
  'git diff HEAD',
  'git log',
  'git log --oneline',
  'git log --stat',
  'git show',
  'git show --stat',
  'git show HEAD',
  'git ls-files',
  'git rev-parse HEAD',
  'git branch --show-current',
]

/**
 * The commands that the level `edit` allows, each exactly as written: reading git commands, and the gates. A gate
 * with a character that is special in the agent's rules is left out, as its rule would allow more.
 */
export function allowedCommands(request: AgentRequest, meaningful: RegExp | null = null): readonly string[] {
  const gates = request.gateCommands.map((command) => command.trim())
  const commands = [...gates, ...gates.flatMap(partsOf), ...LOOKING]
  return [...new Set(commands)].filter((command) => command !== '' && !meaningful?.test(command))
}

/** Agents check `a && b` as two commands, so a gate that joins plain commands is also allowed in parts. */
function partsOf(gate: string): readonly string[] {
  const isPlain = !/["'`$\\()<>|;#*?\n]|(?<!&)&(?!&)/.test(gate)
  return isPlain && gate.includes('&&') ? gate.split('&&').map((part) => part.trim()) : []
}

/**
 * The denied tools, each with the least permission that would allow it; RESERVED_COMMANDS are not allowed even at `full`.
 * Whatever else an agent does not do at `full`, it refuses by itself.
 */
export function denialsOf(
  denied: readonly string[],
  { level }: AgentRequest['permission'],
): readonly Denial[] {
  return denied.flatMap((tool): Denial[] => {
    if (RESERVED_COMMANDS.some((command) => tool.includes(command))) return [{ tool, allowedBy: 'custom' }]
    return level === 'full' ? [] : [{ tool, allowedBy: 'full' }]
  })
}
