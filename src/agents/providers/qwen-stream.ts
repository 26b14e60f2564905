import type { Exit, StreamEnd, StreamEvent } from '../port.ts'
import { UNKNOWN_USAGE, type Usage } from '../../base/usage.ts'
import { failureEnd } from './failure.ts'
import { number, record, text, type Json } from './json-lines.ts'
import { session } from './json-reader.ts'
import { MessageReader } from './message-reader.ts'
import { oneLine } from './tool-summary.ts'

/** Reads `qwen -o stream-json`: Claude Code's messages, with ends of its own. */
export class QwenReader extends MessageReader {
  /** How often in a row it has requested the rest of an answer. */
  #continued = 0

  protected event(event: Json): readonly StreamEvent[] {
    switch (event['type']) {
      case 'system':
        if (event['subtype'] === 'retry' && record(event['data'])['preserveText'] === true) this.#continued++
        return event['subtype'] === 'init' ? [session(event['session_id'], event['model'])] : []
      case 'assistant':
        return this.#assistant(event)
      case 'user':
        return this.#answered(event)
      case 'result':
        this.result = event
        return [this.used, { type: 'result' }]
      default:
        return []
    }
  }

  /** It reports waits for its service only on stderr, every half minute, with the remaining time. */
  complaint(line: string): readonly StreamEvent[] {
    const seconds = /^\[qwen-code\] Waiting for API capacity\b.*\bretry in (\d+)s$/.exec(line)?.[1]
    if (seconds === undefined) return []
    const until = new Date(this.words.now().getTime() + Number(seconds) * 1000)
    return [{ type: 'retrying', reason: 'the service has no capacity', until }]
  }

  override end(exit: Exit): StreamEnd {
    return { ...super.end(exit), cutOff: this.#continued >= MOST_CONTINUATIONS ? GAVE_UP : undefined }
  }

  #assistant(event: Json): readonly StreamEvent[] {
    const events = this.blocks(record(event['message']))
    if (event['parent_tool_use_id'] != null || events.length === 0) return events
    this.turns.speak()
    return [...events, this.used]
  }

  #answered(event: Json): readonly StreamEvent[] {
    this.#continued = 0
    const events = this.toolResults(record(event['message']), DENIAL)
    if (events.length > 0) this.turns.answer()
    return events
  }

  protected resultEnd(result: Json): StreamEnd['end'] {
    if (result['is_error'] !== true) return { kind: 'finished' }
    const message = text(record(result['error'])['message']) || text(result['result'])
    return isTurnLimit(message)
      ? { kind: 'max-turns', reason: oneLine(message) }
      : failureEnd({ message }, this.words)
  }

  /** At its turn limit it prints no result, only a line on stderr. */
  protected endWithoutResult(exit: Exit): StreamEnd['end'] {
    const limit = exit.stderr.split(/\r?\n/).find(isTurnLimit)
    return limit === undefined ? this.failed(exit, null) : { kind: 'max-turns', reason: oneLine(limit) }
  }

  protected usage(): Usage {
    const turns = number(this.result?.['num_turns']) ?? this.turns.count
    if (!this.result) return { ...UNKNOWN_USAGE, turns }
    const usage = record(this.result['usage'])
    return {
      turns,
      inputTokens: number(usage['input_tokens']),
      cachedTokens: number(usage['cache_read_input_tokens']),
      outputTokens: number(usage['output_tokens']),
      costUsd: null,
    }
  }
}

/** How often it requests the rest of an answer, before it takes what it has as the whole. */
const MOST_CONTINUATIONS = 3
const DENIAL = /denied by permission rules|permission was declined/i
const GAVE_UP = 'it had reached its longest, again and again'

function isTurnLimit(message: string): boolean {
  return /max(?:imum)? session turns/i.test(message)
}
