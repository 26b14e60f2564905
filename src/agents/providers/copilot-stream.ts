import type { AgentRequest, Exit, StreamEnd, StreamEvent, StreamReader } from '../port.ts'
import { failureEnd, silentEnd, type ProviderFailure, type FailureWords } from './failure.ts'
import { list, number, parseLine, record, text, textOrNull, type Json } from './json-lines.ts'
import { ToolCalls } from './tool-calls.ts'
import { oneLine } from './tool-summary.ts'
import { UNKNOWN_USAGE } from '../../base/usage.ts'

/** Its name, and what a person does about a missing login. */
export const COPILOT = { agent: 'Copilot CLI', login: 'run `copilot` and /login, or set GH_TOKEN' } as const

/** How often it requests the rest of an answer, before it takes what it has as the whole. */
const MOST_LOST = 2

/** Reads `copilot --output-format json`. */
export class CopilotReader implements StreamReader {
  readonly #words: FailureWords
  readonly #tools: ToolCalls
  readonly #denied = new Set<string>()
  #turns = 0
  #message = ''
  /** Turns in a row without a message: their text had not arrived completely. */
  #lost = 0
  #hasSpoken = false
  #failure: ProviderFailure | null = null
  #exitCode: number | null = null

  constructor(request: AgentRequest, now: () => Date) {
    this.#tools = new ToolCalls(request.cwd)
    this.#words = { ...COPILOT, now }
  }

  line(line: string): readonly StreamEvent[] {
    const event = parseLine(line)
    const data = record(event?.['data'])
    switch (event?.['type']) {
      case 'assistant.turn_start':
        this.#turns++
        this.#hasSpoken = false
        return [{ type: 'usage', usage: this.#usage() }]
      case 'assistant.message':
        return this.#readText(data)
      case 'assistant.turn_end':
        if (!this.#hasSpoken) this.#lost++
        return []
      case 'tool.execution_start':
        return this.#toolStarted(data)
      case 'tool.execution_complete':
        return this.#toolEnded(data)
      case 'model.call_failure':
        this.#failure = { status: number(data['statusCode']), message: text(data['errorMessage']) }
        return []
      case 'assistant.turn_retry':
        return [{ type: 'retrying', reason: this.#retryReason(data), until: null }]
      case 'session.error':
        this.#failure = { status: number(data['statusCode']), message: text(data['message']) }
        return []
      case 'result':
        this.#exitCode = number(event['exitCode'])
        return [
          { type: 'session', sessionId: textOrNull(event['sessionId']), model: null },
          { type: 'result' },
        ]
      default:
        return []
    }
  }

  end(exit: Exit): StreamEnd {
    // If it is ended while it tries again, it reports success.
    const finished = this.#exitCode === 0 && this.#failure === null
    return {
      end: finished ? { kind: 'finished' } : this.#failedEnd(exit),
      finalMessage: finished ? this.#message : '',
      cutOff: this.#lost >= MOST_LOST ? 'it had reached its longest, again and again' : undefined,
      usage: this.#usage(),
      denied: [...this.#denied],
    }
  }

  #failedEnd(exit: Exit): StreamEnd['end'] {
    return this.#failure ? failureEnd(this.#failure, this.#words) : silentEnd(exit, this.#words)
  }

  #readText(data: Json): readonly StreamEvent[] {
    // Ignores the text of sub-agents.
    if (textOrNull(data['parentToolCallId']) !== null) return []
    this.#failure = null
    this.#hasSpoken = true
    const content = text(data['content'])
    const isLast = list(data['toolRequests']).length === 0
    this.#message = isLast ? content : ''
    if (!isLast) this.#lost = 0
    return content === '' ? [] : [{ type: 'text', text: content }]
  }

  #toolStarted(data: Json): readonly StreamEvent[] {
    const [id, name] = [text(data['toolCallId']), text(data['toolName'])]
    return [this.#tools.begin(id, name, record(data['arguments']))]
  }

  #toolEnded(data: Json): readonly StreamEvent[] {
    const error = record(data['error'])
    const denied = error['code'] === 'denied' || /^Permission (?:to run|denied)/.test(text(error['message']))
    // Any command that ran is a success for it, whatever its exit code.
    const exitCode = number(record(data['shellExecution'])['exitCode']) ?? 0
    const status = denied ? 'denied' : data['success'] === true && exitCode === 0 ? 'ok' : 'failed'
    const ended = this.#tools.end(text(data['toolCallId']), status)
    if (denied) this.#denied.add(ended.summary)
    return [ended]
  }

  #retryReason(data: Json): string {
    const status = this.#failure?.status
    const reason = text(data['reason']).replaceAll('_', ' ') || 'request failed'
    return oneLine(status == null ? reason : `${reason} (${status})`)
  }

  #usage(): StreamEnd['usage'] {
    return { ...UNKNOWN_USAGE, turns: this.#turns || null }
  }
}
