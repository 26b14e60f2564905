import { homeOf, hostsNamedIn } from '../../base/cage-needs.ts'
import { FOLDER, type AgentRequest, type Invocation, type Provider } from '../port.ts'
import { neverSetUp } from './first-start.ts'
import { QwenReader } from './qwen-stream.ts'
import { hasMcpServers, mcpFile, openingPrompt, option, toolLimit } from './request.ts'
import { RESERVED_COMMANDS } from './shell-rules.ts'

/** Its name, and what a person does about a missing login. */
const QWEN = { agent: 'Qwen Code', login: 'run `qwen` and /auth, or set OPENAI_API_KEY' } as const

const SET_UP = {
  variables: [
    'OPENAI_API_KEY',
    'ANTHROPIC_API_KEY',
    'GEMINI_API_KEY',
    'GOOGLE_API_KEY',
    'DASHSCOPE_API_KEY',
    'QWEN_HOME',
  ],
  files: ['.qwen'],
}

/** Qwen Code: https://qwenlm.github.io/qwen-code-docs */
export const qwen: Provider = {
  name: 'qwen',
  // npm installs an old one silently on a Node that its package does not name, unless the command says `latest`.
  install: 'npm install -g @qwen-code/qwen-code@latest',
  minimumVersion: '0.24.4',
  cageNeeds: (env) => ({
    hosts: [
      'dashscope.aliyuncs.com',
      'dashscope-intl.aliyuncs.com',
      'portal.qwen.ai',
      'chat.qwen.ai',
      ...hostsNamedIn(env['OPENAI_BASE_URL']),
    ],
    homes: [{ folder: homeOf(env, '.qwen'), keeps: ['tmp', 'projects', 'oauth_creds.json'] }],
    files: [],
    variables: ['OPENAI_API_KEY', 'DASHSCOPE_API_KEY', 'QWEN_API_KEY'],
    keys: ['.qwen/oauth_creds.json', '.qwen/.env'],
  }),
  takesMcpServers: true,
  preflight: (context) => neverSetUp(QWEN, SET_UP, context),
  invocation(request) {
    return {
      program: 'qwen',
      args: [
        '--output-format=stream-json',
        ...option('--max-session-turns', request.limits.turns),
        ...option('--model', request.model),
        ...option('--mcp-config', hasMcpServers(request) ? `${FOLDER}/mcp.json` : null),
        ...permissionArgs(request),
      ],
      env: {
        // Otherwise it silently waits as long as its service asks; with this it reports how long.
        QWEN_CODE_UNATTENDED_RETRY: request.env['QWEN_CODE_UNATTENDED_RETRY'] ?? '1',
        // If a person has set it to ask, it may not edit in a folder that they have not trusted.
        QWEN_CODE_TRUSTED_FOLDERS_PATH:
          request.env['QWEN_CODE_TRUSTED_FOLDERS_PATH'] ?? `${FOLDER}/trusted.json`,
        ...(request.permission.level === 'custom' ? {} : settingsIn(request)),
        ...(request.permission.level === 'full' ? { QWEN_CODE_SUPPRESS_YOLO_WARNING: '1' } : {}),
      },
      stdin: request.prompt,
      files: {
        ...settingsFiles(request),
        'trusted.json': JSON.stringify({ [request.cwd]: 'TRUST_FOLDER' }),
      },
    }
  },
  interactive(request, session) {
    const { text, files } = openingPrompt(request)
    return {
      program: 'qwen',
      args: [
        ...option('--model', request.model),
        ...option('--mcp-config', hasMcpServers(request) ? `${FOLDER}/mcp.json` : null),
        ...each('--exclude-tools', RESERVED_COMMANDS.map(shellRule)),
        ...option('--resume', typeof session === 'object' ? session.id : null),
        ...(session === 'last' ? ['--continue'] : []),
        ...option('--prompt-interactive', session === 'new' ? text : null),
      ],
      env: settingsIn(request),
      files: { ...files, ...settingsFiles(request) },
    }
  },
  reader: (request, now) => new QwenReader({ ...QWEN, now }, request),
}

/** Overrides the repository's settings, whose hooks an agent could have written. */
function settingsIn({ env }: AgentRequest): Invocation['env'] {
  const variable = 'QWEN_CODE_SYSTEM_SETTINGS_PATH'
  return { [variable]: env[variable] ?? `${FOLDER}/settings.json` }
}

function settingsFiles(request: AgentRequest): Invocation['files'] {
  return {
    ...mcpFile(request, (server) => ({ trust: true, ...toolLimit('timeout', server) })),
    'settings.json': JSON.stringify({ disableAllHooks: true }),
  }
}

function permissionArgs(request: AgentRequest): readonly string[] {
  const denied = RESERVED_COMMANDS.map(shellRule)
  switch (request.permission.level) {
    case 'read': {
      const excluded = [...denied, ...(request.permission.web ? [] : WEB)]
      return ['--approval-mode', 'plan', ...each('--exclude-tools', excluded)]
    }
    case 'edit': {
      // A rule matches all commands that begin with it, so none is allowed: it detects reading commands itself.
      const allowed = Object.keys(request.mcpServers).map((name) => `mcp__${name}`)
      const excluded = [...denied, ...WEB]
      return [
        '--approval-mode',
        'auto-edit',
        ...each('--allowed-tools', allowed),
        ...each('--exclude-tools', excluded),
      ]
    }
    case 'full':
      return ['--approval-mode', 'yolo', ...each('--exclude-tools', denied)]
    case 'custom':
      return request.permission.args
  }
}

const WEB = ['web_fetch', 'web_search']

function each(option: string, values: readonly string[]): string[] {
  return values.map((value) => `${option}=${value}`)
}

function shellRule(command: string): string {
  return `run_shell_command(${command})`
}
