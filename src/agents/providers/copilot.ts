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
  RESERVED_COMMANDS,
} from './request.ts'
import type { Usage } from '../../base/nouns.ts'
import { UNKNOWN_USAGE } from '../../base/usage.ts'
import { oneLine, type ProviderFailure } from './failure.ts'
import { list, number, record, text, textOrNull, JsonReader, sessionEvent, type Json } from './json-reader.ts'

/** Its name, and what a person does about a missing login. */
const COPILOT = { agent: 'Copilot CLI', login: 'run `copilot` and /login, or set GH_TOKEN' } as const

const SET_UP = {
  variables: [
    'COPILOT_GITHUB_TOKEN',
    'GH_TOKEN',
    'GITHUB_TOKEN',
    'COPILOT_PROVIDER_BASE_URL',
    'XDG_CONFIG_HOME',
  ],
  files: ['.copilot', '.config/gh'],
}

/** GitHub Copilot CLI: https://docs.github.com/copilot/how-tos/copilot-cli */
export const copilot: Provider = {
  name: 'copilot',
  install: 'npm install -g @github/copilot',
  minimumVersion: '1.0.102',
  cageNeeds: (env) => ({
    hosts: [
      'api.github.com',
      'github.com',
      '*.githubcopilot.com',
      ...hostsNamedIn(env['COPILOT_PROVIDER_BASE_URL']),
    ],
    homes: [{ folder: homeOf(env, '.copilot'), keeps: ['session-state', 'logs'] }],
    files: [],
    variables: [...SET_UP.variables, 'COPILOT_PROVIDER_API_KEY'],
    keys: ['.copilot', '.config/github-copilot'],
  }),
  takesMcpServers: true,
  preflight: (context) => neverSetUp(COPILOT, SET_UP, context),
  invocation(request) {
    return {
      program: 'copilot',
      args: [
        '--output-format=json',
        '--no-ask-user',
        '--no-auto-update',
        ...option('--model', request.model),
        ...option('--additional-mcp-config', hasMcpServers(request) ? `@${FOLDER}/mcp.json` : null),
        ...permissionArgs(request),
      ],
      env: {},
      stdin: request.prompt,
      files: serversFile(request),
    }
  },
  interactive(request, session) {
    const { text, files } = openingPrompt(request)
    return {
      program: 'copilot',
      args: [
        '--no-auto-update',
        ...option('--model', request.model),
        ...option('--additional-mcp-config', hasMcpServers(request) ? `@${FOLDER}/mcp.json` : null),
        ...RESERVED_COMMANDS.map(denied),
        ...option('--resume', typeof session === 'object' ? session.id : null),
        ...(session === 'last' ? ['--continue'] : []),
        ...option('--interactive', session === 'new' ? text : null),
      ],
      env: {},
      files: { ...files, ...serversFile(request) },
    }
  },
  reader: (request, now) => new CopilotReader({ ...COPILOT, now }, request),
}

function serversFile(request: AgentRequest): Invocation['files'] {
  return mcpFile(request, (server) => ({ type: 'local', tools: ['*'], ...toolLimit(server) }))
}

function denied(command: string): string {
  return `--deny-tool=shell(${command})`
}

function permissionArgs(request: AgentRequest): readonly string[] {
  const tools = ['write', ...Object.keys(request.mcpServers)]
  return levelArgs(request, {
    read: ['--deny-tool=write', '--deny-tool=shell'],
    // A rule for a command applies to all of its arguments, and commands that it considers read-only (`git log
    // --output=…`) are not checked: so it gets no shell.
    edit: [...tools.map((tool) => `--allow-tool=${tool}`), '--deny-tool=shell'],
    full: ['--allow-all', ...RESERVED_COMMANDS.map(denied)],
  })
}

/** How often it requests the rest of an answer, before it takes what it has as the whole. */
const MOST_LOST = 2

/** Reads `copilot --output-format json`. */
class CopilotReader extends JsonReader {
  #turnCount = 0
  #message = ''
  /** Turns in a row without a message: their text had not arrived completely. */
  #lost = 0
  #hasSpoken = false
  #failure: ProviderFailure | null = null
  #exitCode: number | null = null

  protected event(event: Json): readonly StreamEvent[] {
    const data = record(event['data'])
    switch (event['type']) {
      case 'assistant.turn_start':
        this.#turnCount++
        this.#hasSpoken = false
        return [this.used]
      case 'assistant.message':
        return this.#readText(data)
      case 'assistant.turn_end':
        if (!this.#hasSpoken) this.#lost++
        return []
      case 'tool.execution_start':
        return this.#toolStarted(data)
      case 'tool.execution_complete':
        return this.#toolEnded(data)
      case 'model.call_failure':
        this.#failure = { status: number(data['statusCode']), message: text(data['errorMessage']) }
        return []
      case 'assistant.turn_retry':
        return [{ type: 'retrying', reason: this.#retryReason(data), until: null }]
      case 'session.error':
        this.#failure = { status: number(data['statusCode']), message: text(data['message']) }
        return []
      case 'result':
        this.#exitCode = number(event['exitCode'])
        return [sessionEvent(event['sessionId']), { type: 'result' }]
      default:
        return []
    }
  }

  end(exit: Exit): StreamEnd {
    // If it is ended while it tries again, it reports success.
    const finished = this.#exitCode === 0 && this.#failure === null
    return {
      end: finished ? { kind: 'finished' } : this.failed(exit, this.#failure),
      finalMessage: finished ? this.#message : '',
      cutOff: this.#lost >= MOST_LOST ? 'it had reached its longest, again and again' : undefined,
      usage: this.usage(),
      denied: this.tools.denied,
    }
  }

  #readText(data: Json): readonly StreamEvent[] {
    // Ignores the text of sub-agents.
    if (textOrNull(data['parentToolCallId']) !== null) return []
    this.#failure = null
    this.#hasSpoken = true
    const content = text(data['content'])
    const isLast = list(data['toolRequests']).length === 0
    this.#message = isLast ? content : ''
    if (!isLast) this.#lost = 0
    return content === '' ? [] : [{ type: 'text', text: content }]
  }

  #toolStarted(data: Json): readonly StreamEvent[] {
    const [id, name] = [text(data['toolCallId']), text(data['toolName'])]
    return [this.tools.begin(id, name, record(data['arguments']))]
  }

  #toolEnded(data: Json): readonly StreamEvent[] {
    const [id, error] = [text(data['toolCallId']), record(data['error'])]
    const denied = error['code'] === 'denied' || /^Permission (?:to run|denied)/.test(text(error['message']))
    if (denied) this.tools.deny(id)
    // Any command that ran is a success for it, whatever its exit code.
    const exitCode = number(record(data['shellExecution'])['exitCode']) ?? 0
    return [this.tools.end(id, data['success'] === true && exitCode === 0)]
  }

  #retryReason(data: Json): string {
    const status = this.#failure?.status
    const reason = text(data['reason']).replaceAll('_', ' ') || 'request failed'
    return oneLine(status == null ? reason : `${reason} (${status})`)
  }

  protected usage(): Usage {
    return { ...UNKNOWN_USAGE, turns: this.#turnCount || null }
  }
}
