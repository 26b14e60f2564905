import type { Exit, StreamEnd, StreamEvent } from '../port.ts'
import type { Usage } from '../../base/nouns.ts'
import { sum, UNKNOWN_USAGE } from '../../base/usage.ts'
import { failureEnd, type ProviderFailure } from './failure.ts'
import { list, number, record, text, type Json } from './json-lines.ts'
import { sessionEvent } from './json-reader.ts'
import { MessageReader } from './message-reader.ts'
import { budgetSpent } from '../watch.ts'

/** After how many refused logins to end the run: Claude Code itself tries for three minutes. */
const HOPELESS_LOGINS = 2

/** Reads `claude -p --output-format stream-json`. */
export class ClaudeReader extends MessageReader {
  /** The messages whose usage is already counted: each event of a message repeats it. */
  readonly #counted = new Set<string>()
  #usageSoFar = UNKNOWN_USAGE
  #retry: ProviderFailure | null = null
  #limitEnds: Date | null = null

  protected event(event: Json): readonly StreamEvent[] {
    switch (event['type']) {
      case 'system':
        return this.#system(event)
      case 'assistant':
        return this.#assistant(event)
      case 'user':
        return this.toolResults(record(event['message']))
      case 'rate_limit_event':
        return this.#rateLimit(record(event['rate_limit_info']))
      case 'result':
        this.result = event
        // Turns in its queue will follow: then this is not the last result.
        return number(event['queued_turn_count']) ? [this.used] : [this.used, { type: 'result' }]
      default:
        return []
    }
  }

  #system(event: Json): readonly StreamEvent[] {
    switch (event['subtype']) {
      case 'init':
        return [sessionEvent(event['session_id'], event['model'])]
      case 'api_retry':
        return this.#apiRetry(event)
      case 'permission_denied':
        this.tools.deny(text(event['tool_use_id']), text(event['tool_name']))
        return []
      default:
        return []
    }
  }

  #apiRetry(event: Json): readonly StreamEvent[] {
    const [status, delay] = [number(event['error_status']), number(event['retry_delay_ms'])]
    const error = text(event['error']).replaceAll('_', ' ')
    // Without a status nobody has answered, and `error` is `unknown`.
    const message = status === null ? `connection error (${error})` : `${error} (${status})`
    this.#retry = { status, message }
    const until = delay === null ? null : new Date(this.words.now().getTime() + delay)
    const retrying = { type: 'retrying', reason: message, until } as const
    // Only once: each further result would give it more time to end.
    const hopeless = status === 401 && event['attempt'] === HOPELESS_LOGINS
    return hopeless ? [retrying, { type: 'result' }] : [retrying]
  }

  #assistant(event: Json): readonly StreamEvent[] {
    const message = record(event['message'])
    const events = this.blocks(message)
    // Claude Code's own messages have this model, such as `Invalid API key`.
    if (message['model'] === '<synthetic>') return events
    this.#retry = null
    const id = text(message['id'])
    if (this.#counted.has(id)) return events
    this.#counted.add(id)
    const isOwnTurn = event['parent_tool_use_id'] == null
    this.#usageSoFar = withMessage(this.#usageSoFar, record(message['usage']), isOwnTurn)
    return [...events, this.used]
  }

  #rateLimit(info: Json): readonly StreamEvent[] {
    const resetsAt = number(info['resetsAt'])
    const until = resetsAt === null ? null : new Date(resetsAt * 1000)
    if (info['status'] === 'rejected') {
      this.#limitEnds = until
      this.#retry = { status: 429, message: limitName(info) }
      return []
    }
    if (info['status'] !== 'allowed_warning') return []
    const used = number(info['utilization'])
    const share = used === null ? 'nearly used up' : `used to ${Math.round(used <= 1 ? used * 100 : used)} %`
    return [{ type: 'warning', message: `The ${limitName(info)} of Claude Code is ${share}.` }]
  }

  protected resultEnd(result: Json): StreamEnd['end'] {
    const message = text(result['result']) || list(result['errors']).map(text).join('; ')
    if (result['subtype'] === 'error_max_turns') return { kind: 'max-turns', reason: message }
    if (result['subtype'] === 'error_max_budget_usd')
      return budgetSpent(this.request.limits) ?? { kind: 'budget', reason: message }
    if (result['stop_reason'] === 'refusal')
      return { kind: 'refused', reason: message || 'The model refused.', hopeless: 'task' }
    // An API error is called a success, so the subtype says nothing here.
    const status = number(result['api_error_status'])
    if (result['is_error'] !== true && status === null) return { kind: 'finished' }
    return failureEnd({ status, message, until: this.#limitEnds }, this.words)
  }

  /** If it was killed while it waited to try again, the reason is what it waited for. */
  protected endWithoutResult(exit: Exit): StreamEnd['end'] {
    return this.failed(exit, this.#retry && { ...this.#retry, until: this.#limitEnds })
  }

  protected usage(): Usage {
    return this.result ? resultUsage(this.result, this.request.limits.turns) : this.#usageSoFar
  }
}

/** Without the output tokens: an event reports them before the message is complete, so they are always too few. */
function withMessage(before: Usage, usage: Json, isOwnTurn: boolean): Usage {
  const cached = number(usage['cache_read_input_tokens'])
  return {
    ...before,
    turns: (before.turns ?? 0) + (isOwnTurn ? 1 : 0),
    inputTokens: sum(before.inputTokens, cached, ...freshInput(usage)),
    cachedTokens: sum(before.cachedTokens, cached),
  }
}

function freshInput(usage: Json): (number | null)[] {
  return [number(usage['input_tokens']), number(usage['cache_creation_input_tokens'])]
}

function resultUsage(result: Json, limit: number): Usage {
  const turns = number(result['num_turns'])
  // At the limit it also counts the turn that it did not take.
  const capped = result['subtype'] === 'error_max_turns' && turns !== null ? Math.min(turns, limit) : turns
  return { turns: capped, ...resultTokens(result), costUsd: number(result['total_cost_usd']) }
}

/** By model if that is reported, as it includes sub-agents and the last turn, which `usage` leaves out. */
function resultTokens(result: Json): Omit<Usage, 'turns' | 'costUsd'> {
  const models = Object.values(record(result['modelUsage'])).map(record)
  if (models.length === 0) {
    const usage = record(result['usage'])
    const cached = number(usage['cache_read_input_tokens'])
    return {
      inputTokens: sum(cached, ...freshInput(usage)),
      cachedTokens: cached,
      outputTokens: number(usage['output_tokens']),
    }
  }
  const total = (key: string) => sum(...models.map((model) => number(model[key])))
  const cached = total('cacheReadInputTokens')
  return {
    inputTokens: sum(cached, total('inputTokens'), total('cacheCreationInputTokens')),
    cachedTokens: cached,
    outputTokens: total('outputTokens'),
  }
}

function limitName(info: Json): string {
  const name = text(info['rateLimitType']).replaceAll('_', ' ')
  return name === '' ? 'usage limit' : `${name} limit`
}
