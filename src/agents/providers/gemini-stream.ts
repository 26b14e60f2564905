import type { Exit, StreamEnd, StreamEvent } from '../port.ts'
import type { Usage } from '../../base/usage.ts'
import { failureEnd } from './failure.ts'
import { number, record, text, type Json } from './json-lines.ts'
import { JsonReader, session } from './json-reader.ts'
import { oneLine } from './tool-summary.ts'

/** Reads `gemini -o stream-json`. */
export class GeminiReader extends JsonReader {
  #message = ''
  #result: Json | null = null
  /** The last error, if nothing came after it. */
  #error = ''

  protected event(event: Json): readonly StreamEvent[] {
    switch (event['type']) {
      case 'init':
        return [session(event['session_id'], event['model'] === 'auto' ? null : event['model'])]
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
    return {
      turns: this.turns.count,
      inputTokens: number(stats['input_tokens']),
      cachedTokens: number(stats['cached']),
      outputTokens: number(stats['output_tokens']),
      costUsd: null,
    }
  }
}
