import type { AgentRequest, Exit, StreamEnd, StreamEvent, StreamReader } from '../port.ts'
import type { Usage } from '../../base/usage.ts'
import { failureEnd, silentEnd, type FailureWords } from './failure.ts'
import { number, parseLine, record, text, textOrNull, type Json } from './json-lines.ts'
import { ToolCalls } from './tool-calls.ts'
import { oneLine } from './tool-summary.ts'
import { TurnCounter } from './turn-counter.ts'

/** Its name, and what a person does about a missing login. */
export const GEMINI = {
  agent: 'Gemini CLI',
  login: 'run `gemini` and log in, or set GEMINI_API_KEY',
} as const

/** Reads `gemini -o stream-json`. */
export class GeminiReader implements StreamReader {
  readonly #words: FailureWords
  readonly #turns = new TurnCounter()
  readonly #tools: ToolCalls
  readonly #denied = new Set<string>()
  #message = ''
  #result: Json | null = null
  /** The last error, if nothing came after it. */
  #error = ''

  constructor(request: AgentRequest, now: () => Date) {
    this.#tools = new ToolCalls(request.cwd)
    this.#words = { ...GEMINI, now }
  }

  line(line: string): readonly StreamEvent[] {
    const event = parseLine(line)
    switch (event?.['type']) {
      case 'init': {
        const model = textOrNull(event['model'])
        return [
          {
            type: 'session',
            sessionId: textOrNull(event['session_id']),
            model: model === 'auto' ? null : model,
          },
        ]
      }
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
        return [{ type: 'usage', usage: this.#usage() }, { type: 'result' }]
      default:
        return []
    }
  }

  end(exit: Exit): StreamEnd {
    return {
      end: this.#result ? this.#resultEnd(this.#result) : silentEnd(exit, this.#words),
      finalMessage: this.#result ? this.#message : '',
      usage: this.#usage(),
      denied: [...this.#denied],
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
    this.#turns.speak()
    return [
      { type: 'text', text: piece },
      { type: 'usage', usage: this.#usage() },
    ]
  }

  #toolStarted(event: Json): readonly StreamEvent[] {
    const [id, name] = [text(event['tool_id']), text(event['tool_name'])]
    const begun = this.#tools.begin(id, name, record(event['parameters']))
    this.#turns.speak()
    this.#message = ''
    this.#error = ''
    return [begun, { type: 'usage', usage: this.#usage() }]
  }

  #toolEnded(event: Json): readonly StreamEvent[] {
    const id = text(event['tool_id'])
    this.#turns.answer()
    const denied = record(event['error'])['type'] === 'policy_violation'
    const ended = this.#tools.end(id, denied ? 'denied' : event['status'] === 'success' ? 'ok' : 'failed')
    if (denied) this.#denied.add(ended.summary)
    return [ended]
  }

  #resultEnd(result: Json): StreamEnd['end'] {
    if (result['status'] === 'success' && this.#error === '') return { kind: 'finished' }
    const error = record(result['error'])
    const message = text(error['message']) || this.#error
    if (error['type'] === 'FatalTurnLimitedError' || /^maximum session turns/i.test(message))
      return { kind: 'max-turns', reason: message }
    return failureEnd({ status: null, message }, this.#words)
  }

  #usage(): Usage {
    const stats = record(this.#result?.['stats'])
    return {
      turns: this.#turns.count || null,
      inputTokens: number(stats['input_tokens']),
      cachedTokens: number(stats['cached']),
      outputTokens: number(stats['output_tokens']),
      costUsd: null,
    }
  }
}
