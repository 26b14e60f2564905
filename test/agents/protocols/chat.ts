import { spell } from '../model.ts'
import { newId, objects, sendEvents, sendJson, USED, type Protocol } from './protocol.ts'

/** OpenAI's Chat Completions, which most other agents can speak. */
export const chat: Protocol = {
  path: /\/chat\/completions$/,
  read: (body) => ({
    tools: objects(body['tools']).map((tool) =>
      String((tool['function'] as { name?: string } | undefined)?.name),
    ),
    results: objects(body['messages']).filter((message) => message['role'] === 'tool').length,
  }),
  error: (_status, message, code) => ({
    error: { message, type: code ?? 'error', code: code ?? null, param: null },
  }),
  write(response, reply, { tools, isStream, model }) {
    const content = reply.kind === 'say' ? reply.text : ''
    const calls = reply.kind === 'say' ? [] : [toolCall(spell(reply.call, tools))]
    const ends = { length: 'length', filter: 'content_filter', none: 'stop' } as const
    const finish_reason = reply.kind === 'say' ? ends[reply.cut ?? 'none'] : 'tool_calls'
    const usage = {
      prompt_tokens: USED.fresh + USED.cached,
      completion_tokens: USED.output,
      total_tokens: USED.fresh + USED.cached + USED.output,
      prompt_tokens_details: { cached_tokens: USED.cached },
    }
    const message = { role: 'assistant', content, ...(calls.length > 0 ? { tool_calls: calls } : {}) }
    const head = { id: newId('chatcmpl-'), created: 1, model }
    if (!isStream) {
      const choices = [{ index: 0, message, finish_reason }]
      return sendJson(response, { ...head, object: 'chat.completion', choices, usage })
    }
    const chunk = { ...head, object: 'chat.completion.chunk' }
    sendEvents(
      response,
      [
        { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
        { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }] },
        { ...chunk, choices: [], usage },
      ],
      'data: [DONE]\n\n',
    )
  },
}

function toolCall({ name, input }: ReturnType<typeof spell>): object {
  return {
    index: 0,
    id: newId('call_'),
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }
}
