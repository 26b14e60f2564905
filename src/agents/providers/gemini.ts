import { statSync } from 'node:fs'
import path from 'node:path'
import { homeOf, hostsNamedIn } from '../../base/cage-needs.ts'
import { FOLDER, type AgentRequest, type Exit, type Invocation, type StreamEnd } from '../port.ts'
import {
  cliAgent,
  conversation,
  mcpServers,
  option,
  toolLimit,
  levelArgs,
  mayReadWeb,
  allowedCommands,
  RESERVED_COMMANDS,
  fileVariable,
} from './request.ts'
import { failureEnd, oneLine } from './failure.ts'
import { record, text, JsonReader, sessionEvent, tokensOf, type Handlers, type Json } from './json-reader.ts'

const SET_UP = {
  variables: [
    'GEMINI_API_KEY',
    'GOOGLE_API_KEY',
    'GOOGLE_GENAI_USE_VERTEXAI',
    'GOOGLE_GENAI_USE_GCA',
    'GEMINI_CLI_HOME',
  ],
  files: ['.gemini/settings.json', '.gemini/oauth_creds.json'],
}

/** Gemini CLI: https://geminicli.com/docs */
export const gemini = cliAgent({
  name: 'gemini',
  agent: 'Gemini CLI',
  login: 'run `gemini` and log in, or set GEMINI_API_KEY',
  setUp: SET_UP,
  install: 'npm install -g @google/gemini-cli',
  minimumVersion: '0.61.0',
  cageNeeds: (env) => ({
    hosts: [
      'generativelanguage.googleapis.com',
      'cloudcode-pa.googleapis.com',
      'aiplatform.googleapis.com',
      'oauth2.googleapis.com',
      'accounts.google.com',
      'www.googleapis.com',
      ...hostsNamedIn(env['GOOGLE_GEMINI_BASE_URL']),
    ],
    homes: [
      {
        folder: path.join(homeOf(env, '', env['GEMINI_CLI_HOME']), '.gemini'),
        keeps: ['tmp', 'history', 'oauth_creds.json', 'google_accounts.json'],
      },
    ],
    files: [],
    variables: SET_UP.variables,
    keys: ['.gemini/oauth_creds.json', '.gemini/.env', '.gemini/mcp-oauth-tokens.json'],
  }),
  takesMcpServers: true,
  doubt(folder) {
    const open = foldersAbove(folder).find(isOpenToAll)
    if (open === undefined) return null
    return `Gemini CLI reads no settings below ${open}, which others can write to: it gets no tools of ralph's or other MCP servers. Set XDG_CACHE_HOME to a folder of your own`
  },
  resumes: true,
  tellsTokens: true,
  isNeedless: (host) => host === 'play.googleapis.com',
  program: 'gemini',
  start: (request) => ({
    args: [
      '--output-format=stream-json',
      ...option('--model', request.model),
      ...option('--resume', request.resume?.session ?? null),
      ...permissionArgs(request),
    ],
    env: {
      // In an untrusted folder the run ends with code 55.
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      ...settingsIn(request),
    },
    files: privateFiles(request),
  }),
  drive: (request, session, prompt) => ({
    args: [
      ...option('--model', request.model),
      ...conversation(session, {
        fresh: option('--prompt-interactive', prompt),
        last: ['--resume=latest'],
        known: (id) => option('--resume', id),
      }),
      '--policy',
      `${FOLDER}/policy.toml`,
    ],
    env: settingsIn(request),
    files: {
      'settings.json': JSON.stringify({ mcpServers: serversOf(request), ...onlyOurs(request) }),
      'policy.toml': reservedRules().join('\n'),
    },
  }),
  reader: (words, request) => new GeminiReader(words, request),
})

function foldersAbove(folder: string): readonly string[] {
  const above = path.dirname(folder)
  return above === folder ? [folder] : [folder, ...foldersAbove(above)]
}

function isOpenToAll(folder: string): boolean {
  return ((statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & 0o002) !== 0
}

/** The only layer that overrides the project's settings; the person's own values in it stay. */
function settingsIn(request: AgentRequest): Invocation['env'] {
  return fileVariable(request, 'GEMINI_CLI_SYSTEM_SETTINGS_PATH', 'settings.json')
}

function permissionArgs(request: AgentRequest): readonly string[] {
  const at = (mode: string) => ['--approval-mode', mode, '--policy', `${FOLDER}/policy.toml`]
  return levelArgs(request, { read: at('plan'), edit: at('auto_edit'), full: at('yolo') })
}

function privateFiles(request: AgentRequest): Invocation['files'] {
  const settings = {
    model: { maxSessionTurns: request.limits.turns },
    mcpServers: serversOf(request),
    ...(request.permission.level === 'custom' ? {} : onlyOurs(request)),
  }
  return {
    'settings.json': JSON.stringify(settings),
    ...(request.permission.level === 'custom' ? {} : { 'policy.toml': policy(request) }),
  }
}

function serversOf(request: AgentRequest): object {
  return mcpServers(request, (server) => ({ trust: true, ...toolLimit(server) }))
}

/** It also reads the repository's settings, which an agent could have written: no hooks, and only these servers. */
function onlyOurs({ mcpServers: servers }: AgentRequest): object {
  // An empty list would allow all.
  const allowed = [...Object.keys(servers), 'none-but-those-of-ralph']
  return { hooksConfig: { enabled: false }, mcp: { allowed }, privacy: { usageStatisticsEnabled: false } }
}

/** Rules of its policy engine: the highest priority decides, and the mode for tools without a rule. */
function policy(request: AgentRequest): string {
  const reserved = reservedRules()
  if (request.permission.level === 'full') return reserved.join('\n')
  if (request.permission.level === 'read')
    return [
      ...reserved,
      ...['write_file', 'replace', 'run_shell_command'].map((tool) => denied(tool)),
      ...(mayReadWeb(request) ? WEB.map(allowed) : WEB.map((tool) => denied(tool))),
    ].join('\n')
  const commands = allowedCommands(request).map((command) =>
    rule({
      toolName: 'run_shell_command',
      argsPattern: exactly(command),
      decision: 'allow',
      priority: 500,
    }),
  )
  return [...reserved, ...commands, ...WEB.map((tool) => denied(tool))].join('\n')
}

function reservedRules(): string[] {
  return RESERVED_COMMANDS.map((commandPrefix) => denied('run_shell_command', { commandPrefix }))
}

const WEB = ['web_fetch', 'google_web_search']

/**
 * Matches just that command in the text that its rules are applied to: the arguments as JSON, each of the tool's own
 * between two NULs, which no value can contain. A prefix would let `>` and further arguments through.
 */
function exactly(command: string): string {
  const argument = `"command":${JSON.stringify(command)}`
  return `\\x00${argument.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}\\x00`
}

function denied(toolName: string, more: Readonly<Record<string, string>> = {}): string {
  return rule({ toolName, ...more, decision: 'deny', priority: 900 })
}

function allowed(toolName: string): string {
  return rule({ toolName, decision: 'allow', priority: 500 })
}

/** One rule for one tool: it rejects a whole file with a list of tools beside a command. */
function rule(fields: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries(fields).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
  return ['[[rule]]', ...lines, ''].join('\n')
}

/** Reads `gemini -o stream-json`. */
class GeminiReader extends JsonReader {
  #result: Json = {}
  /** What stopped it, unless something came after: its result may still be a success, or have no reason. */
  #error = ''

  protected readonly on: Handlers = {
    init: (event) => [sessionEvent(event['session_id'], event['model'] === 'auto' ? null : event['model'])],
    // Its text comes in pieces: the message is all of them since the last tool.
    message: (event) => {
      if (event['role'] !== 'assistant') return []
      const piece = text(event['content'])
      this.message = event['delta'] === true ? this.message + piece : piece
      this.#goesOn()
      return [{ type: 'text', text: piece }, this.used]
    },
    tool_use: (event) => {
      const [id, name] = [text(event['tool_id']), text(event['tool_name'])]
      this.message = ''
      this.#goesOn()
      return [this.tools.begin(id, name, record(event['parameters'])), this.used]
    },
    tool_result: (event) => {
      const id = text(event['tool_id'])
      this.answer()
      if (record(event['error'])['type'] === 'policy_violation') this.tools.deny(id)
      return [this.tools.end(id, event['status'] === 'success')]
    },
    error: (event) => {
      const message = text(event['message'])
      if (event['severity'] === 'error') this.#error = message
      return [{ type: 'warning', message: oneLine(message) }]
    },
    result: (event) => {
      this.#result = event
      this.isComplete = true
      this.reported = tokensOf(record(event['stats']), 'cached')
      return [this.used, { type: 'result' }]
    },
  }

  #goesOn(): void {
    this.#error = ''
    this.speak()
  }

  protected override ended(exit: Exit): StreamEnd['end'] {
    const isSuccess = this.#result['status'] === 'success' && this.#error === ''
    if (!this.isComplete || isSuccess) return super.ended(exit)
    const error = record(this.#result['error'])
    const message = text(error['message']) || this.#error
    if (error['type'] === 'FatalTurnLimitedError' || /^maximum session turns/i.test(message))
      return { kind: 'max-turns', reason: message }
    return failureEnd({ message }, this.words)
  }
}
