import { homeOf, hostsNamedIn } from '../../base/cage-needs.ts'
import type { AgentRequest, Invocation } from '../port.ts'
import {
  cliAgent,
  conversation,
  mcpFile,
  mcpOption,
  option,
  toolLimit,
  levelArgs,
  RESERVED_COMMANDS,
} from './request.ts'
import { addUsage, UNKNOWN_USAGE } from '../../base/usage.ts'
import { oneLine } from './failure.ts'
import {
  list,
  number,
  record,
  text,
  textOrNull,
  JsonReader,
  sessionEvent,
  type Handlers,
  type Json,
} from './json-reader.ts'

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
export const copilot = cliAgent({
  name: 'copilot',
  agent: 'Copilot CLI',
  login: 'run `copilot` and /login, or set GH_TOKEN',
  setUp: SET_UP,
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
  program: 'copilot',
  start: (request) => ({
    args: [
      '--output-format=json',
      '--no-ask-user',
      '--no-auto-update',
      ...option('--model', request.model),
      ...mcpOption(request, '--additional-mcp-config', '@'),
      ...permissionArgs(request),
    ],
    files: serversFile(request),
  }),
  drive: (request, session, prompt) => ({
    args: [
      '--no-auto-update',
      ...option('--model', request.model),
      ...mcpOption(request, '--additional-mcp-config', '@'),
      ...RESERVED_COMMANDS.map(denied),
      ...conversation(session, {
        fresh: option('--interactive', prompt),
        last: ['--continue'],
        known: (id) => option('--resume', id),
      }),
    ],
    files: serversFile(request),
  }),
  reader: (words, request) => new CopilotReader(words, request),
})

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

/** Reads `copilot --output-format json`. */
class CopilotReader extends JsonReader {
  protected override readonly mostContinued = 2
  #hasSpoken = false

  protected readonly on: Handlers = {
    'assistant.turn_start': () => {
      this.reported = addUsage(this.reported, { ...UNKNOWN_USAGE, turns: 1 })
      this.#hasSpoken = false
      return [this.used]
    },
    'assistant.message': (event) => {
      const data = record(event['data'])
      // Ignores the text of sub-agents.
      if (textOrNull(data['parentToolCallId']) !== null) return []
      this.failure = null
      this.#hasSpoken = true
      const content = text(data['content'])
      const isLast = list(data['toolRequests']).length === 0
      this.message = isLast ? content : ''
      if (!isLast) this.continued = 0
      return content === '' ? [] : [{ type: 'text', text: content }]
    },
    // The text of a turn without a message has not arrived completely.
    'assistant.turn_end': () => {
      if (!this.#hasSpoken) this.continued++
    },
    'tool.execution_start': (event) => {
      const data = record(event['data'])
      return [this.tools.begin(text(data['toolCallId']), text(data['toolName']), record(data['arguments']))]
    },
    'tool.execution_complete': (event) => {
      const data = record(event['data'])
      const [id, error] = [text(data['toolCallId']), record(data['error'])]
      if (error['code'] === 'denied' || /^Permission (?:to run|denied)/.test(text(error['message'])))
        this.tools.deny(id)
      // Any command that ran is a success for it, whatever its exit code.
      const exitCode = number(record(data['shellExecution'])['exitCode']) ?? 0
      return [this.tools.end(id, data['success'] === true && exitCode === 0)]
    },
    'model.call_failure': (event) => this.#failed(record(event['data']), 'errorMessage'),
    'assistant.turn_retry': (event) => {
      const status = this.failure?.status
      const reason = text(record(event['data'])['reason']).replaceAll('_', ' ') || 'request failed'
      const shown = oneLine(status == null ? reason : `${reason} (${status})`)
      return [{ type: 'retrying', reason: shown, until: null }]
    },
    'session.error': (event) => this.#failed(record(event['data']), 'message'),
    result: (event) => {
      // If it is ended while it tries again, it reports success.
      this.isComplete = event['exitCode'] === 0 && this.failure === null
      return [sessionEvent(event['sessionId']), { type: 'result' }]
    },
  }

  #failed(data: Json, message: string): undefined {
    this.failure = { status: number(data['statusCode']), message: text(data[message]) }
  }
}
