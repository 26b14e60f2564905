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
import { textAt } from '../../base/read-file.ts'
import { parsedJson } from '../../base/text.ts'
import { existsSync, realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { appendLine, followLines } from '../../agents/signal/folder.ts'
import {
  readReply,
  SIGNAL_FILES,
  SIGNAL_NAMES,
  SIGNAL_VARIABLES,
  SIGNALS,
  type Reply,
  type SignalName,
  type SignalResource,
} from '../../agents/signal/signal.ts'
import { pathWithin, truePaths } from '../../base/paths.ts'

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
interface McpOffer {
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

/** The descriptions of the signals for the model. */
const ABOUT: Readonly<Record<SignalName, string>> = {
  done: 'Say that the task is done, once your work is in the tree. ralph then runs the checks. Call it once, then end your turn.',
  blocked:
    'Say that you cannot go on because only a person can give or decide something. Call it once, then end your turn.',
  progress: 'Tell the person who watches what you are at.',
  ask: 'Ask a person and wait for the answer. Only for what you can neither find out nor decide; without an answer the task is blocked with your question.',
  add_task:
    'Add a task to the backlog for work that you found and that is not part of this task. ralph writes its file.',
}

const SERVER_ABOUT =
  'ralph runs you on one task. Call `done` when it is done or `blocked` when only a person can help, instead of ending with a marker in your final message.'

/** The folder of an attempt's signals, and what shows that they come from its agent, if the server was started in one; else null. */
export function attemptIn(env: Readonly<Record<string, string | undefined>>) {
  const { [SIGNAL_VARIABLES.folder]: folder, [SIGNAL_VARIABLES.token]: token } = env
  return folder === undefined || token === undefined ? null : { folder, token }
}

/** What the server offers the agent of an attempt, in its workspace. */
export function attemptOffer(
  attempt: NonNullable<ReturnType<typeof attemptIn>>,
  { version, workspace }: { version: string; workspace: string },
): McpOffer & { readonly close: () => void } {
  const { call, close } = openLine(attempt)
  return {
    version,
    about: SERVER_ABOUT,
    tools: SIGNAL_NAMES.map((name) => ({
      name,
      about: ABOUT[name],
      input: SIGNALS[name],
      readOnly: false,
      call: (input, cancelled) => call(name, input, cancelled),
    })),
    resources: resourcesIn(attempt.folder).map(({ uri, title, text, file }) => ({
      uri,
      title,
      read: async () => text ?? readInside(workspace, file!),
    })),
    close,
  }
}

/** How long ralph may take to reply if no person has to answer. */
const REPLY_MS = 30_000

/** The connection to ralph. */
function openLine({ folder, token }: Parameters<typeof attemptOffer>[0]) {
  const [sent, replies] = [join(folder, SIGNAL_FILES.said), join(folder, SIGNAL_FILES.replies)]
  const waiting = new Map<string, (reply: Pick<Reply, 'ok' | 'text'>) => void>()
  const close = existsSync(replies)
    ? followLines(replies, (text) => {
        const reply = readReply(text)
        if (reply) waiting.get(reply.id)?.(reply)
      })
    : () => undefined
  const send = (message: object): boolean => existsSync(sent) && appendLine(sent, message)
  const call = async (signal: SignalName, input: object, cancelled: AbortSignal) => {
    const id = crypto.randomUUID()
    let timer: NodeJS.Timeout | undefined
    let withdraw = (): void => undefined
    try {
      return await new Promise<Pick<Reply, 'ok' | 'text'>>((resolve) => {
        const refuse = (text: string): void => resolve({ ok: false, text })
        withdraw = () => {
          send({ id, token, signal: 'withdrawn' })
          refuse('Nobody waits for the answer any more.')
        }
        cancelled.addEventListener('abort', withdraw)
        waiting.set(id, resolve)
        // A person may take their time; ralph reports when it stops waiting.
        if (signal !== 'ask')
          timer = setTimeout(
            () => refuse('ralph does not answer: say it at the end of your final message.'),
            REPLY_MS,
          )
        if (!send({ id, token, signal, input })) refuse('Refused: this attempt has ended.')
      })
    } finally {
      clearTimeout(timer)
      cancelled.removeEventListener('abort', withdraw)
      waiting.delete(id)
    }
  }
  return { call, close }
}

/** None once the attempt has ended. */
function resourcesIn(folder: string): readonly SignalResource[] {
  const read = parsedJson(textAt(join(folder, SIGNAL_FILES.resources)))
  return Array.isArray(read) ? (read as readonly SignalResource[]) : []
}

/** Reads a file unless a link leads out of the workspace. */
async function readInside(workspace: string, file: string): Promise<string> {
  const path = join(workspace, file)
  if (!existsSync(path)) throw new UserError(`${file} is not there any more`)
  if (pathWithin(truePaths()(workspace), realpathSync(path)) === null)
    throw new UserError(`${file} leads out of the workspace`)
  return readFile(path, 'utf8')
}
