import { homeOf, hostsNamedIn } from '../../base/cage-needs.ts'
import type { AgentRequest, Exit, Invocation, StreamEnd, StreamEvent } from '../port.ts'
import {
  cliAgent,
  conversation,
  mcpFile,
  mcpOption,
  option,
  toolLimit,
  levelArgs,
  mayReadWeb,
  RESERVED_COMMANDS,
  fileVariable,
} from './request.ts'
import { failureEnd, oneLine } from './failure.ts'
import {
  number,
  record,
  text,
  sessionEvent,
  MessageReader,
  tokensOf,
  type Handlers,
  type Json,
} from './json-reader.ts'

/** Qwen Code: https://qwenlm.github.io/qwen-code-docs */
export const qwen = cliAgent({
  name: 'qwen',
  agent: 'Qwen Code',
  login: 'run `qwen` and /auth, or set OPENAI_API_KEY',
  setUp: {
    variables: [
      'OPENAI_API_KEY',
      'ANTHROPIC_API_KEY',
      'GEMINI_API_KEY',
      'GOOGLE_API_KEY',
      'DASHSCOPE_API_KEY',
      'QWEN_HOME',
    ],
    files: ['.qwen'],
  },
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
  resumes: true,
  tellsTokens: true,
  program: 'qwen',
  start: (request) => ({
    args: [
      '--output-format=stream-json',
      ...option('--max-session-turns', request.limits.turns),
      ...option('--model', request.model),
      ...option('--resume', request.resume?.session ?? null),
      ...mcpOption(request, '--mcp-config'),
      ...permissionArgs(request),
    ],
    env: {
      // Otherwise it silently waits as long as its service asks; with this it reports how long.
      QWEN_CODE_UNATTENDED_RETRY: request.env['QWEN_CODE_UNATTENDED_RETRY'] ?? '1',
      // If a person has set it to ask, it may not edit in a folder that they have not trusted.
      ...fileVariable(request, 'QWEN_CODE_TRUSTED_FOLDERS_PATH', 'trusted.json'),
      ...(request.permission.level === 'custom' ? {} : settingsIn(request)),
      ...(request.permission.level === 'full' ? { QWEN_CODE_SUPPRESS_YOLO_WARNING: '1' } : {}),
    },
    files: {
      ...settingsFiles(request),
      'trusted.json': JSON.stringify({ [request.cwd]: 'TRUST_FOLDER' }),
    },
  }),
  drive: (request, session, prompt) => ({
    args: [
      ...option('--model', request.model),
      ...mcpOption(request, '--mcp-config'),
      ...each('--exclude-tools', RESERVED_COMMANDS.map(shellRule)),
      ...conversation(session, {
        fresh: option('--prompt-interactive', prompt),
        last: ['--continue'],
        known: (id) => option('--resume', id),
      }),
    ],
    env: settingsIn(request),
    files: settingsFiles(request),
  }),
  reader: (words, request) => new QwenReader(words, request),
})

/** Overrides the repository's settings, whose hooks an agent could have written. */
function settingsIn(request: AgentRequest): Invocation['env'] {
  return fileVariable(request, 'QWEN_CODE_SYSTEM_SETTINGS_PATH', 'settings.json')
}

function settingsFiles(request: AgentRequest): Invocation['files'] {
  return {
    ...mcpFile(request, (server) => ({ trust: true, ...toolLimit(server) })),
    'settings.json': JSON.stringify({ disableAllHooks: true }),
  }
}

function permissionArgs(request: AgentRequest): readonly string[] {
  const denied = RESERVED_COMMANDS.map(shellRule)
  const at = (mode: string, excluded: readonly string[]) => [
    '--approval-mode',
    mode,
    ...each('--exclude-tools', [...denied, ...excluded]),
  ]
  const servers = Object.keys(request.mcpServers).map((name) => `mcp__${name}`)
  return levelArgs(request, {
    read: at('plan', mayReadWeb(request) ? [] : WEB),
    // A rule matches all commands that begin with it, so none is allowed: it detects reading commands itself.
    edit: [...at('auto-edit', WEB), ...each('--allowed-tools', servers)],
    full: at('yolo', []),
  })
}

const WEB = ['web_fetch', 'web_search']

function each(option: string, values: readonly string[]): string[] {
  return values.map((value) => `${option}=${value}`)
}

function shellRule(command: string): string {
  return `run_shell_command(${command})`
}

/** Reads `qwen -o stream-json`: Claude Code's messages, with ends of its own. */
class QwenReader extends MessageReader {
  protected override readonly mostContinued = 3

  protected readonly on: Handlers = {
    system: (event) => {
      if (event['subtype'] === 'retry' && record(event['data'])['preserveText'] === true) this.continued++
      return event['subtype'] === 'init' ? [sessionEvent(event['session_id'], event['model'])] : []
    },
    assistant: (event) => {
      const events = this.blocks(record(event['message']))
      if (event['parent_tool_use_id'] != null || events.length === 0) return events
      this.speak()
      return [...events, this.used]
    },
    user: (event) => {
      this.continued = 0
      const events = this.toolResults(event, DENIAL)
      if (events.length > 0) this.answer()
      return events
    },
    result: (event) => {
      this.finish(event)
      const tokens = tokensOf(record(event['usage']), 'cache_read_input_tokens')
      this.reported = { ...this.ofThisRun(tokens), turns: number(event['num_turns']) }
      return [this.used, { type: 'result' }]
    },
  }

  /** It reports waits for its service only on stderr, every half minute, with the remaining time. */
  complaint(line: string): readonly StreamEvent[] {
    const seconds = /^\[qwen-code\] Waiting for API capacity\b.*\bretry in (\d+)s$/.exec(line)?.[1]
    if (seconds === undefined) return []
    const until = new Date(this.words.now().getTime() + Number(seconds) * 1000)
    return [{ type: 'retrying', reason: 'the service has no capacity', until }]
  }

  protected override ended(exit: Exit): StreamEnd['end'] {
    const { result } = this
    // At its turn limit it prints no result, only a line on stderr.
    const lines = result ? [failureIn(result)] : exit.stderr.split(/\r?\n/)
    const limit = lines.find((line) => /max(?:imum)? session turns/i.test(line))
    if (limit !== undefined) return { kind: 'max-turns', reason: oneLine(limit) }
    if (result?.['is_error'] === true) return failureEnd({ message: failureIn(result) }, this.words)
    return super.ended(exit)
  }
}

/** Why it failed; empty for a success. */
function failureIn(result: Json): string {
  if (result['is_error'] !== true) return ''
  return text(record(result['error'])['message']) || text(result['result'])
}

const DENIAL = /denied by permission rules|permission was declined/i
