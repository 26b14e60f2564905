import { homeOf, hostsNamedIn } from '../../base/cage-needs.ts'
import path from 'node:path'
import { namesIn } from '../../base/folder.ts'
import { readPlainFile } from '../../base/read-file.ts'
import { FOLDER, type AgentRequest, type Exit, type StreamEnd, type StreamEvent } from '../port.ts'
import { cliAgent, conversation, option, levelArgs, mayReadWeb } from './request.ts'
import {
  list,
  record,
  text,
  textOrNull,
  JsonReader,
  sessionEvent,
  tokensOf,
  type Handlers,
  type Json,
} from './json-reader.ts'
import { oneLine } from './failure.ts'

/** Codex: https://developers.openai.com/codex */
export const codex = cliAgent({
  name: 'codex',
  agent: 'Codex',
  login: 'run `codex login`',
  // A configuration may name another service, or keep the login in a keychain.
  setUp: {
    variables: ['CODEX_API_KEY', 'CODEX_HOME'],
    files: ['.codex/auth.json', '.codex/config.toml'],
  },
  install: 'npm install -g @openai/codex',
  minimumVersion: '0.169.0',
  cageNeeds: (env) => ({
    hosts: [
      'api.openai.com',
      'chatgpt.com',
      '*.chatgpt.com',
      'auth.openai.com',
      ...hostsNamedIn(env['OPENAI_BASE_URL']),
    ],
    homes: [
      {
        folder: homeOf(env, '.codex', env['CODEX_HOME']),
        keeps: ['sessions', 'archived_sessions', 'log', 'auth.json'],
      },
    ],
    files: [],
    variables: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
    keys: ['.codex/auth.json'],
  }),
  takesMcpServers: true,
  resumes: true,
  tellsTokens: true,
  takesSchema: true,
  isNeedless: (host) => host === 'github.com',
  program: 'codex',
  start: (request) => ({
    args: [
      'exec',
      '--json',
      '--skip-git-repo-check',
      // It would fetch plugins from the network at each start.
      '--disable=plugins',
      ...option('--model', request.model),
      ...mcpArgs(request),
      ...permissionArgs(request),
      ...option('--output-schema', request.answer ? `${FOLDER}/answer.json` : null),
      ...(request.resume ? ['resume', request.resume.session] : []),
      '-',
    ],
    files: request.answer ? { 'answer.json': JSON.stringify(strictSchema(request.answer.schema)) } : {},
  }),
  drive(request, session, text) {
    // Its background server would be outside of the cage, and work on after its screen has ended.
    const args = [
      '--no-daemon',
      ...option('--model', request.model),
      ...mcpArgs(request),
      ...sandboxOf(request),
    ]
    const which = conversation(session, { fresh: ['--', text], last: ['--last'], known: (id) => [id] })
    return { args: [...(session === 'new' ? [] : ['resume']), ...args, ...which] }
  },
  reader: (words, request) => new CodexReader(words, request),
})

/** Sandboxes cannot be nested; the person still answers its questions. */
function sandboxOf({ permission }: AgentRequest): readonly string[] {
  return 'isCaged' in permission && permission.isCaged ? ['--sandbox=danger-full-access'] : []
}

const UNSANDBOXED = ['--dangerously-bypass-approvals-and-sandbox']

function permissionArgs(request: AgentRequest): readonly string[] {
  const isCaged = 'isCaged' in request.permission && request.permission.isCaged
  const web = `web_search="${mayReadWeb(request) ? 'live' : 'disabled'}"`
  return levelArgs(request, {
    read: [...(isCaged ? UNSANDBOXED : ['--sandbox', 'read-only']), '-c', web],
    // Its sandbox has no network and keeps .git read-only, so commits and pushes fail.
    edit: isCaged ? UNSANDBOXED : ['--sandbox', 'workspace-write'],
    full: UNSANDBOXED,
  })
}

function mcpArgs(request: AgentRequest): readonly string[] {
  return Object.entries(request.mcpServers).flatMap(([name, server]) => {
    const env = Object.entries(server.env).map(([key, value]) => `${quote(key)}=${quote(value)}`)
    const fields = [
      `command=${quote(server.command)}`,
      `args=[${server.args.map(quote).join(',')}]`,
      `env={${env.join(',')}}`,
      // Otherwise each call waits for an approval that nobody can give, and fails.
      'default_tools_approval_mode="approve"',
      ...(server.toolSeconds === undefined ? [] : [`tool_timeout_sec=${server.toolSeconds}`]),
    ]
    // Keys on the command line cannot be quoted: a dot in the name would begin another table.
    return ['-c', `mcp_servers.${name.replace(/[^\w-]/g, '_')}={${fields.join(',')}}`]
  })
}

/** A TOML string, with the escapes of JSON. */
function quote(value: string): string {
  return JSON.stringify(value)
}

/** Reads `codex exec --json`. */
class CodexReader extends JsonReader {
  #session: string | null = null

  protected readonly on: Handlers = {
    'thread.started': (event) => {
      this.#session = textOrNull(event['thread_id'])
      return [sessionEvent(this.#session)]
    },
    'turn.started': () => {
      this.isComplete = false
    },
    'item.started': (event) => this.#item(record(event['item']), false),
    'item.completed': (event) => this.#item(record(event['item']), true),
    // Not the end yet: it tries several times, and only `turn.failed` means that it gave up.
    error: (event) => {
      const said = text(event['message'])
      const retry = /^Reconnecting\.*\s*\d+\/\d+\s*\((.*)\)$/s.exec(said)
      const message = retry?.[1] ?? said
      this.failure = { message }
      return retry ? [{ type: 'retrying', reason: oneLine(message), until: null }] : []
    },
    'turn.completed': (event) => {
      this.isComplete = true
      this.failure = null
      this.reported = this.ofThisRun(tokensOf(record(event['usage']), 'cached_input_tokens'))
      return [this.used, { type: 'result' }]
    },
    'turn.failed': (event) => {
      this.failure = { message: text(record(event['error'])['message']) }
      return [{ type: 'result' }]
    },
  }

  override end(exit: Exit): StreamEnd {
    const session = this.request.model === null ? this.#session : null
    const model = session && modelOf(session, this.request.env)
    return { ...super.end(exit), ...(model && { model }) }
  }

  #item(item: Json, isCompleted: boolean): readonly StreamEvent[] {
    const tool = toolIn(item)
    if (tool) return this.#tool(item, tool, isCompleted)
    if (item['type'] === 'error') return [{ type: 'warning', message: oneLine(text(item['message'])) }]
    if (item['type'] !== 'agent_message' || !isCompleted) return []
    this.failure = null
    this.message = text(item['text'])
    this.speak()
    return [{ type: 'text', text: this.message }, this.used]
  }

  #tool(item: Json, tool: readonly [string, Json], isCompleted: boolean): readonly StreamEvent[] {
    const begun = this.tools.begin(text(item['id']), ...tool)
    this.failure = null
    this.speak()
    if (!isCompleted) return [begun, this.used]
    this.answer()
    if (isDenied(item)) this.tools.deny(begun.id)
    return [this.tools.end(begun.id, item['status'] !== 'failed')]
  }
}

/** A long conversation has a record of many megabytes. */
const MOST_BYTES = 64 * 1024 * 1024

/** The model of a conversation, which only Codex's own record of it names; null if there is no record. */
function modelOf(session: string, env: AgentRequest['env']): string | null {
  // The record is in the folder of the day on which the conversation began; the id begins with that moment.
  const begun = new Date(Number.parseInt(session.replace('-', '').slice(0, 12), 16))
  const day = Number.isNaN(begun.getTime())
    ? []
    : [begun.getFullYear(), begun.getMonth() + 1, begun.getDate()]
  const parts = day.map((part) => String(part).padStart(2, '0'))
  const folder = path.join(homeOf(env, '.codex', env['CODEX_HOME']), 'sessions', ...parts)
  const name = namesIn(folder).find((one) => one.endsWith(`${session}.jsonl`))
  const record = name === undefined ? null : readPlainFile(path.join(folder, name), MOST_BYTES)
  return /"thread_settings":\{"model":"([^"\\]+)"/.exec(record ?? '')?.[1] ?? null
}

/** The name and the input of a tool; null for an item that is none. */
function toolIn(item: Json): readonly [string, Json] | null {
  switch (item['type']) {
    case 'command_execution':
      return ['shell', { command: bareCommand(text(item['command'])) }]
    case 'file_change':
      return ['edit', { path: list(item['changes']).map((change) => record(change)['path']) }]
    case 'web_search':
      return ['search', item]
    case 'mcp_tool_call':
      return [`${text(item['server'])}.${text(item['tool'])}`, record(item['arguments'])]
    default:
      return null
  }
}

function isDenied(item: Json): boolean {
  // Its sandbox reports nothing: a blocked command, such as a commit, fails with a read-only disk.
  const isBlocked =
    item['status'] === 'failed' && /Read-only file system/i.test(text(item['aggregated_output']))
  const message = text(record(item['error'])['message'])
  return isBlocked || item['status'] === 'declined' || /requires approval|rejected by/i.test(message)
}

/** Without the shell around it: `/bin/bash -lc 'npm test'`. */
function bareCommand(command: string): string {
  return /^\S*sh -l?c (['"])(.*)\1$/s.exec(command)?.[2] ?? command.replace(/^\S*sh -l?c /, '')
}

/**
 * Converts a JSON Schema for services with a strict mode: every key is required, and an optional one may be null
 * instead; only types, lists of choices and descriptions remain.
 */
export function strictSchema(schema: unknown): Json {
  const { type, items, properties, required, description, ...rest } = record(schema)
  const kept = {
    ...(type === undefined ? {} : { type }),
    ...(rest['enum'] === undefined ? {} : { enum: rest['enum'] }),
    ...(description === undefined ? {} : { description }),
  }
  if (Array.isArray(rest['anyOf'])) return { ...kept, anyOf: rest['anyOf'].map(strictSchema) }
  if (type === 'array') return { ...kept, items: strictSchema(items) }
  if (type !== 'object') return kept
  const needed = list(required)
  const entries = Object.entries(record(properties)).map(([key, value]) => [
    key,
    needed.includes(key) ? strictSchema(value) : orNull(strictSchema(value)),
  ])
  return {
    ...kept,
    properties: Object.fromEntries(entries),
    required: entries.map(([key]) => key),
    additionalProperties: false,
  }
}

function orNull(schema: Json): Json {
  const choices = schema['anyOf']
  if (Array.isArray(choices) && choices.some((choice) => record(choice)['type'] === 'null')) return schema
  return { anyOf: [...(Array.isArray(choices) ? choices : [schema]), { type: 'null' }] }
}
