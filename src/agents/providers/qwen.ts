import { homeOf, hostsNamedIn } from '../../base/cage-needs.ts'
import {
  FOLDER,
  type AgentRequest,
  type Invocation,
  type Provider,
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
  toolLimit,
  levelArgs,
  mayReadWeb,
  RESERVED_COMMANDS,
  fileVariable,
} from './request.ts'
import type { Usage } from '../../base/nouns.ts'
import { failureEnd, oneLine } from './failure.ts'
import { number, record, text, sessionEvent, MessageReader, tokensOf, type Json } from './json-reader.ts'

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
        ...fileVariable(request, 'QWEN_CODE_TRUSTED_FOLDERS_PATH', 'trusted.json'),
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
  /** How often in a row it has requested the rest of an answer. */
  #continued = 0

  protected event(event: Json): readonly StreamEvent[] {
    switch (event['type']) {
      case 'system':
        if (event['subtype'] === 'retry' && record(event['data'])['preserveText'] === true) this.#continued++
        return event['subtype'] === 'init' ? [sessionEvent(event['session_id'], event['model'])] : []
      case 'assistant':
        return this.#assistant(event)
      case 'user':
        return this.#answered(event)
      case 'result':
        this.result = event
        return [this.used, { type: 'result' }]
      default:
        return []
    }
  }

  /** It reports waits for its service only on stderr, every half minute, with the remaining time. */
  complaint(line: string): readonly StreamEvent[] {
    const seconds = /^\[qwen-code\] Waiting for API capacity\b.*\bretry in (\d+)s$/.exec(line)?.[1]
    if (seconds === undefined) return []
    const until = new Date(this.words.now().getTime() + Number(seconds) * 1000)
    return [{ type: 'retrying', reason: 'the service has no capacity', until }]
  }

  override end(exit: Exit): StreamEnd {
    return { ...super.end(exit), cutOff: this.#continued >= MOST_CONTINUATIONS ? GAVE_UP : undefined }
  }

  #assistant(event: Json): readonly StreamEvent[] {
    const events = this.blocks(record(event['message']))
    if (event['parent_tool_use_id'] != null || events.length === 0) return events
    this.turns.speak()
    return [...events, this.used]
  }

  #answered(event: Json): readonly StreamEvent[] {
    this.#continued = 0
    const events = this.toolResults(record(event['message']), DENIAL)
    if (events.length > 0) this.turns.answer()
    return events
  }

  protected resultEnd(result: Json): StreamEnd['end'] {
    if (result['is_error'] !== true) return { kind: 'finished' }
    const message = text(record(result['error'])['message']) || text(result['result'])
    return isTurnLimit(message)
      ? { kind: 'max-turns', reason: oneLine(message) }
      : failureEnd({ message }, this.words)
  }

  /** At its turn limit it prints no result, only a line on stderr. */
  protected endWithoutResult(exit: Exit): StreamEnd['end'] {
    const limit = exit.stderr.split(/\r?\n/).find(isTurnLimit)
    return limit === undefined ? this.failed(exit, null) : { kind: 'max-turns', reason: oneLine(limit) }
  }

  protected usage(): Usage {
    const turns = number(this.result?.['num_turns']) ?? this.turns.count
    const counts = record(this.result?.['usage'])
    return { turns, ...tokensOf(counts, 'cache_read_input_tokens'), costUsd: null }
  }
}

/** How often it requests the rest of an answer, before it takes what it has as the whole. */
const MOST_CONTINUATIONS = 3
const DENIAL = /denied by permission rules|permission was declined/i
const GAVE_UP = 'it had reached its longest, again and again'

function isTurnLimit(message: string): boolean {
  return /max(?:imum)? session turns/i.test(message)
}
