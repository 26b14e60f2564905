import { spell } from '../model.ts'
import { newId, objects, sendEvents, USED, type Protocol } from './protocol.ts'

/** OpenAI's Responses, as Codex speaks it: always as a stream. */
export const responses: Protocol = {
  path: /\/responses$/,
  read: (body) => ({
    tools: offered(body).map(({ name }) => name),
    results: objects(body['input']).filter((item) => String(item['type']).endsWith('call_output')).length,
  }),
  error: (_status, message, code) => ({
    error: { message, type: code ?? 'error', code: code ?? null, param: null },
  }),
  write(response, reply, { tools, model }) {
    const id = newId('resp_')
    const item = reply.kind === 'say' ? messageItem(reply.text) : callItem(spell(reply.call, tools))
    const usage = {
      input_tokens: USED.fresh + USED.cached,
      input_tokens_details: { cached_tokens: USED.cached },
      output_tokens: USED.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: USED.fresh + USED.cached + USED.output,
    }
    sendEvents(response, [
      {
        type: 'response.created',
        response: { id, object: 'response', status: 'in_progress', model, output: [] },
      },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      lastEvent({ id, object: 'response', model, output: [item], usage }, reply),
    ])
  },
}

function lastEvent(response: object, reply: Parameters<Protocol['write']>[1]): Record<string, unknown> {
  const cut = reply.kind === 'say' ? reply.cut : undefined
  if (!cut) return { type: 'response.completed', response: { ...response, status: 'completed' } }
  const reason = cut === 'length' ? 'max_output_tokens' : 'content_filter'
  return {
    type: 'response.incomplete',
    response: { ...response, status: 'incomplete', incomplete_details: { reason } },
  }
}

/** The tools of servers are grouped, under the server's name. */
function offered(body: Record<string, unknown>): readonly { readonly name: string }[] {
  const extra = objects(body['input']).filter((item) => item['type'] === 'additional_tools')
  const tools = [body, ...extra].flatMap((holder) => objects(holder['tools']))
  return tools.flatMap((tool) =>
    tool['type'] === 'namespace'
      ? objects(tool['tools']).map((inner) => ({ name: `${String(tool['name'])}/${String(inner['name'])}` }))
      : [{ name: String(tool['name'] ?? tool['type']) }],
  )
}

function messageItem(text: string): object {
  const content = [{ type: 'output_text', text, annotations: [] }]
  return { type: 'message', id: newId('msg_'), role: 'assistant', status: 'completed', content }
}

function callItem({ name, input }: ReturnType<typeof spell>): object {
  const [namespace, inner] = name.includes('/') ? name.split('/') : [undefined, name]
  const call = { type: 'function_call', id: newId('fc_'), call_id: newId('call_'), name: inner }
  return { ...call, arguments: JSON.stringify(input), ...(namespace === undefined ? {} : { namespace }) }
}
