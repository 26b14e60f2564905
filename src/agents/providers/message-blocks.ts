import type { StreamEvent } from '../port.ts'
import { list, record, text, type Json } from './json-lines.ts'
import type { ToolCalls, ToolEvent } from './tool-calls.ts'
import { toolSummary } from './tool-summary.ts'

/** The events for an `assistant` message in Claude Code's format. */
export function assistantEvents(message: Json, tools: ToolCalls): StreamEvent[] {
  const events: StreamEvent[] = []
  for (const block of list(message['content']).map(record)) {
    if (block['type'] === 'text' && text(block['text']) !== '') {
      events.push({ type: 'text', text: text(block['text']) })
    } else if (block['type'] === 'tool_use') {
      events.push(tools.begin(text(block['id']), text(block['name']), record(block['input'])))
    }
  }
  return events
}

/** The tool results in a `user` message in Claude Code's format. */
export function toolResultEvents(
  message: Json,
  tools: ToolCalls,
  isDenied: (id: string, text: string) => boolean,
): ToolEvent[] {
  return list(message['content'])
    .map(record)
    .filter((block) => block['type'] === 'tool_result')
    .map((block) => {
      const id = text(block['tool_use_id'])
      if (block['is_error'] !== true) return tools.end(id, 'ok')
      return tools.end(id, isDenied(id, text(block['content'])) ? 'denied' : 'failed')
    })
}

/** The calls under a result's `permission_denials`, one line each. */
export function denials(result: Json, cwd: string): string[] {
  return list(result['permission_denials'])
    .map(record)
    .map((denial) => toolSummary(text(denial['tool_name']), record(denial['tool_input']), cwd))
}
