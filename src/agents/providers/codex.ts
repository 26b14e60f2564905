import path from 'node:path'
import { homeOf, hostsNamedIn } from '../../base/cage-needs.ts'
import {
  FOLDER,
  type AgentRequest,
  type Provider,
  type Exit,
  type StreamEnd,
  type StreamEvent,
} from '../port.ts'
import { neverSetUp, openingPrompt, option, levelArgs, mayReadWeb } from './request.ts'
import type { Usage } from '../../base/nouns.ts'
import { list, record, text, JsonReader, sessionEvent, tokensOf, type Json } from './json-reader.ts'
import { oneLine } from './failure.ts'

/** Its name, and what a person does about a missing login. */
const CODEX = { agent: 'Codex', login: 'run `codex login`' } as const

/** Codex: https://developers.openai.com/codex */
export const codex: Provider = {
  name: 'codex',
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
  preflight(context) {
    const home = context.env['CODEX_HOME'] ?? '.codex'
    const setUp = {
      variables: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
      // A configuration may name another service, or keep the login in a keychain.
      files: [path.join(home, 'auth.json'), path.join(home, 'config.toml')],
    }
    return neverSetUp(CODEX, setUp, context)
  },
  invocation(request) {
    return {
      program: 'codex',
      args: [
        'exec',
        '--json',
        '--skip-git-repo-check',
        ...option('--model', request.model),
        ...mcpArgs(request),
        ...permissionArgs(request),
        ...option('--output-schema', request.answer ? `${FOLDER}/answer.json` : null),
        '-',
      ],
      env: {},
      stdin: request.prompt,
      files: request.answer ? { 'answer.json': JSON.stringify(strictSchema(request.answer.schema)) } : {},
    }
  },
  interactive(request, session) {
    const { text, files } = openingPrompt(request)
    const args = [...option('--model', request.model), ...mcpArgs(request)]
    const which = session === 'last' ? '--last' : session === 'new' ? text : session.id
    return {
      program: 'codex',
      args: session === 'new' ? [...args, '--', which] : ['resume', ...args, which],
      env: {},
      files,
    }
  },
  reader: (request, now) => new CodexReader({ ...CODEX, now }, request),
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
  #message = ''
  #tokens: Json = {}
  #completed = false
  #failure: string | null = null

  protected event(event: Json): readonly StreamEvent[] {
    switch (event['type']) {
      case 'thread.started':
        return [sessionEvent(event['thread_id'])]
      case 'turn.started':
        this.#completed = false
        return []
      case 'item.started':
        return this.#item(record(event['item']), false)
      case 'item.completed':
        return this.#item(record(event['item']), true)
      case 'error':
        return this.#error(text(event['message']))
      case 'turn.completed':
        this.#completed = true
        this.#failure = null
        this.#tokens = record(event['usage'])
        return [this.used, { type: 'result' }]
      case 'turn.failed':
        this.#failure = text(record(event['error'])['message'])
        return [{ type: 'result' }]
      default:
        return []
    }
  }

  end(exit: Exit): StreamEnd {
    const failure = this.#failure === null ? null : { message: this.#failure }
    return {
      end: this.#completed ? { kind: 'finished' } : this.failed(exit, failure),
      finalMessage: this.#completed ? this.#message : '',
      usage: this.usage(),
      denied: this.tools.denied,
    }
  }

  /** Not the end yet: it tries several times, and only `turn.failed` means that it gave up. */
  #error(message: string): readonly StreamEvent[] {
    const retry = /^Reconnecting\.*\s*\d+\/\d+\s*\((.*)\)$/s.exec(message)
    this.#failure = retry?.[1] ?? message
    return retry ? [{ type: 'retrying', reason: oneLine(this.#failure), until: null }] : []
  }

  #item(item: Json, completed: boolean): readonly StreamEvent[] {
    switch (item['type']) {
      case 'agent_message':
        return completed ? this.#readText(text(item['text'])) : []
      case 'error':
        return [{ type: 'warning', message: oneLine(text(item['message'])) }]
      case 'command_execution':
      case 'mcp_tool_call':
      case 'file_change':
      case 'web_search':
        return this.#tool(item, completed)
      default:
        return []
    }
  }

  #readText(message: string): readonly StreamEvent[] {
    this.#failure = null
    this.#message = message
    this.turns.speak()
    return [{ type: 'text', text: message }, this.used]
  }

  #tool(item: Json, completed: boolean): readonly StreamEvent[] {
    const begun = this.tools.begin(text(item['id']), ...nameAndInput(item))
    this.#failure = null
    this.turns.speak()
    if (!completed) return [begun, this.used]
    this.turns.answer()
    if (isDenied(item)) this.tools.deny(begun.id)
    return [this.tools.end(begun.id, item['status'] !== 'failed')]
  }

  protected usage(): Usage {
    return { turns: this.turns.count, ...tokensOf(this.#tokens, 'cached_input_tokens'), costUsd: null }
  }
}

function nameAndInput(item: Json): [string, Json] {
  switch (item['type']) {
    case 'command_execution':
      return ['shell', { command: bareCommand(text(item['command'])) }]
    case 'file_change':
      return ['edit', { path: list(item['changes']).map((change) => record(change)['path']) }]
    case 'web_search':
      return ['search', item]
    default:
      return [`${text(item['server'])}.${text(item['tool'])}`, record(item['arguments'])]
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
