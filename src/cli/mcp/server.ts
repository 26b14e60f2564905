import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import {
  McpServer,
  type CallToolResult,
  type ServerContext,
  type StandardSchemaWithJSON,
} from '@modelcontextprotocol/server'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { UserError } from '../../base/errors.ts'

/** A tool of the server. It answers in a text, which is the reason if it refuses. */
export interface Tool {
  readonly name: string
  readonly about: string
  readonly input: GenericSchema<Record<string, unknown>>
  readonly readOnly: boolean
  /** `cancelled` aborts when the client cancels the call, but not when it exits or is killed. */
  readonly call: (
    input: Readonly<Record<string, unknown>>,
    cancelled: AbortSignal,
  ) => Promise<{ readonly ok: boolean; readonly text: string }>
}

/** What the server offers. */
export interface McpOffer {
  readonly version: string
  /** The description of the whole server for the model. */
  readonly about: string
  readonly tools: readonly Tool[]
  readonly resources: readonly {
    readonly uri: string
    readonly title: string
    readonly read: () => Promise<string>
  }[]
}

/** The streams to the client. */
export interface McpStreams {
  readonly input: Readable
  readonly output: Writable
}

/** Serves until the client disconnects. */
export async function serveMcp(offer: McpOffer, { input, output }: McpStreams): Promise<void> {
  const left = new AbortController()
  for (const event of ['end', 'close']) input.once(event, () => left.abort())
  // A pipe that the client has closed is a normal end.
  const ended = Promise.race([once(input, 'close'), once(input, 'end'), once(output, 'error')])
  const transport = new StdioServerTransport(input, output)
  const server = serveStdio(() => createMcpServer(offer, left.signal), { transport })
  await ended
  await server.close()
}

/** The server, not yet connected. */
function createMcpServer({ version, about, tools, resources }: McpOffer, left: AbortSignal): McpServer {
  const server = new McpServer({ name: 'ralph', version }, { instructions: about })
  for (const tool of tools) addTool(server, tool, left)
  for (const { uri, title, read } of resources)
    server.registerResource(title, uri, { title, mimeType: 'text/markdown' }, async () => ({
      contents: [{ uri, mimeType: 'text/markdown', text: await read() }],
    }))
  return server
}

function addTool(server: McpServer, { name, about, input, readOnly, call }: Tool, left: AbortSignal): void {
  const description = {
    description: about,
    inputSchema: standardSchema(input),
    ...(readOnly ? { annotations: { readOnlyHint: true } } : {}),
  }
  server.registerTool(name, description, async (values, context) => {
    const stop = keepAlive(context)
    const cancelled = new AbortController()
    context.mcpReq.signal.addEventListener('abort', () => left.aborted || cancelled.abort())
    try {
      const { ok, text } = await call(values, cancelled.signal)
      return resultOf(ok, text)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      return resultOf(false, [error.message, error.fix].filter(Boolean).join('\n'))
    } finally {
      stop()
    }
  })
}

/** Leaves out what only the server checks, such as lengths: each word costs the model tokens. */
function standardSchema(schema: Tool['input']): StandardSchemaWithJSON<Record<string, unknown>> {
  const json = (): Record<string, unknown> => {
    const { $schema: _, ...rest } = toJsonSchema(schema, {
      errorMode: 'ignore',
      ignoreActions: ['min_length', 'max_length'],
    })
    return rest
  }
  return { '~standard': { ...schema['~standard'], jsonSchema: { input: json, output: json } } }
}

function resultOf(ok: boolean, text: string): CallToolResult {
  return { content: [{ type: 'text', text }], ...(ok ? {} : { isError: true }) }
}

const ALIVE_MS = 10_000

/** Many clients wait longer for a tool that reports progress. */
function keepAlive({ mcpReq }: ServerContext): () => void {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return () => undefined
  let progress = 0
  const timer = setInterval(() => {
    const params = { progressToken, progress: ++progress, message: 'still waiting' }
    // The client may have disconnected.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }, ALIVE_MS)
  return () => clearInterval(timer)
}
