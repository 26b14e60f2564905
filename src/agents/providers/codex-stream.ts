import type { Exit, StreamEnd, StreamEvent } from '../port.ts'
import type { Usage } from '../../base/usage.ts'
import { list, number, record, text, type Json } from './json-lines.ts'
import { JsonReader, session } from './json-reader.ts'
import { oneLine } from './tool-summary.ts'

/** Reads `codex exec --json`. */
export class CodexReader extends JsonReader {
  #message = ''
  #tokens: Json = {}
  #completed = false
  #failure: string | null = null

  protected event(event: Json): readonly StreamEvent[] {
    switch (event['type']) {
      case 'thread.started':
        return [session(event['thread_id'])]
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
    return {
      turns: this.turns.count,
      inputTokens: number(this.#tokens['input_tokens']),
      cachedTokens: number(this.#tokens['cached_input_tokens']),
      outputTokens: number(this.#tokens['output_tokens']),
      costUsd: null,
    }
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
