import { existsSync } from 'node:fs'
import path from 'node:path'
import { homeOf, hostsNamedIn } from '../../base/cage-needs.ts'
import { FOLDER, type AgentRequest, type Invocation, type Provider, type Session } from '../port.ts'
import { ClaudeReader } from './claude-stream.ts'
import {
  neverSetUp,
  hasMcpServers,
  mcpFile,
  openingPrompt,
  option,
  levelArgs,
  mayReadWeb,
} from './request.ts'
import { allowedCommands, RESERVED_COMMANDS } from './shell-rules.ts'

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
