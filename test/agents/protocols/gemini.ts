import { spell } from '../model.ts'
import { newId, objects, sendEvents, sendJson, USED, type Protocol } from './protocol.ts'

/** Google's generateContent and its stream. */
export const gemini: Protocol = {
  path: /enerateContent$/,
  read: (body) => ({
    tools: objects(body['tools'])
      .flatMap((tool) => objects(tool['functionDeclarations']))
      .map((tool) => String(tool['name'])),
    results: objects(body['contents']).filter((content) =>
      objects(content['parts']).some((part) => 'functionResponse' in part),
    ).length,
  }),
  error: (code, message, name) => {
    const names: Record<number, string> = {
      401: 'UNAUTHENTICATED',
      429: 'RESOURCE_EXHAUSTED',
      503: 'UNAVAILABLE',
    }
    return { error: { code, message, status: name ?? names[code] ?? 'INTERNAL' } }
  },
  write(response, reply, { tools, isStream }) {
    const part = reply.kind === 'say' ? { text: reply.text } : functionCall(spell(reply.call, tools))
    const ends = { length: 'MAX_TOKENS', filter: 'SAFETY', none: 'STOP' } as const
    const finishReason = reply.kind === 'say' ? ends[reply.cut ?? 'none'] : 'STOP'
    const body = {
      candidates: [{ content: { role: 'model', parts: [part] }, finishReason, index: 0 }],
      usageMetadata: {
        promptTokenCount: USED.fresh + USED.cached,
        candidatesTokenCount: USED.output,
        totalTokenCount: USED.fresh + USED.cached + USED.output,
        cachedContentTokenCount: USED.cached,
      },
      modelVersion: 'gemini-fake',
      responseId: newId('r'),
    }
    if (isStream) sendEvents(response, [body])
    else sendJson(response, body)
  },
}

function functionCall({ name, input }: ReturnType<typeof spell>): object {
  return { functionCall: { name, args: input }, thoughtSignature: 'c2ln' }
}
