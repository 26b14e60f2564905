import path from 'node:path'
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
  mcpServers,
  openingPrompt,
  option,
  toolLimit,
  levelArgs,
  mayReadWeb,
  allowedCommands,
  RESERVED_COMMANDS,
  fileVariable,
} from './request.ts'
import type { Usage } from '../../base/nouns.ts'
import { failureEnd, oneLine } from './failure.ts'
import { record, text, JsonReader, sessionEvent, tokensOf, type Json } from './json-reader.ts'

/** Its name, and what a person does about a missing login. */
const GEMINI = { agent: 'Gemini CLI', login: 'run `gemini` and log in, or set GEMINI_API_KEY' } as const

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
export const gemini: Provider = {
  name: 'gemini',
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
  preflight: (context) => neverSetUp(GEMINI, SET_UP, context),
  invocation(request) {
    return {
      program: 'gemini',
      args: ['--output-format=stream-json', ...option('--model', request.model), ...permissionArgs(request)],
      env: {
        // In an untrusted folder the run ends with code 55.
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
        ...settingsIn(request),
      },
      stdin: request.prompt,
      files: privateFiles(request),
    }
  },
  interactive(request, session) {
    const { text, files } = openingPrompt(request)
    const resumed = session === 'last' ? 'latest' : session === 'new' ? null : session.id
    return {
      program: 'gemini',
      args: [
        ...option('--model', request.model),
        ...option('--resume', resumed),
        ...option('--prompt-interactive', session === 'new' ? text : null),
        '--policy',
        `${FOLDER}/policy.toml`,
      ],
      env: settingsIn(request),
      files: {
        ...files,
        'settings.json': JSON.stringify({ mcpServers: serversOf(request), ...onlyOurs(request) }),
        'policy.toml': reservedRules().join('\n'),
      },
    }
  },
  reader: (request, now) => new GeminiReader({ ...GEMINI, now }, request),
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
  return { hooksConfig: { enabled: false }, mcp: { allowed } }
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
  #message = ''
  #result: Json | null = null
  /** The last error, if nothing came after it. */
  #error = ''

  protected event(event: Json): readonly StreamEvent[] {
    switch (event['type']) {
      case 'init':
        return [sessionEvent(event['session_id'], event['model'] === 'auto' ? null : event['model'])]
      case 'message':
        return event['role'] === 'assistant' ? this.#readText(event) : []
      case 'tool_use':
        return this.#toolStarted(event)
      case 'tool_result':
        return this.#toolEnded(event)
      case 'error':
        return this.#failed(event)
      case 'result':
        this.#result = event
        return [this.used, { type: 'result' }]
      default:
        return []
    }
  }

  end(exit: Exit): StreamEnd {
    return {
      end: this.#result ? this.#resultEnd(this.#result) : this.failed(exit, null),
      finalMessage: this.#result ? this.#message : '',
      usage: this.usage(),
      denied: this.tools.denied,
    }
  }

  /** Its result may still be a success, or have no reason for the failure. */
  #failed(event: Json): readonly StreamEvent[] {
    const message = text(event['message'])
    if (event['severity'] === 'error') this.#error = message
    return [{ type: 'warning', message: oneLine(message) }]
  }

  /** Its text comes in pieces: the message is all of them since the last tool. */
  #readText(event: Json): readonly StreamEvent[] {
    const piece = text(event['content'])
    this.#error = ''
    this.#message = event['delta'] === true ? this.#message + piece : piece
    this.turns.speak()
    return [{ type: 'text', text: piece }, this.used]
  }

  #toolStarted(event: Json): readonly StreamEvent[] {
    const [id, name] = [text(event['tool_id']), text(event['tool_name'])]
    const begun = this.tools.begin(id, name, record(event['parameters']))
    this.turns.speak()
    this.#message = ''
    this.#error = ''
    return [begun, this.used]
  }

  #toolEnded(event: Json): readonly StreamEvent[] {
    const id = text(event['tool_id'])
    this.turns.answer()
    if (record(event['error'])['type'] === 'policy_violation') this.tools.deny(id)
    return [this.tools.end(id, event['status'] === 'success')]
  }

  #resultEnd(result: Json): StreamEnd['end'] {
    if (result['status'] === 'success' && this.#error === '') return { kind: 'finished' }
    const error = record(result['error'])
    const message = text(error['message']) || this.#error
    if (error['type'] === 'FatalTurnLimitedError' || /^maximum session turns/i.test(message))
      return { kind: 'max-turns', reason: message }
    return failureEnd({ message }, this.words)
  }

  protected usage(): Usage {
    const stats = record(this.#result?.['stats'])
    return { turns: this.turns.count, ...tokensOf(stats, 'cached'), costUsd: null }
  }
}
