import path from 'node:path'
import { homeOf } from '../../base/cage-needs.ts'
import type { AgentRequest, Provider, Exit, StreamEnd, StreamEvent } from '../port.ts'
import {
  list,
  parseLine,
  record,
  number,
  text,
  textOrNull,
  JsonReader,
  sessionEvent,
  type Json,
} from './json-reader.ts'
import {
  openingPrompt,
  option,
  toolLimit,
  levelArgs,
  mayReadWeb,
  allowedCommands,
  RESERVED_COMMANDS,
} from './request.ts'
import type { Usage } from '../../base/nouns.ts'
import { sum, UNKNOWN_USAGE } from '../../base/usage.ts'
import { cutOff, failureEnd, oneLine, type ProviderFailure } from './failure.ts'

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
        ...levelArgs(request, { read: ['--agent', 'plan'], edit: [], full: ['--auto'] }),
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
      ...toolLimit(server),
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
    const reading = [...READING, ...(mayReadWeb(request) ? ['webfetch', 'websearch'] : [])]
    return {
      '*': 'deny',
      ...allowing(reading),
      external_directory: 'deny',
    }
  }
  const tools = ['read', 'edit', 'glob', 'grep', 'list', 'lsp', 'skill', 'task', 'todowrite', 'todoread']
  const servers = Object.keys(request.mcpServers).map((name) => `${name}_*`)
  return {
    '*': 'deny',
    ...allowing([...tools, ...servers]),
    external_directory: 'deny',
    bash: {
      '*': 'deny',
      ...allowing(allowedCommands(request, WILDCARDS)),
      ...reservedRules(),
    },
  }
}

function allowing(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, 'allow']))
}

function reservedRules(): Json {
  return Object.fromEntries(RESERVED_COMMANDS.map((command) => [`${command}*`, 'deny']))
}

/** Reads `opencode run --format json`, which has no final event: the last step shows whether more was to come. */
class OpencodeReader extends JsonReader {
  #sessionId: string | null = null
  #messageId = ''
  #message = ''
  /** Why the last step ended; null while more is to come. */
  #lastStep: string | null = null
  #failure: ProviderFailure | null = null
  /** The last refusal of its service, unless the service has answered since. */
  #refusal: ProviderFailure | null = null
  /** Steps since its prompt was too long; null if it was not, or has been shortened since. */
  #stepsTooLong: number | null = null
  #sum = UNKNOWN_USAGE

  protected event(event: Json): readonly StreamEvent[] {
    this.#refusal = null
    return [...this.#session(event), ...this.#event(event)]
  }

  /** It logs each refusal of its service, and then tries again; requests to its small model do not matter. */
  complaint(line: string): readonly StreamEvent[] {
    const error = / message="stream error" .*? error\.error="((?:[^"\\]|\\.)*)"/.exec(line)?.[1]
    if (error === undefined || / small=true /.test(line)) return []
    const message = error.replace(/^\w*Error: /, '')
    this.#refusal = { message }
    return [{ type: 'retrying', reason: oneLine(message), until: null }]
  }

  // No event counts as the result: after a step that ends in `stop` it may still continue by itself, as after
  // shortening its context. It exits on its own.
  #event(event: Json): readonly StreamEvent[] {
    const part = record(event['part'])
    switch (event['type']) {
      case 'step_start':
        this.#lastStep = null
        return []
      case 'text':
        return this.#readText(part)
      case 'tool_use':
        return this.#tool(part)
      case 'step_finish':
        this.#lastStep = part['reason'] === 'tool-calls' ? null : text(part['reason'])
        this.#sum = withStep(this.#sum, part)
        // The first step is its summary; with the second the model has answered the shortened prompt.
        if (this.#stepsTooLong !== null && ++this.#stepsTooLong > 1) this.#goesOn()
        return [this.used]
      case 'error':
        return this.#error(record(event['error']))
      default:
        return []
    }
  }

  end(exit: Exit): StreamEnd {
    return {
      end: this.#end(exit),
      finalMessage: this.#lastStep === null ? '' : this.#message,
      usage: this.#sum,
      denied: this.tools.denied,
    }
  }

  protected usage(): Usage {
    return this.#sum
  }

  #end(exit: Exit): StreamEnd['end'] {
    if (this.#failure) return failureEnd(this.#failure, this.words)
    if (this.#lastStep === 'content-filter') return failureEnd(FILTERED, this.words)
    if (this.#lastStep === 'length') return cutOff('it had reached its longest')
    if (this.#lastStep !== null) return { kind: 'finished' }
    return this.failed(exit, this.#refusal)
  }

  #session(event: Json): readonly StreamEvent[] {
    const sessionId = textOrNull(event['sessionID'])
    if (sessionId === null || sessionId === this.#sessionId) return []
    this.#sessionId = sessionId
    return [sessionEvent(sessionId)]
  }

  #readText(part: Json): readonly StreamEvent[] {
    const content = text(part['text'])
    const messageId = text(part['messageID'])
    this.#message = messageId === this.#messageId ? `${this.#message}\n${content}` : content
    this.#messageId = messageId
    return [{ type: 'text', text: content }]
  }

  /** It shows a tool only after it has ended: for a successful one people see the beginning. */
  #tool(part: Json): readonly StreamEvent[] {
    const [id, state] = [text(part['callID']), record(part['state'])]
    const begun = this.tools.begin(id, text(part['tool']), record(state['input']))
    this.#goesOn()
    const failed = state['status'] === 'error'
    if (failed && /rule which prevents|rejected permission/i.test(text(state['error']))) this.tools.deny(id)
    return [begun, this.tools.end(id, !failed)]
  }

  #error(error: Json): readonly StreamEvent[] {
    const data = record(error['data'])
    const message = text(data['message']) || text(error['name'])
    const headers = record(data['responseHeaders'])
    // Only the header says how long a limit lasts.
    const delay = text(headers['retry-after'])
    this.#failure = {
      status: number(data['statusCode']),
      message: /^\d+$/.test(delay) ? `${message} (retry after ${delay}s)` : message,
    }
    const warning = { type: 'warning', message: oneLine(message) } as const
    if (error['name'] !== 'ContextOverflowError') return [warning]
    // It would shorten its prompt again and again, with a turn each.
    const isHopeless = this.#stepsTooLong !== null
    this.#stepsTooLong = 0
    return isHopeless ? [warning, { type: 'result' }] : [warning]
  }

  /** The shortened prompt was answered, so it is no longer too long. */
  #goesOn(): void {
    if (this.#stepsTooLong === null) return
    this.#stepsTooLong = null
    this.#failure = null
  }
}

/** What its last step reports before its own error does. */
const FILTERED: ProviderFailure = { message: 'the content filter of the service stopped it' }

function withStep(usage: Usage, part: Json): Usage {
  const tokens = record(part['tokens'])
  const cache = record(tokens['cache'])
  const cached = number(cache['read'])
  const input = sum(number(tokens['input']), cached, number(cache['write']))
  // The cost is 0 for a model whose price it does not know.
  const cost = number(part['cost']) || null
  return {
    turns: (usage.turns ?? 0) + 1,
    inputTokens: sum(usage.inputTokens, input),
    cachedTokens: sum(usage.cachedTokens, cached),
    outputTokens: sum(usage.outputTokens, number(tokens['output']), number(tokens['reasoning'])),
    costUsd: sum(usage.costUsd, cost),
  }
}
