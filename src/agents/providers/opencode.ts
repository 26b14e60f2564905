import path from 'node:path'
import { homeOf } from '../../base/cage-needs.ts'
import type { AgentRequest, Exit, Invocation, StreamEnd, StreamEvent } from '../port.ts'
import {
  list,
  parseLine,
  record,
  number,
  text,
  textOrNull,
  JsonReader,
  sessionEvent,
  type Handlers,
  type Json,
} from './json-reader.ts'
import {
  cliAgent,
  conversation,
  option,
  toolLimit,
  levelArgs,
  mayReadWeb,
  allowedCommands,
  RESERVED_COMMANDS,
} from './request.ts'
import type { Usage } from '../../base/nouns.ts'
import { addUsage, sum } from '../../base/usage.ts'
import { cutOff, failureEnd, oneLine, type ProviderFailure } from './failure.ts'

/** OpenCode: https://opencode.ai/docs/cli */
export const opencode = cliAgent({
  name: 'opencode',
  agent: 'OpenCode',
  // Some of its models need no login, and its keys may be in many places: only its own error message is certain.
  login: 'run `opencode auth login`',
  install: 'npm install -g opencode-ai',
  minimumVersion: '1.18.33',
  takesMcpServers: true,
  resumes: true,
  tellsTokens: true,
  // It looks for newer versions of its plugins.
  isNeedless: (host) => host.startsWith('registry.'),
  tellsCost: true,
  // They are in one database with everything else.
  forgetsInCage: true,
  // It reads configuration twice, and only one of these can be turned off: the other still starts plugins.
  alwaysReads: (file) => /(?:^|\/)(?:\.opencode\/|opencode\.jsonc?$)/i.test(file),
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
    files: [env['OPENCODE_CONFIG'] ?? []].flat(),
    variables: 'all',
    keys: ['.local/share/opencode/auth.json', '.local/share/opencode/mcp-auth.json'],
  }),
  program: 'opencode',
  start: (request) => ({
    // Only its log shows that its service refuses it: its stream is silent while it waits for that.
    args: [
      'run',
      '--format=json',
      '--print-logs',
      '--log-level=ERROR',
      ...option('--model', request.model),
      ...option('--session', request.resume?.session ?? null),
      ...levelArgs(request, { read: ['--agent', 'plan'], edit: [], full: ['--auto'] }),
    ],
    env: environment(config(request), request.permission.level !== 'custom'),
  }),
  drive: (request, session, prompt) => ({
    args: [
      ...option('--model', request.model),
      ...conversation(session, {
        fresh: option('--prompt', prompt),
        last: ['--continue'],
        known: (id) => option('--session', id),
      }),
    ],
    env: environment(configByHand(request), true),
  }),
  reader: (words, request) => new OpencodeReader(words, request),
})

/** An agent could have written the repository's configuration, and its servers would be started. */
function environment(config: Json, withoutProject: boolean): Invocation['env'] {
  return {
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    ...(withoutProject ? { OPENCODE_DISABLE_PROJECT_CONFIG: '1' } : {}),
  }
}

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

const MOST_EMPTY_STEPS = 3

/** Reads `opencode run --format json`, which has no final event: the last step shows whether more was to come. */
class OpencodeReader extends JsonReader {
  #sessionId: string | null = null
  #messageId = ''
  /** Why the last step ended. */
  #lastStep = ''
  /** The last refusal of its service, unless the service has answered since. */
  #refusal: ProviderFailure | null = null
  /** Steps in a row in which the model used no token. */
  #emptySteps = 0
  /** Steps since its prompt was too long; null if it was not, or has been shortened since. */
  #stepsTooLong: number | null = null

  // No event counts as the result: after a step that ends in `stop` it may still continue by itself, as after
  // shortening its context. It exits on its own.
  protected readonly on: Handlers = {
    step_start: () => {
      this.isComplete = false
    },
    text: (event) => {
      const part = record(event['part'])
      const [content, messageId] = [text(part['text']), text(part['messageID'])]
      this.message = messageId === this.#messageId ? `${this.message}\n${content}` : content
      this.#messageId = messageId
      return [{ type: 'text', text: content }]
    },
    // It shows a tool only after it has ended: for a successful one people see the beginning.
    tool_use: (event) => {
      const part = record(event['part'])
      const [id, state] = [text(part['callID']), record(part['state'])]
      const begun = this.tools.begin(id, text(part['tool']), record(state['input']))
      this.#goesOn()
      const failed = state['status'] === 'error'
      if (failed && /rule which prevents|rejected permission/i.test(text(state['error']))) this.tools.deny(id)
      return [begun, this.tools.end(id, !failed)]
    },
    step_finish: (event) => {
      const part = record(event['part'])
      this.#lastStep = text(part['reason'])
      this.isComplete = this.#lastStep !== 'tool-calls'
      const usage = usageOfStep(part)
      this.reported = addUsage(this.reported, usage)
      // It would take a page for an answer of the model, and ask again until its turns are used up.
      this.#emptySteps = usage.inputTokens === 0 && usage.outputTokens === 0 ? this.#emptySteps + 1 : 0
      if (this.#emptySteps === MOST_EMPTY_STEPS) {
        this.failure = { message: 'its service gives nothing but empty answers' }
        return [this.used, { type: 'result' }]
      }
      // The first step is its summary; with the second the model has answered the shortened prompt.
      if (this.#stepsTooLong !== null && ++this.#stepsTooLong > 1) this.#goesOn()
      return [this.used]
    },
    error: (event) => this.#error(record(event['error'])),
  }

  protected override event(event: Json): readonly StreamEvent[] {
    this.#refusal = null
    const sessionId = textOrNull(event['sessionID'])
    if (sessionId === null || sessionId === this.#sessionId) return super.event(event)
    this.#sessionId = sessionId
    return [sessionEvent(sessionId), ...super.event(event)]
  }

  /** It logs each refusal of its service, and then tries again; requests to its small model do not matter. */
  complaint(line: string): readonly StreamEvent[] {
    const error = / message="stream error" .*? error\.error="((?:[^"\\]|\\.)*)"/.exec(line)?.[1]
    if (error === undefined || / small=true /.test(line)) return []
    const message = error.replace(/^\w*Error: /, '')
    this.#refusal = { message }
    return [{ type: 'retrying', reason: oneLine(message), until: null }]
  }

  protected override ended(exit: Exit): StreamEnd['end'] {
    if (this.failure) return this.failed(exit)
    if (!this.isComplete) return this.failed(exit, this.#refusal)
    // This is reported before its own error.
    if (this.#lastStep === 'content-filter')
      return failureEnd({ message: 'the content filter of the service stopped it' }, this.words)
    return this.#lastStep === 'length' ? cutOff('it had reached its longest') : { kind: 'finished' }
  }

  #error(error: Json): readonly StreamEvent[] {
    const data = record(error['data'])
    const message = text(data['message']) || text(error['name'])
    const headers = record(data['responseHeaders'])
    // Only the header says how long a limit lasts.
    const delay = text(headers['retry-after'])
    this.failure = {
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
    this.failure = null
  }
}

function usageOfStep(part: Json): Usage {
  const tokens = record(part['tokens'])
  const cache = record(tokens['cache'])
  const cachedTokens = number(cache['read'])
  return {
    turns: 1,
    inputTokens: sum(number(tokens['input']), cachedTokens, number(cache['write'])),
    cachedTokens,
    outputTokens: sum(number(tokens['output']), number(tokens['reasoning'])),
    // The cost is 0 for a model whose price it does not know.
    costUsd: number(part['cost']) || null,
  }
}
