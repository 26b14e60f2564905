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
import { UserError } from '../base/errors.ts'

/** A tool of the server. */
export interface Tool {
  readonly name: string
  readonly about: string
  readonly input: GenericSchema<Record<string, unknown>>
  readonly readOnly: boolean
  /** `cancelled` aborts when the one who asked waits no more; not when it leaves altogether, as where it is killed. */
  readonly call: (input: Readonly<Record<string, unknown>>, cancelled: AbortSignal) => Promise<ToolAnswer>
}

/** What a tool answers; false where it refuses, and then the text says why. */
export interface ToolAnswer {
  readonly ok: boolean
  readonly text: string
}

/** Something to read. */
export interface McpResource {
  readonly uri: string
  readonly title: string
  readonly read: () => Promise<string>
}

/** What the server offers, and to whom. */
export interface McpOffer {
  readonly version: string
  /** What a model is told of the server as a whole. */
  readonly about: string
  readonly tools: readonly Tool[]
  readonly resources: readonly McpResource[]
}

/** Where the other side is. */
export interface Pipes {
  readonly input: Readable
  readonly output: Writable
}

/** Serves until the other side leaves. */
export async function serveMcp(offer: McpOffer, { input, output }: Pipes): Promise<void> {
  const left = new AbortController()
  for (const event of ['end', 'close']) input.once(event, () => left.abort())
  // A pipe that nobody reads any more is the end, and no error.
  const ended = Promise.race([once(input, 'close'), once(input, 'end'), once(output, 'error')])
  const transport = new StdioServerTransport(input, output)
  const server = serveStdio(() => createMcpServer(offer, left.signal), { transport })
  await ended
  await server.close()
}

/** The server, not yet connected to anybody. */
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
      return resultOf(await call(values, cancelled.signal))
    } catch (error) {
      if (error instanceof UserError) return resultOf({ ok: false, text: sentenceOf(error) })
      throw error
    } finally {
      stop()
    }
  })
}

/** What only this side checks, the length of a text among it, is not told: a model pays for each word of it. */
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

function resultOf({ ok, text }: ToolAnswer): CallToolResult {
  return { content: [{ type: 'text', text }], ...(ok ? {} : { isError: true }) }
}

function sentenceOf({ message, fix }: UserError): string {
  return fix === '' ? message : `${message}\n${fix}`
}

const ALIVE_MS = 10_000

/** Many wait longer for a tool that says from time to time that it is still at work. */
function keepAlive({ mcpReq }: ServerContext): () => void {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return () => undefined
  let progress = 0
  const timer = setInterval(() => {
    const params = { progressToken, progress: ++progress, message: 'still waiting' }
    // Whoever has left meanwhile is told nothing.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }, ALIVE_MS)
  return () => clearInterval(timer)
}
