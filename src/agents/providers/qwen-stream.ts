import type { AgentRequest, Exit, StreamEnd, StreamEvent, StreamReader } from '../port.ts'
import type { Usage } from '../../base/usage.ts'
import { failureEnd, silentEnd, type FailureWords } from './failure.ts'
import { number, parseLine, record, text, textOrNull, type Json } from './json-lines.ts'
import { assistantEvents, denials, toolResultEvents } from './message-blocks.ts'
import { ToolCalls } from './tool-calls.ts'
import { oneLine } from './tool-summary.ts'
import { TurnCounter } from './turn-counter.ts'
import { UNKNOWN_USAGE } from '../../base/usage.ts'

/** Its name, and what a person does about a missing login. */
export const QWEN = { agent: 'Qwen Code', login: 'run `qwen` and /auth, or set OPENAI_API_KEY' } as const

/** Reads `qwen -o stream-json`: Claude Code's messages, with ends of its own. */
export class QwenReader implements StreamReader {
  readonly #cwd: string
  readonly #words: FailureWords
  readonly #tools: ToolCalls
  readonly #turns = new TurnCounter()
  readonly #denied = new Set<string>()
  /** How often in a row it has requested the rest of an answer. */
  #continued = 0
  #result: Json | null = null

  constructor(request: AgentRequest, now: () => Date) {
    this.#cwd = request.cwd
    this.#tools = new ToolCalls(request.cwd)
    this.#words = { ...QWEN, now }
  }

  line(line: string): readonly StreamEvent[] {
    const event = parseLine(line)
    switch (event?.['type']) {
      case 'system':
        if (event['subtype'] === 'retry' && record(event['data'])['preserveText'] === true) this.#continued++
        return event['subtype'] === 'init' ? [session(event)] : []
      case 'assistant':
        return this.#assistant(event)
      case 'user':
        return this.#answered(event)
      case 'result':
        this.#result = event
        return [{ type: 'usage', usage: this.#usage() }, { type: 'result' }]
      default:
        return []
    }
  }

  /** It reports waits for its service only on stderr, every half minute, with the remaining time. */
  complaint(line: string): readonly StreamEvent[] {
    const seconds = /^\[qwen-code\] Waiting for API capacity\b.*\bretry in (\d+)s$/.exec(line)?.[1]
    if (seconds === undefined) return []
    const until = new Date(this.#words.now().getTime() + Number(seconds) * 1000)
    return [{ type: 'retrying', reason: 'the service has no capacity', until }]
  }

  end(exit: Exit): StreamEnd {
    const result = this.#result
    return {
      end: result ? this.#resultEnd(result) : this.#endWithoutResult(exit),
      finalMessage: text(result?.['result']),
      cutOff: this.#continued >= MOST_CONTINUATIONS ? GAVE_UP : undefined,
      usage: this.#usage(),
      denied: [...new Set(result ? denials(result, this.#cwd) : this.#denied)],
    }
  }

  #assistant(event: Json): readonly StreamEvent[] {
    const events = assistantEvents(record(event['message']), this.#tools)
    if (event['parent_tool_use_id'] != null || events.length === 0) return events
    this.#turns.speak()
    return [...events, { type: 'usage', usage: this.#usage() }]
  }

  #answered(event: Json): readonly StreamEvent[] {
    this.#continued = 0
    const events = toolResultEvents(record(event['message']), this.#tools, (_id, output) =>
      /denied by permission rules|permission was declined/i.test(output),
    )
    for (const shown of events) {
      this.#turns.answer()
      if (shown.status === 'denied') this.#denied.add(shown.summary)
    }
    return events
  }

  #resultEnd(result: Json): StreamEnd['end'] {
    if (result['is_error'] !== true) return { kind: 'finished' }
    const message = text(record(result['error'])['message']) || text(result['result'])
    return isTurnLimit(message)
      ? { kind: 'max-turns', reason: oneLine(message) }
      : failureEnd({ status: null, message }, this.#words)
  }

  /** At its turn limit it prints no result, only a line on stderr. */
  #endWithoutResult(exit: Exit): StreamEnd['end'] {
    const limit = exit.stderr.split(/\r?\n/).find(isTurnLimit)
    return limit === undefined ? silentEnd(exit, this.#words) : { kind: 'max-turns', reason: oneLine(limit) }
  }

  #usage(): Usage {
    const turns = number(this.#result?.['num_turns']) ?? (this.#turns.count || null)
    if (!this.#result) return { ...UNKNOWN_USAGE, turns }
    const usage = record(this.#result['usage'])
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
const GAVE_UP = 'it had reached its longest, again and again'

function session(event: Json): StreamEvent {
  return { type: 'session', sessionId: textOrNull(event['session_id']), model: textOrNull(event['model']) }
}

function isTurnLimit(message: string): boolean {
  return /max(?:imum)? session turns/i.test(message)
}
