// A server of the Model Context Protocol with one tool, over stdin and stdout.
import { createInterface } from 'node:readline'

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'echo', version: '1' },
  }),
  'tools/list': () => ({
    tools: [
      {
        name: 'echo_tool',
        description: 'Says it again',
        inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
      },
    ],
  }),
  'tools/call': (params) => ({ content: [{ type: 'text', text: `pong ${params.arguments.text}` }] }),
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) continue
  const result = results[method]?.(params) ?? {}
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
}
