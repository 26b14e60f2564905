import type { AgentRequest, Exit, StreamEnd, StreamEvent, StreamReader } from '../port.ts'
import type { Usage } from '../../base/usage.ts'
import { failureEnd, silentEnd, type FailureWords } from './failure.ts'
import { list, number, parseLine, record, text, textOrNull, type Json } from './json-lines.ts'
import { oneLine, toolSummary } from './tool-summary.ts'
import { TurnCounter } from './turn-counter.ts'

/** Its name, and what a person does about a missing login. */
export const CODEX = { agent: 'Codex', login: 'run `codex login`' } as const

/** Reads `codex exec --json`. */
export class CodexReader implements StreamReader {
  readonly #cwd: string
  readonly #words: FailureWords
  readonly #turns = new TurnCounter()
  readonly #denied = new Set<string>()
  #message = ''
  #tokens: Json = {}
  #completed = false
  #failure: string | null = null

  constructor(request: AgentRequest, now: () => Date) {
    this.#cwd = request.cwd
    this.#words = { ...CODEX, now }
  }

  line(line: string): readonly StreamEvent[] {
    const event = parseLine(line)
    switch (event?.['type']) {
      case 'thread.started':
        return [{ type: 'session', sessionId: textOrNull(event['thread_id']), model: null }]
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
        return [{ type: 'usage', usage: this.#usage() }, { type: 'result' }]
      case 'turn.failed':
        this.#failure = text(record(event['error'])['message'])
        return [{ type: 'result' }]
      default:
        return []
    }
  }

  end(exit: Exit): StreamEnd {
    return {
      end: this.#end(exit),
      finalMessage: this.#completed ? this.#message : '',
      usage: this.#usage(),
      denied: [...this.#denied],
    }
  }

  #end(exit: Exit): StreamEnd['end'] {
    if (this.#completed) return { kind: 'finished' }
    return this.#failure === null
      ? silentEnd(exit, this.#words)
      : failureEnd({ status: null, message: this.#failure }, this.#words)
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
    this.#turns.speak()
    return [
      { type: 'text', text: message },
      { type: 'usage', usage: this.#usage() },
    ]
  }

  #tool(item: Json, completed: boolean): readonly StreamEvent[] {
    const id = text(item['id'])
    const { name, summary } = describe(item, this.#cwd)
    this.#failure = null
    this.#turns.speak()
    if (!completed) {
      return [
        { type: 'tool', id, name, summary, status: 'running' },
        { type: 'usage', usage: this.#usage() },
      ]
    }
    this.#turns.answer()
    const status = toolStatus(item)
    if (status === 'denied') this.#denied.add(summary)
    return [{ type: 'tool', id, name, summary, status }]
  }

  #usage(): Usage {
    return {
      turns: this.#turns.count || null,
      inputTokens: number(this.#tokens['input_tokens']),
      cachedTokens: number(this.#tokens['cached_input_tokens']),
      outputTokens: number(this.#tokens['output_tokens']),
      costUsd: null,
    }
  }
}

function toolStatus(item: Json): 'ok' | 'failed' | 'denied' {
  if (item['status'] === 'declined') return 'denied'
  // Its sandbox reports nothing: a blocked command, such as a commit, fails with a read-only disk.
  const output = text(item['aggregated_output'])
  if (item['status'] === 'failed' && /Read-only file system/i.test(output)) return 'denied'
  if (/requires approval|rejected by/i.test(text(record(item['error'])['message']))) return 'denied'
  return item['status'] === 'failed' ? 'failed' : 'ok'
}

function describe(item: Json, cwd: string): { readonly name: string; readonly summary: string } {
  switch (item['type']) {
    case 'command_execution':
      return {
        name: 'shell',
        summary: toolSummary('shell', { command: bareCommand(text(item['command'])) }, cwd),
      }
    case 'file_change': {
      const paths = list(item['changes']).map((change) => text(record(change)['path']))
      return { name: 'edit', summary: toolSummary('edit', { path: paths }, cwd) }
    }
    case 'web_search':
      return { name: 'search', summary: toolSummary('search', item, cwd) }
    default: {
      const name = `${text(item['server'])}.${text(item['tool'])}`
      return { name, summary: toolSummary(name, record(item['arguments']), cwd) }
    }
  }
}

/** Without the shell around it: `/bin/bash -lc 'npm test'`. */
function bareCommand(command: string): string {
  return /^\S*sh -l?c (['"])(.*)\1$/s.exec(command)?.[2] ?? command.replace(/^\S*sh -l?c /, '')
}
