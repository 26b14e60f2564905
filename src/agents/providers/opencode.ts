import { homeOf } from '../../base/cage-needs.ts'
import path from 'node:path'
import type { AgentRequest, Provider } from '../port.ts'
import { list, parseLine, record, type Json } from './json-lines.ts'
import { OpencodeReader } from './opencode-stream.ts'
import { openingPrompt, option, toolLimit } from './request.ts'
import { allowedCommands, RESERVED_COMMANDS } from './shell-rules.ts'

const OPENCODE = { agent: 'OpenCode', login: 'run `opencode auth login`' } as const

/** OpenCode: https://opencode.ai/docs/cli */
export const opencode: Provider = {
  name: 'opencode',
  install: 'npm install -g opencode-ai',
  minimumVersion: '1.18.33',
  takesMcpServers: true,
  tellsCost: true,
  // They are in one database with everything else.
  forgetsInCage: true,
  // It reads configuration twice, and only one of these can be turned off: the other still starts plugins.
  alwaysReads: (file) => /(?:^|\/)(?:\.opencode\/|opencode\.jsonc?$)/i.test(file),
  // Some of its models need no login, and its keys may be in many places: only its own error message is certain.
  // It supports many services: those of its own keys and of the usual variables.
  cageNeeds: (env) => ({
    hosts: [
      'opencode.ai',
      'api.opencode.ai',
      'models.dev',
      'api.anthropic.com',
      'api.openai.com',
      'openrouter.ai',
      'generativelanguage.googleapis.com',
    ],
    homes: [
      {
        folder: homeOf(env, '.local/share/opencode', below(env['XDG_DATA_HOME'])),
        keeps: ['log', 'storage', 'auth.json'],
      },
      { folder: homeOf(env, '.local/state/opencode', below(env['XDG_STATE_HOME'])), keeps: [] },
      { folder: homeOf(env, '.config/opencode', below(env['XDG_CONFIG_HOME'])), keeps: [] },
      { folder: homeOf(env, '.cache/opencode', below(env['XDG_CACHE_HOME'])), keeps: [] },
    ],
    files: [],
    variables: 'all',
    keys: ['.local/share/opencode/auth.json', '.local/share/opencode/mcp-auth.json'],
  }),
  preflight: () => [],
  invocation(request) {
    return {
      program: 'opencode',
      // Only its log shows that its service refuses it: its stream is silent while it waits for that.
      args: [
        'run',
        '--format=json',
        '--print-logs',
        '--log-level=ERROR',
        ...option('--model', request.model),
        ...permissionArgs(request),
      ],
      env: {
        OPENCODE_CONFIG_CONTENT: JSON.stringify(config(request)),
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        ...(request.permission.level === 'custom' ? {} : WITHOUT_PROJECT),
      },
      stdin: request.prompt,
      files: {},
    }
  },
  interactive(request, session) {
    const { text, files } = openingPrompt(request)
    return {
      program: 'opencode',
      args: [
        ...option('--model', request.model),
        ...option('--session', typeof session === 'object' ? session.id : null),
        ...(session === 'last' ? ['--continue'] : []),
        ...option('--prompt', session === 'new' ? text : null),
      ],
      env: {
        OPENCODE_CONFIG_CONTENT: JSON.stringify(configByHand(request)),
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        ...WITHOUT_PROJECT,
      },
      files,
    }
  },
  reader: (request, now) => new OpencodeReader({ ...OPENCODE, now }, request),
}

/** An agent could have written the repository's configuration, and its servers would be started. */
const WITHOUT_PROJECT = { OPENCODE_DISABLE_PROJECT_CONFIG: '1' }

/** Its folder in the one that a variable names. */
function below(folder: string | undefined): string | undefined {
  return folder === undefined ? undefined : path.join(folder, 'opencode')
}

function permissionArgs({ permission }: AgentRequest): readonly string[] {
  switch (permission.level) {
    case 'read':
      return ['--agent', 'plan']
    case 'edit':
      return []
    case 'full':
      return ['--auto']
    case 'custom':
      return permission.args
  }
}

/** Merged into the person's own configuration, and into their value of the same variable. */
function config(request: AgentRequest): Json {
  const isCustom = request.permission.level === 'custom'
  const ours = isCustom ? {} : { permission: permissions(request), ...withInstructions(request) }
  return { ...withServers(request), ...ours }
}

/** The person's own permissions hold, but for the commit. */
function configByHand(request: AgentRequest): Json {
  const own = ownConfig(request)['permission']
  // This name means the same tool as `bash`, and leaves what the person's own configuration says of that one.
  const permission = { ...(typeof own === 'string' ? { '*': own } : record(own)), 'bash*': reservedRules() }
  return { ...withServers(request), ...withInstructions(request), permission }
}

function ownConfig({ env }: AgentRequest): Json {
  return parseLine(env['OPENCODE_CONFIG_CONTENT'] ?? '') ?? {}
}

/** Without the repository's configuration it would not read these either. */
function withInstructions(request: AgentRequest): Json {
  const own = list(ownConfig(request)['instructions'])
  return { instructions: [...own, path.join(request.cwd, 'AGENTS.md')] }
}

function withServers(request: AgentRequest): Json {
  const own = ownConfig(request)
  const servers = Object.entries(request.mcpServers).map(([name, server]) => [
    name,
    {
      type: 'local',
      command: [server.command, ...server.args],
      environment: server.env,
      enabled: true,
      ...toolLimit('timeout', server),
    },
  ])
  return { ...own, mcp: { ...record(own['mcp']), ...Object.fromEntries(servers) } }
}

/** The wildcards in its rules. */
const WILDCARDS = /[*?]/

const READING = ['read', 'glob', 'grep', 'list', 'lsp', 'todowrite', 'todoread']

/** The last rule that matches decides. */
function permissions(request: AgentRequest): Json {
  if (request.permission.level === 'full') {
    return { '*': 'allow', bash: { '*': 'allow', ...reservedRules() } }
  }
  if (request.permission.level === 'read') {
    const reading = [...READING, ...(request.permission.web ? ['webfetch', 'websearch'] : [])]
    return {
      '*': 'deny',
      ...Object.fromEntries(reading.map((name) => [name, 'allow'])),
      external_directory: 'deny',
    }
  }
  const tools = ['read', 'edit', 'glob', 'grep', 'list', 'lsp', 'skill', 'task', 'todowrite', 'todoread']
  const servers = Object.keys(request.mcpServers).map((name) => `${name}_*`)
  return {
    '*': 'deny',
    ...Object.fromEntries([...tools, ...servers].map((name) => [name, 'allow'])),
    external_directory: 'deny',
    bash: {
      '*': 'deny',
      ...Object.fromEntries(allowedCommands(request, WILDCARDS).map((command) => [command, 'allow'])),
      ...reservedRules(),
    },
  }
}

function reservedRules(): Json {
  return Object.fromEntries(RESERVED_COMMANDS.map((command) => [`${command}*`, 'deny']))
}
