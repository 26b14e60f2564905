import type { Exit, StreamEnd, StreamEvent } from '../port.ts'
import { sum, UNKNOWN_USAGE, type Usage } from '../../base/usage.ts'
import { cutOff, failureEnd, type ProviderFailure } from './failure.ts'
import { number, record, text, textOrNull, type Json } from './json-lines.ts'
import { JsonReader, session } from './json-reader.ts'
import { oneLine } from './tool-summary.ts'

/** Reads `opencode run --format json`, which has no final event: the last step shows whether more was to come. */
export class OpencodeReader extends JsonReader {
  #sessionId: string | null = null
  #messageId = ''
  #message = ''
  /** Why the last step ended; null while more is to come. */
  #lastStep: string | null = null
  #failure: ProviderFailure | null = null
  /** The last refusal of its service, unless the service has answered since. */
  #refusal: ProviderFailure | null = null
  /** Steps since its prompt was too long; null if it was not, or has been shortened since. */
  #stepsTooLong: number | null = null
  #sum = UNKNOWN_USAGE

  protected event(event: Json): readonly StreamEvent[] {
    this.#refusal = null
    return [...this.#session(event), ...this.#event(event)]
  }

  /** It logs each refusal of its service, and then tries again; requests to its small model do not matter. */
  complaint(line: string): readonly StreamEvent[] {
    const error = / message="stream error" .*? error\.error="((?:[^"\\]|\\.)*)"/.exec(line)?.[1]
    if (error === undefined || / small=true /.test(line)) return []
    const message = error.replace(/^\w*Error: /, '')
    this.#refusal = { message }
    return [{ type: 'retrying', reason: oneLine(message), until: null }]
  }

  // No event counts as the result: after a step that ends in `stop` it may still continue by itself, as after
  // shortening its context. It exits on its own.
  #event(event: Json): readonly StreamEvent[] {
    const part = record(event['part'])
    switch (event['type']) {
      case 'step_start':
        this.#lastStep = null
        return []
      case 'text':
        return this.#readText(part)
      case 'tool_use':
        return this.#tool(part)
      case 'step_finish':
        this.#lastStep = part['reason'] === 'tool-calls' ? null : text(part['reason'])
        this.#sum = withStep(this.#sum, part)
        // The first step is its summary; with the second the model has answered the shortened prompt.
        if (this.#stepsTooLong !== null && ++this.#stepsTooLong > 1) this.#goesOn()
        return [this.used]
      case 'error':
        return this.#error(record(event['error']))
      default:
        return []
    }
  }

  end(exit: Exit): StreamEnd {
    return {
      end: this.#end(exit),
      finalMessage: this.#lastStep === null ? '' : this.#message,
      usage: this.#sum,
      denied: this.tools.denied,
    }
  }

  protected usage(): Usage {
    return this.#sum
  }

  #end(exit: Exit): StreamEnd['end'] {
    if (this.#failure) return failureEnd(this.#failure, this.words)
    if (this.#lastStep === 'content-filter') return failureEnd(FILTERED, this.words)
    if (this.#lastStep === 'length') return cutOff('it had reached its longest')
    if (this.#lastStep !== null) return { kind: 'finished' }
    return this.failed(exit, this.#refusal)
  }

  #session(event: Json): readonly StreamEvent[] {
    const sessionId = textOrNull(event['sessionID'])
    if (sessionId === null || sessionId === this.#sessionId) return []
    this.#sessionId = sessionId
    return [session(sessionId)]
  }

  #readText(part: Json): readonly StreamEvent[] {
    const content = text(part['text'])
    const messageId = text(part['messageID'])
    this.#message = messageId === this.#messageId ? `${this.#message}\n${content}` : content
    this.#messageId = messageId
    return [{ type: 'text', text: content }]
  }

  /** It shows a tool only after it has ended: for a successful one people see the beginning. */
  #tool(part: Json): readonly StreamEvent[] {
    const [id, state] = [text(part['callID']), record(part['state'])]
    const begun = this.tools.begin(id, text(part['tool']), record(state['input']))
    this.#goesOn()
    const failed = state['status'] === 'error'
    if (failed && /rule which prevents|rejected permission/i.test(text(state['error']))) this.tools.deny(id)
    return [begun, this.tools.end(id, !failed)]
  }

  #error(error: Json): readonly StreamEvent[] {
    const data = record(error['data'])
    const message = text(data['message']) || text(error['name'])
    const headers = record(data['responseHeaders'])
    // Only the header says how long a limit lasts.
    const delay = text(headers['retry-after'])
    this.#failure = {
      status: number(data['statusCode']),
      message: /^\d+$/.test(delay) ? `${message} (retry after ${delay}s)` : message,
    }
    const warning = { type: 'warning', message: oneLine(message) } as const
    if (error['name'] !== 'ContextOverflowError') return [warning]
    // It would shorten its prompt again and again, with a turn each.
    const isHopeless = this.#stepsTooLong !== null
    this.#stepsTooLong = 0
    return isHopeless ? [warning, { type: 'result' }] : [warning]
  }

  /** The shortened prompt was answered, so it is no longer too long. */
  #goesOn(): void {
    if (this.#stepsTooLong === null) return
    this.#stepsTooLong = null
    this.#failure = null
  }
}

/** What its last step reports before its own error does. */
const FILTERED: ProviderFailure = { message: 'the content filter of the service stopped it' }

function withStep(usage: Usage, part: Json): Usage {
  const tokens = record(part['tokens'])
  const cache = record(tokens['cache'])
  const cached = number(cache['read'])
  const input = sum(number(tokens['input']), cached, number(cache['write']))
  // The cost is 0 for a model whose price it does not know.
  const cost = number(part['cost']) || null
  return {
    turns: (usage.turns ?? 0) + 1,
    inputTokens: sum(usage.inputTokens, input),
    cachedTokens: sum(usage.cachedTokens, cached),
    outputTokens: sum(usage.outputTokens, number(tokens['output']), number(tokens['reasoning'])),
    costUsd: sum(usage.costUsd, cost),
  }
}
