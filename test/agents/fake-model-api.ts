import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { workFolderIn, type Model, type Reply } from './model.ts'
import { anthropic } from './protocols/anthropic.ts'
import { chat } from './protocols/chat.ts'
import { gemini } from './protocols/gemini.ts'
import type { Protocol } from './protocols/protocol.ts'
import { responses } from './protocols/responses.ts'

const PROTOCOLS: readonly Protocol[] = [anthropic, responses, chat, gemini]

/** Starts a service on loopback that speaks the agents' protocols and answers as the model says. */
export async function startFakeModelApi(model: Model) {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    void answer(request, response, model, bodies)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The bodies of the requests that asked the model for a turn. */
    bodies,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, model: Model, bodies: string[]) {
  const text = await readBody(request)
  const url = (request.url ?? '').split('?')[0]!
  const protocol = PROTOCOLS.find(({ path }) => path.test(url))
  if (!protocol) {
    response
      .writeHead(404, { 'content-type': 'application/json' })
      .end('{"error":{"message":"no such route"}}')
    return
  }
  const body = JSON.parse(text || '{}') as Record<string, unknown>
  const asked = protocol.read(body)
  // Agents also ask for titles and summaries, without offering a tool: those are not turns.
  const isTurn = asked.tools.length > 0
  if (isTurn) bodies.push(text)
  const said = model({ request: bodies.length, results: asked.results, isTurn, body: text })
  const reply = replyFor(isTurn ? inFolder(said, text) : said, asked)
  if (reply.kind === 'fail') {
    const retry = reply.retryAfter === undefined ? {} : { 'retry-after': String(reply.retryAfter) }
    response.writeHead(reply.status, { 'content-type': 'application/json', ...retry })
    response.end(JSON.stringify(protocol.error(reply.status, reply.message, reply.code)))
    return
  }
  if (reply.kind === 'page') {
    response.writeHead(reply.status, { 'content-type': 'text/html' })
    response.end('<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body>Log in.</body></html>\n')
    return
  }
  if (reply.kind === 'gone') {
    request.socket.destroy()
    return
  }
  if (reply.kind === 'hang' && isTurn) {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': waiting\n\n')
    return
  }
  protocol.write(response, isTurn && reply.kind !== 'hang' ? reply : { kind: 'say', text: 'A title' }, {
    tools: asked.tools,
    isStream: body['stream'] === true || url.includes('stream'),
    model: typeof body['model'] === 'string' ? body['model'] : 'fake-model',
  })
}

/** A reply that writes a file writes it in the agent's folder. */
function inFolder(reply: Reply, body: string): Reply {
  if (reply.kind !== 'call' || reply.call.tool !== 'write' || path.isAbsolute(reply.call.path)) return reply
  return { ...reply, call: { ...reply.call, path: path.join(workFolderIn(body), reply.call.path) } }
}

function replyFor(
  reply: Reply,
  { tools, results }: ReturnType<Protocol['read']>,
): Exclude<Reply, { kind: 'answer' }> {
  if (reply.kind !== 'answer') return reply
  const { answer } = reply
  if (tools.includes('StructuredOutput') && results === 0)
    return { kind: 'call', call: { tool: 'answer', answer } }
  return { kind: 'say', text: `\`\`\`json\n${JSON.stringify(answer)}\n\`\`\`` }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  return (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString()
}
