import type { Exit, StreamEnd, StreamEvent } from '../port.ts'
import { list, record, text, type Json } from './json-lines.ts'
import { JsonReader, toolSummary, type ToolEvent } from './json-reader.ts'

/** Reads messages in Claude Code's format, which others print too. */
export abstract class MessageReader extends JsonReader {
  /** The last one counts: a background task brings further results. */
  protected result: Json | null = null

  end(exit: Exit): StreamEnd {
    const { result } = this
    return {
      end: result ? this.resultEnd(result) : this.endWithoutResult(exit),
      finalMessage: answerOf(result),
      usage: this.usage(),
      denied: result ? this.#denials(result) : this.tools.denied,
    }
  }

  protected abstract resultEnd(result: Json): StreamEnd['end']
  protected abstract endWithoutResult(exit: Exit): StreamEnd['end']

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
  protected toolResults(message: Json, denial?: RegExp): ToolEvent[] {
    return list(message['content'])
      .map(record)
      .filter((block) => block['type'] === 'tool_result')
      .map((block) => {
        const id = text(block['tool_use_id'])
        const isError = block['is_error'] === true
        if (isError && denial?.test(text(block['content']))) this.tools.deny(id)
        return this.tools.end(id, !isError)
      })
  }

  #denials(result: Json): readonly string[] {
    const calls = list(result['permission_denials']).map(record)
    const { cwd } = this.request
    return [
      ...new Set(calls.map((call) => toolSummary(text(call['tool_name']), record(call['tool_input']), cwd))),
    ]
  }
}

/** An answer in the requested shape is not part of the message. */
function answerOf(result: Json | null): string {
  const structured = result?.['structured_output']
  return structured == null ? text(result?.['result']) : JSON.stringify(structured)
}
