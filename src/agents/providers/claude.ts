import { existsSync } from 'node:fs'
import path from 'node:path'
import { homeOf, hostsNamedIn } from '../../base/cage-needs.ts'
import {
  FOLDER,
  type AgentRequest,
  type Invocation,
  type Provider,
  type Session,
  type Exit,
  type StreamEnd,
  type StreamEvent,
} from '../port.ts'
import {
  neverSetUp,
  hasMcpServers,
  mcpFile,
  openingPrompt,
  option,
  levelArgs,
  mayReadWeb,
  allowedCommands,
  RESERVED_COMMANDS,
} from './request.ts'
import type { Usage } from '../../base/nouns.ts'
import { sum, UNKNOWN_USAGE } from '../../base/usage.ts'
import { failureEnd, type ProviderFailure } from './failure.ts'
import { list, number, record, text, sessionEvent, MessageReader, type Json } from './json-reader.ts'
import { budgetSpent } from '../watch.ts'

/** Its name, and what a person does about a missing login. */
const CLAUDE = {
  agent: 'Claude Code',
  login: 'run `claude` and log in, or set ANTHROPIC_API_KEY',
} as const

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
export const claude: Provider = {
  name: 'claude',
  // npm installs an old one silently on a Node that its package does not name, unless the command says `latest`.
  install: 'npm install -g @anthropic-ai/claude-code@latest',
  minimumVersion: '2.1.326',
  takesMcpServers: true,
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
  preflight: (context) => neverSetUp(CLAUDE, SET_UP, context),
  invocation(request) {
    return {
      program: 'claude',
      args: [
        '-p',
        '--verbose',
        '--output-format=stream-json',
        ...option('--max-turns', request.limits.turns),
        ...option('--model', request.model),
        ...option('--max-budget-usd', request.limits.budgetUsd),
        ...option('--mcp-config', hasMcpServers(request) ? `${FOLDER}/mcp.json` : null),
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
      stdin: request.prompt,
      files: privateFiles(request),
    }
  },
  interactive(request, session) {
    const { text, files } = openingPrompt(request)
    return {
      program: 'claude',
      args: [
        ...option('--model', request.model),
        ...option('--mcp-config', hasMcpServers(request) ? `${FOLDER}/mcp.json` : null),
        // Configuration that the agent wrote into the repository must not be run when a person starts it either.
        ...OWN_CONFIGURATION,
        ...instructions(request),
        ...sessionArgs(session, text),
      ],
      env: toolTimeout(request),
      files: {
        ...files,
        ...mcpFile(request),
        'settings.json': JSON.stringify({ permissions: { allow: [], deny: reservedRules() } }),
      },
    }
  },
  reader: (request, now) => new ClaudeReader({ ...CLAUDE, now }, request),
}

function sessionArgs(session: Session, prompt: string): readonly string[] {
  if (session === 'new') return ['--', prompt]
  return session === 'last' ? ['--continue'] : [`--resume=${session.id}`]
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

function privateFiles(request: AgentRequest): Invocation['files'] {
  if (request.permission.level === 'custom') return mcpFile(request)
  return { ...mcpFile(request), 'settings.json': JSON.stringify({ permissions: rules(request) }) }
}

/** Rules that deny apply at every level; those that allow cover what `acceptEdits` would ask about. */
function rules(request: AgentRequest): { readonly allow: string[]; readonly deny: string[] } {
  const reserved = reservedRules()
  if (request.permission.level === 'full') return { allow: [], deny: reserved }
  if (request.permission.level === 'read') return { allow: mayReadWeb(request) ? WEB : [], deny: reserved }
  const servers = Object.keys(request.mcpServers).map((name) => `mcp__${name}`)
  return {
    allow: [...allowedCommands(request, MEANINGFUL).map(bashRule), ...servers],
    deny: [...reserved, 'WebFetch', 'WebSearch'],
  }
}

function reservedRules(): string[] {
  return RESERVED_COMMANDS.map((command) => bashRule(`${command}:*`))
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
  #usageSoFar = UNKNOWN_USAGE
  #retry: ProviderFailure | null = null
  #limitEnds: Date | null = null

  protected event(event: Json): readonly StreamEvent[] {
    switch (event['type']) {
      case 'system':
        return this.#system(event)
      case 'assistant':
        return this.#assistant(event)
      case 'user':
        return this.toolResults(record(event['message']))
      case 'rate_limit_event':
        return this.#rateLimit(record(event['rate_limit_info']))
      case 'result':
        this.result = event
        // Turns in its queue will follow: then this is not the last result.
        return number(event['queued_turn_count']) ? [this.used] : [this.used, { type: 'result' }]
      default:
        return []
    }
  }

  #system(event: Json): readonly StreamEvent[] {
    switch (event['subtype']) {
      case 'init':
        return [sessionEvent(event['session_id'], event['model'])]
      case 'api_retry':
        return this.#apiRetry(event)
      case 'permission_denied':
        this.tools.deny(text(event['tool_use_id']), text(event['tool_name']))
        return []
      default:
        return []
    }
  }

  #apiRetry(event: Json): readonly StreamEvent[] {
    const [status, delay] = [number(event['error_status']), number(event['retry_delay_ms'])]
    const error = text(event['error']).replaceAll('_', ' ')
    // Without a status nobody has answered, and `error` is `unknown`.
    const message = status === null ? `connection error (${error})` : `${error} (${status})`
    this.#retry = { status, message }
    const until = delay === null ? null : new Date(this.words.now().getTime() + delay)
    const retrying = { type: 'retrying', reason: message, until } as const
    // Only once: each further result would give it more time to end.
    const hopeless = status === 401 && event['attempt'] === HOPELESS_LOGINS
    return hopeless ? [retrying, { type: 'result' }] : [retrying]
  }

  #assistant(event: Json): readonly StreamEvent[] {
    const message = record(event['message'])
    const events = this.blocks(message)
    // Claude Code's own messages have this model, such as `Invalid API key`.
    if (message['model'] === '<synthetic>') return events
    this.#retry = null
    const id = text(message['id'])
    if (this.#counted.has(id)) return events
    this.#counted.add(id)
    const isOwnTurn = event['parent_tool_use_id'] == null
    this.#usageSoFar = withMessage(this.#usageSoFar, record(message['usage']), isOwnTurn)
    return [...events, this.used]
  }

  #rateLimit(info: Json): readonly StreamEvent[] {
    const resetsAt = number(info['resetsAt'])
    const until = resetsAt === null ? null : new Date(resetsAt * 1000)
    if (info['status'] === 'rejected') {
      this.#limitEnds = until
      this.#retry = { status: 429, message: limitName(info) }
      return []
    }
    if (info['status'] !== 'allowed_warning') return []
    const used = number(info['utilization'])
    const share = used === null ? 'nearly used up' : `used to ${Math.round(used <= 1 ? used * 100 : used)} %`
    return [{ type: 'warning', message: `The ${limitName(info)} of Claude Code is ${share}.` }]
  }

  protected resultEnd(result: Json): StreamEnd['end'] {
    const message = text(result['result']) || list(result['errors']).map(text).join('; ')
    if (result['subtype'] === 'error_max_turns') return { kind: 'max-turns', reason: message }
    if (result['subtype'] === 'error_max_budget_usd')
      return budgetSpent(this.request.limits) ?? { kind: 'budget', reason: message }
    if (result['stop_reason'] === 'refusal')
      return { kind: 'refused', reason: message || 'The model refused.', hopeless: 'task' }
    // Claude Code gives an API error the subtype `success`: its status tells.
    const status = number(result['api_error_status'])
    if (result['is_error'] !== true && status === null) return { kind: 'finished' }
    return failureEnd({ status, message, until: this.#limitEnds }, this.words)
  }

  /** If it was killed while it waited to try again, the reason is what it waited for. */
  protected endWithoutResult(exit: Exit): StreamEnd['end'] {
    return this.failed(exit, this.#retry && { ...this.#retry, until: this.#limitEnds })
  }

  protected usage(): Usage {
    return this.result ? resultUsage(this.result, this.request.limits.turns) : this.#usageSoFar
  }
}

/** Without the output tokens: an event reports them before the message is complete, so they are always too few. */
function withMessage(before: Usage, usage: Json, isOwnTurn: boolean): Usage {
  const { inputTokens, cachedTokens } = tokensIn([usage], OF_USAGE)
  return {
    ...before,
    turns: (before.turns ?? 0) + (isOwnTurn ? 1 : 0),
    inputTokens: sum(before.inputTokens, inputTokens),
    cachedTokens: sum(before.cachedTokens, cachedTokens),
  }
}

function resultUsage(result: Json, limit: number): Usage {
  const turns = number(result['num_turns'])
  // At the limit it also counts the turn that it did not take.
  const capped = result['subtype'] === 'error_max_turns' && turns !== null ? Math.min(turns, limit) : turns
  return { turns: capped, ...resultTokens(result), costUsd: number(result['total_cost_usd']) }
}

/** By model if that is reported, as it includes sub-agents and the last turn, which `usage` leaves out. */
function resultTokens(result: Json): Omit<Usage, 'turns' | 'costUsd'> {
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
): Omit<Usage, 'turns' | 'costUsd'> {
  const total = (key: string) => sum(...counts.map((count) => number(count[key])))
  return {
    inputTokens: sum(total(cached), total(fresh), total(created)),
    cachedTokens: total(cached),
    outputTokens: total(output),
  }
}

function limitName(info: Json): string {
  const name = text(info['rateLimitType']).replaceAll('_', ' ')
  return name === '' ? 'usage limit' : `${name} limit`
}
