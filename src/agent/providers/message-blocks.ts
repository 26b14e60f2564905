import type { StreamEvent } from '../port.ts'
import { list, record, text, type Json } from './json-lines.ts'
import { toolSummary } from './tool-summary.ts'

/** The tools at work: their one line each, by the id of the call. */
export type ToolSummaries = Map<string, { readonly name: string; readonly summary: string }>

/** What an `assistant` message of Claude Code's kind says and calls. */
export function assistantEvents(message: Json, cwd: string, tools: ToolSummaries): StreamEvent[] {
  const events: StreamEvent[] = []
  for (const block of list(message['content']).map(record)) {
    if (block['type'] === 'text' && text(block['text']) !== '') {
      events.push({ type: 'text', text: text(block['text']) })
    } else if (block['type'] === 'tool_use') {
      const [id, name] = [text(block['id']), text(block['name'])]
      const summary = toolSummary(name, record(block['input']), cwd)
      tools.set(id, { name, summary })
      events.push({ type: 'tool', id, name, summary, status: 'running' })
    }
  }
  return events
}

/** How the tools ended that a `user` message of Claude Code's kind answers for. */
export function toolResultEvents(
  message: Json,
  tools: ToolSummaries,
  isDenied: (id: string, said: string) => boolean,
): (StreamEvent & { readonly type: 'tool' })[] {
  return list(message['content'])
    .map(record)
    .filter((block) => block['type'] === 'tool_result')
    .map((block) => {
      const id = text(block['tool_use_id'])
      const { name, summary } = tools.get(id) ?? { name: 'tool', summary: 'tool' }
      tools.delete(id)
      const failed = block['is_error'] === true
      const denied = failed && isDenied(id, text(block['content']))
      return { type: 'tool', id, name, summary, status: denied ? 'denied' : failed ? 'failed' : 'ok' }
    })
}

/** The calls under a result's `permission_denials`, one line each. */
export function denials(result: Json, cwd: string): string[] {
  return list(result['permission_denials'])
    .map(record)
    .map((denial) => toolSummary(text(denial['tool_name']), record(denial['tool_input']), cwd))
}
