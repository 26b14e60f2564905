import { spell } from '../model.ts'
import { newId, objects, sendEvents, sendJson, USED, type Protocol } from './protocol.ts'

/** Anthropic's Messages. */
export const anthropic: Protocol = {
  path: /\/messages$/,
  read: (body) => ({
    tools: objects(body['tools']).map((tool) => String(tool['name'])),
    results: objects(body['messages']).filter((message) =>
      objects(message['content']).some((block) => block['type'] === 'tool_result'),
    ).length,
  }),
  error: (status, message, code) => {
    const types: Record<number, string> = {
      401: 'authentication_error',
      429: 'rate_limit_error',
      529: 'overloaded_error',
    }
    return { type: 'error', error: { type: code ?? types[status] ?? 'api_error', message } }
  },
  write(response, reply, { tools, isStream, model }) {
    const block =
      reply.kind === 'say'
        ? { type: 'text', text: reply.text }
        : { type: 'tool_use', id: newId('toolu_'), ...spell(reply.call, tools) }
    const usage = {
      input_tokens: USED.fresh,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: USED.cached,
      output_tokens: USED.output,
    }
    const ends = { length: 'max_tokens', filter: 'refusal', none: 'end_turn' } as const
    const stop_reason = reply.kind === 'say' ? ends[reply.cut ?? 'none'] : 'tool_use'
    const message = {
      id: newId('msg_'),
      type: 'message',
      role: 'assistant',
      model,
      stop_sequence: null,
      usage,
    }
    if (!isStream) return sendJson(response, { ...message, content: [block], stop_reason })
    const [start, delta] =
      'text' in block
        ? [
            { ...block, text: '' },
            { type: 'text_delta', text: block.text },
          ]
        : [
            { ...block, input: {} },
            { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
          ]
    sendEvents(response, [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: start },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ])
  },
}
