import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import type { Provider, StreamEnd, StreamEvent } from '../../src/agents/port.ts'

/** What the fake agent runs: whatever the test sends it over the socket, one script a line. */
const PROGRAM = `
  const socket = require('net').connect(process.env.STEER)
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
    for (let end = text.indexOf('\\n'); end !== -1; end = text.indexOf('\\n')) {
      const line = text.slice(0, end)
      text = text.slice(end + 1)
      eval(JSON.parse(line))
      socket.write('ok\\n')
    }
  })
  const say = (...events) => { for (const event of events) require('fs').writeSync(1, JSON.stringify(event) + '\\n') }
`

/** An agent whose every step a test decides; its stream is the port's own events as JSON. */
export interface SteeredAgent {
  readonly provider: Provider
  /** Runs a script in the agent, in which `say(event, …)` prints; resolves when it has run, or the agent is gone. */
  step(script: string): Promise<void>
  close(): void
}

export async function steeredAgent(): Promise<SteeredAgent> {
  const path = join(tmpdir(), `ralph-steer-${randomBytes(6).toString('hex')}`)
  const server = createServer()
  const connected = once(server, 'connection') as Promise<[Socket]>
  connected.catch(() => undefined)
  server.listen(path)
  await once(server, 'listening')
  return {
    provider: jsonProvider({ program: process.execPath, args: ['-e', PROGRAM], env: { STEER: path } }),
    async step(script) {
      const [socket] = await connected
      socket.write(`${JSON.stringify(script)}\n`)
      // An agent that is ended by what it was told to do cannot say that it has done it.
      await Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => undefined)
    },
    close() {
      void connected.then(([socket]) => socket.destroy())
      server.close()
      rmSync(path, { force: true })
    },
  }
}

interface JsonEnd {
  readonly type: 'end'
  readonly end: StreamEnd['end']
  readonly message: string
}

/** A provider whose program prints the port's events as JSON, and last `{"type":"end", …}`. */
export function jsonProvider(invocation: {
  readonly program: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly files?: Readonly<Record<string, string>>
}): Provider {
  return {
    name: 'fake',
    install: 'npm install -g fake',
    minimumVersion: null,
    preflight: () => [],
    invocation: ({ prompt }) => ({ env: {}, files: {}, stdin: prompt, ...invocation }),
    reader: () => {
      let last: JsonEnd | null = null
      return {
        line(text) {
          const event = parse(text)
          if (event === null) return []
          if (event.type !== 'end') return [event]
          last = event
          return [{ type: 'result' }]
        },
        end({ code, signal, stderr }) {
          const crashed = { kind: 'crashed', reason: `${code ?? signal}: ${stderr.trim()}` } as const
          const end = last?.end ?? crashed
          return { end, finalMessage: last?.message ?? '', denied: [] }
        },
      }
    },
  }
}

function parse(text: string): StreamEvent | JsonEnd | null {
  try {
    const event = JSON.parse(text)
    return event.until ? { ...event, until: new Date(event.until) } : event
  } catch {
    return null
  }
}
