import type { Usage } from '../../base/nouns.ts'
import { isObject, parsedJson } from '../../base/text.ts'
import { UNKNOWN_USAGE } from '../../base/usage.ts'
import type { AgentRequest, Exit, StreamEnd, StreamEvent, StreamReader } from '../port.ts'
import { failureEnd, silentEnd, oneLine, type FailureWords, type ProviderFailure } from './failure.ts'

/** What a stream's events mean, by their type: nothing for those that only change what the reader knows. */
export type Handlers = Readonly<Record<string, (event: Json) => readonly StreamEvent[] | undefined>>

/** Reads a stream of JSON events, one a line. What they mean is each provider's own. */
export abstract class JsonReader implements StreamReader {
  protected readonly words: FailureWords
  protected readonly request: AgentRequest
  protected readonly tools: ToolCalls
  #turns = 0
  #isTurnOpen = false
  /** The usage that the stream has reported; without turns, those that were counted. */
  protected reported: Usage = UNKNOWN_USAGE
  /** The last message, which is the final one if it is complete. */
  protected message = ''
  protected isComplete = false
  /** Why its service has failed it, unless it has answered since. */
  protected failure: ProviderFailure | null = null
  /** How often in a row it has requested the rest of an answer, and how often it does before it takes what it has as the whole. */
  protected continued = 0
  protected readonly mostContinued: number = Infinity

  constructor(words: FailureWords, request: AgentRequest) {
    this.words = words
    this.request = request
    this.tools = new ToolCalls(request.cwd)
  }

  protected abstract readonly on: Handlers

  line(line: string): readonly StreamEvent[] {
    const event = parseLine(line)
    return event ? this.event(event) : []
  }

  protected event(event: Json): readonly StreamEvent[] {
    return handled(this.on, event['type'], event)
  }

  end(exit: Exit): StreamEnd {
    return {
      end: this.ended(exit),
      finalMessage: this.isComplete ? this.message : '',
      cutOff:
        this.continued >= this.mostContinued ? 'it had reached its longest, again and again' : undefined,
      denied: this.denied,
    }
  }

  protected ended(exit: Exit): StreamEnd['end'] {
    return this.isComplete ? { kind: 'finished' } : this.failed(exit)
  }

  /** The end of a failed run: with the reason in its stream, or without one as its program ended. */
  protected failed(exit: Exit, failure: ProviderFailure | null = this.failure): StreamEnd['end'] {
    return failure ? failureEnd(failure, this.words) : silentEnd(exit, this.words)
  }

  /** The model wrote text, or called a tool: in a stream without turn numbers, a turn starts unless one is open. */
  protected speak(): void {
    if (!this.#isTurnOpen) this.#turns++
    this.#isTurnOpen = true
  }

  /**
   * A tool answered, so the turn is over. Tools called together are one turn; one that never answers, such as a server in
   * the background, keeps no turn open.
   */
  protected answer(): void {
    this.#isTurnOpen = false
  }

  /** The part of a count that goes on over a whole conversation, without what was used before; turns begin anew. */
  protected ofThisRun(usage: Usage): Usage {
    const used = this.request.resume?.used
    const less = (total: number | null, before: number | null | undefined): number | null =>
      total === null ? null : Math.max(0, total - (before ?? 0))
    return {
      turns: usage.turns,
      inputTokens: less(usage.inputTokens, used?.inputTokens),
      cachedTokens: less(usage.cachedTokens, used?.cachedTokens),
      outputTokens: less(usage.outputTokens, used?.outputTokens),
      costUsd: less(usage.costUsd, used?.costUsd),
    }
  }

  protected get denied(): readonly string[] {
    return this.tools.denied
  }

  protected get used(): StreamEvent {
    return { type: 'usage', usage: { ...this.reported, turns: this.reported.turns ?? (this.#turns || null) } }
  }
}

/** The events of the handler for that type; none if there is no such handler. */
export function handled(handlers: Handlers, type: unknown, event: Json): readonly StreamEvent[] {
  const known = text(type)
  return (Object.hasOwn(handlers, known) && handlers[known]?.(event)) || []
}

/** The tokens that most streams count; only those from the cache have a name of their own. */
export function tokensOf(counts: Json, cached: string): Usage {
  return {
    ...UNKNOWN_USAGE,
    inputTokens: number(counts['input_tokens']),
    cachedTokens: number(counts[cached]),
    outputTokens: number(counts['output_tokens']),
  }
}

/** The event that names the conversation, and the model if it is known. */
export function sessionEvent(id: unknown, model: unknown = null): StreamEvent {
  return { type: 'session', sessionId: textOrNull(id), model: textOrNull(model) }
}

/** The event of a tool. */
type ToolEvent = Extract<StreamEvent, { readonly type: 'tool' }>

/** The tools in a stream that names them only when they start, and later uses the id of the call. */
class ToolCalls {
  readonly #cwd: string
  readonly #running = new Map<string, Pick<ToolEvent, 'name' | 'summary'>>()
  readonly #denied = new Map<string, string>()

  constructor(cwd: string) {
    this.#cwd = cwd
  }

  /** The summaries of the calls that were denied. */
  get denied(): readonly string[] {
    return [...new Set(this.#denied.values())]
  }

  begin(id: string, name: string, input: Json): ToolEvent {
    const call = { name, summary: toolSummary(name, input, this.#cwd) }
    this.#running.set(id, call)
    return { type: 'tool', id, ...call, status: 'running' }
  }

  /** Notes that the permission level denied a call; the name is for one whose start was not seen. */
  deny(id: string, name = 'tool'): void {
    this.#denied.set(id, this.#running.get(id)?.summary ?? name)
  }

  /** A tool whose start was not seen is reported too. */
  end(id: string, isOk: boolean): ToolEvent {
    const call = this.#running.get(id) ?? { name: 'tool', summary: 'tool' }
    this.#running.delete(id)
    const status = this.#denied.has(id) ? 'denied' : isOk ? 'ok' : 'failed'
    return { type: 'tool', id, ...call, status }
  }
}

/** The input fields that say what a tool works on, the best first. */
const SUBJECTS = [
  'command',
  'cmd',
  'file_path',
  'filePath',
  'filepath',
  'path',
  'pattern',
  'query',
  'url',
  'prompt',
  'description',
]

/** One line on what a tool does, such as `Edit src/login.ts` or `Bash npm test`. */
function toolSummary(name: string, input: Json, cwd: string): string {
  const subject = SUBJECTS.map((key) => subjectText(input[key])).find((value) => value !== '') ?? ''
  return oneLine(`${name} ${relative(subject, cwd)}`)
}

function subjectText(value: unknown): string {
  return Array.isArray(value) ? list(value).map(text).join(' ') : text(value)
}

function relative(subject: string, cwd: string): string {
  return subject.startsWith(`${cwd}/`) ? subject.slice(cwd.length + 1) : subject
}

/** An object from a stream, whose fields are not checked yet. */
export type Json = Readonly<Record<string, unknown>>

/** The object in a line; null for anything else, such as a log line or half an object. */
export function parseLine(line: string): Json | null {
  // All events of all agents are objects, so other lines need not be parsed.
  if (!line.trimStart().startsWith('{')) return null
  const value = parsedJson(line)
  return isObject(value) ? value : null
}

/** The value as an object; empty if it is none. */
export function record(value: unknown): Json {
  return isObject(value) ? value : {}
}

/** The value as a list; empty if it is none. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The value as a text; empty if it is none. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The value as a text; null if it is none, or empty. */
export function textOrNull(value: unknown): string | null {
  return text(value) || null
}

/** The value as a number; null if it is none. */
export function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** Reads messages in Claude Code's format, which others print too. */
export abstract class MessageReader extends JsonReader {
  /** The last one counts: a background task brings further results. */
  protected result: Json | null = null

  protected finish(result: Json): void {
    this.result = result
    this.isComplete = true
    // An answer in the requested shape is not part of the message.
    const structured = result['structured_output']
    this.message = structured == null ? text(result['result']) : JSON.stringify(structured)
  }

  /** The events for an `assistant` message. */
  protected blocks(message: Json): StreamEvent[] {
    return list(message['content'])
      .map(record)
      .flatMap((block): StreamEvent[] => {
        if (block['type'] === 'tool_use')
          return [this.tools.begin(text(block['id']), text(block['name']), record(block['input']))]
        const said = block['type'] === 'text' ? text(block['text']) : ''
        return said === '' ? [] : [{ type: 'text', text: said }]
      })
  }

  /** The tool results in a `user` message; `denial` matches those of calls that were denied. */
  protected toolResults(event: Json, denial?: RegExp): ToolEvent[] {
    return list(record(event['message'])['content'])
      .map(record)
      .filter((block) => block['type'] === 'tool_result')
      .map((block) => {
        const id = text(block['tool_use_id'])
        const isError = block['is_error'] === true
        if (isError && denial?.test(text(block['content']))) this.tools.deny(id)
        return this.tools.end(id, !isError)
      })
  }

  protected override get denied(): readonly string[] {
    if (!this.result) return super.denied
    const calls = list(this.result['permission_denials']).map(record)
    const { cwd } = this.request
    return [
      ...new Set(calls.map((call) => toolSummary(text(call['tool_name']), record(call['tool_input']), cwd))),
    ]
  }
}
