import { existsSync } from 'node:fs'
import path from 'node:path'
import { homeOf, hostsNamedIn } from '../../base/cage-needs.ts'
import { FOLDER, type AgentRequest, type Exit, type Invocation, type StreamEnd } from '../port.ts'
import {
  cliAgent,
  conversation,
  mcpFile,
  mcpOption,
  option,
  levelArgs,
  mayReadWeb,
  allowedCommands,
  RESERVED_COMMANDS,
} from './request.ts'
import { RALPH_SERVER } from '../../base/names.ts'
import type { McpServer, Usage } from '../../base/nouns.ts'
import { addUsage, sum, UNKNOWN_USAGE } from '../../base/usage.ts'
import { failureEnd } from './failure.ts'
import {
  handled,
  list,
  number,
  record,
  text,
  sessionEvent,
  MessageReader,
  type Handlers,
  type Json,
} from './json-reader.ts'
import { budgetSpent } from '../watch.ts'

const SET_UP = {
  variables: [
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CODE_USE_BEDROCK',
    'CLAUDE_CODE_USE_VERTEX',
    'CLAUDE_CODE_USE_FOUNDRY',
    'CLAUDE_CONFIG_DIR',
  ],
  files: ['.claude.json', '.claude'],
}

/** Claude Code: https://code.claude.com/docs/en/cli-reference */
export const claude = cliAgent({
  name: 'claude',
  agent: 'Claude Code',
  login: 'run `claude` and log in, or set ANTHROPIC_API_KEY',
  setUp: SET_UP,
  // npm installs an old one silently on a Node that its package does not name, unless the command says `latest`.
  install: 'npm install -g @anthropic-ai/claude-code@latest',
  minimumVersion: '2.1.326',
  takesMcpServers: true,
  resumes: true,
  tellsTokens: true,
  takesSchema: true,
  tellsCost: true,
  cageNeeds: (env) => ({
    hosts: [
      'api.anthropic.com',
      'claude.ai',
      'console.anthropic.com',
      'platform.claude.com',
      ...hostsNamedIn(env['ANTHROPIC_BASE_URL']),
    ],
    homes: [
      {
        folder: homeOf(env, '.claude', env['CLAUDE_CONFIG_DIR']),
        keeps: ['projects', 'todos', 'file-history', '.credentials.json'],
      },
    ],
    files: [homeOf(env, '.claude.json')],
    variables: [...SET_UP.variables, 'ANTHROPIC_CUSTOM_HEADERS'],
    keys: ['.claude/.credentials.json', '.claude.json'],
  }),
  program: 'claude',
  start: (request) => ({
    args: [
      '-p',
      '--verbose',
      '--output-format=stream-json',
      ...option('--max-turns', request.limits.turns),
      ...option('--model', request.model),
      ...option('--resume', request.resume?.session ?? null),
      ...option('--max-budget-usd', request.limits.budgetUsd),
      ...mcpOption(request, '--mcp-config'),
      ...permissionArgs(request),
      ...option('--json-schema', request.answer ? JSON.stringify(request.answer.schema) : null),
      ...instructions(request),
    ],
    env: {
      // A background task would keep the process up to ten minutes after its result, and bring further results.
      CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
      ...toolTimeout(request),
      // Without it this level is refused for root; it does not affect others.
      ...(request.permission.level === 'full' ? { IS_SANDBOX: '1' } : {}),
    },
    files: {
      ...mcpFile(request, offered),
      ...(request.permission.level === 'custom' ? {} : settingsFile(rules(request))),
    },
  }),
  drive: (request, session, prompt) => ({
    args: [
      ...option('--model', request.model),
      ...mcpOption(request, '--mcp-config'),
      // Configuration that the agent wrote into the repository must not be run when a person starts it either.
      ...OWN_CONFIGURATION,
      ...instructions(request),
      ...conversation(session, {
        fresh: ['--', prompt],
        last: ['--continue'],
        known: (id) => option('--resume', id),
      }),
    ],
    env: toolTimeout(request),
    files: { ...mcpFile(request, offered), ...settingsFile({ allow: [], deny: reservedRules() }) },
  }),
  reader: (words, request) => new ClaudeReader(words, request),
})

/** Otherwise it has to search for ralph's tools before it sees them. */
function offered(_server: McpServer, name: string): object {
  return name === RALPH_SERVER ? { alwaysLoad: true } : {}
}

/** One limit for the tools of all servers: a person's own value stays. */
function toolTimeout({ mcpServers, env }: AgentRequest): Invocation['env'] {
  const longest = Math.max(0, ...Object.values(mcpServers).map(({ toolSeconds = 0 }) => toolSeconds))
  return longest === 0 || env['MCP_TOOL_TIMEOUT'] !== undefined
    ? {}
    : { MCP_TOOL_TIMEOUT: String(Math.round(longest * 1000)) }
}

function permissionArgs(request: AgentRequest): readonly string[] {
  // Tools that are not listed here do not exist for it.
  const tools = [...READING, ...(mayReadWeb(request) ? WEB : [])].join(',')
  return levelArgs(request, {
    read: [...option('--tools', tools), ...OWN_CONFIGURATION],
    edit: ['--permission-mode', 'acceptEdits', ...OWN_CONFIGURATION],
    full: ['--dangerously-skip-permissions', ...OWN_CONFIGURATION],
  })
}

const READING = ['Read', 'Grep', 'Glob']
const WEB = ['WebSearch', 'WebFetch']

/**
 * Leaves out the repository's settings: an agent could have written them, and their hooks, helpers and the servers in
 * .mcp.json would be started without a question.
 */
const OWN_CONFIGURATION = [
  '--setting-sources=user',
  '--strict-mcp-config',
  '--settings',
  `${FOLDER}/settings.json`,
]

/** It reads the repository's CLAUDE.md only together with its settings. */
function instructions({ permission, cwd }: AgentRequest): readonly string[] {
  const file = path.join(cwd, 'CLAUDE.md')
  return option(
    '--append-system-prompt-file',
    permission.level !== 'custom' && existsSync(file) ? file : null,
  )
}

interface Rules {
  readonly allow: readonly string[]
  readonly deny: readonly string[]
}

function settingsFile(permissions: Rules): Invocation['files'] {
  return { 'settings.json': JSON.stringify({ permissions }) }
}

/** Rules that deny apply at every level; those that allow cover what `acceptEdits` would ask about. */
function rules(request: AgentRequest): Rules {
  const reserved = reservedRules()
  if (request.permission.level === 'full') return { allow: [], deny: reserved }
  if (request.permission.level === 'read') return { allow: mayReadWeb(request) ? WEB : [], deny: reserved }
  const servers = Object.keys(request.mcpServers).map((name) => `mcp__${name}`)
  return {
    allow: [...allowedCommands(request, MEANINGFUL).map(bashRule), ...servers],
    deny: [...reserved, 'WebFetch', 'WebSearch'],
  }
}

/** What it writes in a worktree of its own is in no snapshot. */
function reservedRules(): string[] {
  return [...RESERVED_COMMANDS.map((command) => bashRule(`${command}:*`)), 'EnterWorktree']
}

/** A rule without one of these allows exactly that command; a star matches anything. */
const MEANINGFUL = /[*()\\\n]/

function bashRule(command: string): string {
  return `Bash(${command})`
}

/** After how many refused logins to end the run: Claude Code itself tries for three minutes. */
const HOPELESS_LOGINS = 2

/** Reads `claude -p --output-format stream-json`. */
class ClaudeReader extends MessageReader {
  /** The messages whose usage is already counted: each event of a message repeats it. */
  readonly #counted = new Set<string>()
  #limitEnds: Date | null = null

  protected readonly on: Handlers = {
    system: (event) => handled(this.#onSystem, event['subtype'], event),
    assistant: (event) => {
      const message = record(event['message'])
      const events = this.blocks(message)
      // Claude Code's own messages have this model, such as `Invalid API key`.
      if (message['model'] === '<synthetic>') return events
      this.failure = null
      const id = text(message['id'])
      if (this.#counted.has(id)) return events
      this.#counted.add(id)
      const isOwnTurn = event['parent_tool_use_id'] == null
      if (!this.result) this.reported = addUsage(this.reported, usageOfMessage(message, isOwnTurn))
      return [...events, this.used]
    },
    user: (event) => this.toolResults(event),
    rate_limit_event: (event) => {
      const info = record(event['rate_limit_info'])
      const resetsAt = number(info['resetsAt'])
      if (info['status'] === 'rejected') {
        this.#limitEnds = resetsAt === null ? null : new Date(resetsAt * 1000)
        this.failure = { status: 429, message: limitName(info) }
      }
      if (info['status'] !== 'allowed_warning') return []
      const used = number(info['utilization'])
      const share =
        used === null ? 'nearly used up' : `used to ${Math.round(used <= 1 ? used * 100 : used)} %`
      return [{ type: 'warning', message: `The ${limitName(info)} of Claude Code is ${share}.` }]
    },
    result: (event) => {
      this.finish(event)
      this.reported = this.ofThisRun(usageOfResult(event, this.request.limits.turns))
      // Turns in its queue will follow: then this is not the last result.
      return number(event['queued_turn_count']) ? [this.used] : [this.used, { type: 'result' }]
    },
  }

  readonly #onSystem: Handlers = {
    init: (event) => [sessionEvent(event['session_id'], event['model'])],
    permission_denied: (event) => {
      this.tools.deny(text(event['tool_use_id']), text(event['tool_name']))
    },
    api_retry: (event) => {
      const [status, delay] = [number(event['error_status']), number(event['retry_delay_ms'])]
      const error = text(event['error']).replaceAll('_', ' ')
      // Without a status nobody has answered, and `error` is `unknown`.
      const message = status === null ? `connection error (${error})` : `${error} (${status})`
      this.failure = { status, message }
      const until = delay === null ? null : new Date(this.words.now().getTime() + delay)
      const retrying = { type: 'retrying', reason: message, until } as const
      // Only once: each further result would give it more time to end.
      const isHopeless = status === 401 && event['attempt'] === HOPELESS_LOGINS
      return isHopeless ? [retrying, { type: 'result' }] : [retrying]
    },
  }

  protected override ended(exit: Exit): StreamEnd['end'] {
    const { result } = this
    const until = this.#limitEnds
    // If it was killed while it waited to try again, the reason is what it waited for.
    if (!result) return this.failed(exit, this.failure && { ...this.failure, until })
    const message = text(result['result']) || list(result['errors']).map(text).join('; ')
    if (result['subtype'] === 'error_max_turns') return { kind: 'max-turns', reason: message }
    if (result['subtype'] === 'error_max_budget_usd')
      return budgetSpent(this.request.limits) ?? { kind: 'budget', reason: message }
    if (result['stop_reason'] === 'refusal')
      return { kind: 'refused', reason: message || 'The model refused.', hopeless: 'task' }
    // Claude Code gives an API error the subtype `success`: its status tells.
    const status = number(result['api_error_status'])
    if (result['is_error'] !== true && status === null) return { kind: 'finished' }
    return failureEnd({ status, message, until }, this.words)
  }
}

/** Without the output tokens: an event reports them before the message is complete, so they are always too few. */
function usageOfMessage(message: Json, isOwnTurn: boolean): Usage {
  const tokens = tokensIn([record(message['usage'])], OF_USAGE)
  return { ...tokens, turns: isOwnTurn ? 1 : 0, outputTokens: null }
}

function usageOfResult(result: Json, limit: number): Usage {
  const turns = number(result['num_turns'])
  // At the limit it also counts the turn that it did not take.
  const capped = result['subtype'] === 'error_max_turns' && turns !== null ? Math.min(turns, limit) : turns
  return { ...tokensOfResult(result), turns: capped, costUsd: number(result['total_cost_usd']) }
}

/** By model if that is reported, as it includes sub-agents and the last turn, which `usage` leaves out. */
function tokensOfResult(result: Json): Usage {
  const models = Object.values(record(result['modelUsage'])).map(record)
  return models.length === 0 ? tokensIn([record(result['usage'])], OF_USAGE) : tokensIn(models, OF_MODEL)
}

/** The names of fresh, cached, newly cached and output tokens. */
const OF_USAGE = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens',
] as const
const OF_MODEL = ['inputTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens', 'outputTokens'] as const

function tokensIn(
  counts: readonly Json[],
  [fresh, cached, created, output]: typeof OF_USAGE | typeof OF_MODEL,
): Usage {
  const total = (key: string) => sum(...counts.map((count) => number(count[key])))
  return {
    ...UNKNOWN_USAGE,
    inputTokens: sum(total(cached), total(fresh), total(created)),
    cachedTokens: total(cached),
    outputTokens: total(output),
  }
}

function limitName(info: Json): string {
  const name = text(info['rateLimitType']).replaceAll('_', ' ')
  return name === '' ? 'usage limit' : `${name} limit`
}
