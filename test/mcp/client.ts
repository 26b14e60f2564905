import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { PROGRAM } from '../repository.ts'
import type { McpServer } from '../../src/base/nouns.ts'

/** The program as it is built: how it starts itself. */
export const SELF: readonly [string, string] = [process.execPath, PROGRAM]

export type Connection = Awaited<ReturnType<typeof connect>>

/** Starts a server as an agent does, with the official client; the caller closes it. */
export async function connect(
  { command, args, env }: McpServer,
  cwd: string,
  options: { readonly toolMs?: number } = {},
) {
  const client = new Client({ name: 'test', version: '1' })
  const inherited = { PATH: process.env['PATH'] ?? '' }
  await client.connect(
    new StdioClientTransport({
      command,
      args: [...args],
      env: { ...inherited, ...env },
      cwd,
      stderr: 'inherit',
    }),
  )
  return {
    client,
    call: async (name: string, input: Record<string, unknown>) => {
      const result = await client.callTool({ name, arguments: input }, { timeout: options.toolMs ?? 30_000 })
      const [first] = Array.isArray(result.content) ? result.content : []
      return { ok: result.isError !== true, text: first?.type === 'text' ? first.text : '' }
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}
