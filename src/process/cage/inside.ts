import { closeSync, writeSync } from 'node:fs'
import {
  createServer as createProxy,
  request as ask,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { connect, type ClientHttp2Stream } from 'node:http2'
import { createServer, Socket, type AddressInfo, type Server } from 'node:net'
import { Duplex, pipeline } from 'node:stream'
import { text } from 'node:stream/consumers'

// Runs in a cage beside the caged program: a proxy on the cage's own loopback, whose only way out is the stream that
// it was started with. The process at the other end, outside the cage, decides what may pass.

const CHANNEL = 5
const session = connect('http://ralph', { createConnection: () => new Socket({ fd: CHANNEL }) })
// The other end has closed, and with it the network.
session.on('error', ignore)

/** Opens a way out to a host and port; rejects with the reason if it cannot. */
function wayTo(target: string): Promise<ClientHttp2Stream> {
  const stream = session.request({ ':method': 'CONNECT', ':authority': target })
  return new Promise((resolve, reject) => {
    stream.once('error', reject)
    stream.once('response', (headers) => {
      if (headers[':status'] === 200) resolve(stream.on('error', ignore))
      else text(stream).then((why) => reject(new Error(why)), reject)
    })
  })
}

function join(one: Duplex, other: Duplex): void {
  pipeline(one, other, ignore)
  pipeline(other, one, ignore)
}

const proxy = createProxy((request, response) => void pass(request, response))
proxy.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
  socket.on('error', ignore)
  void tunnel(request.url ?? '', socket, head)
})

async function tunnel(target: string, socket: Duplex, head: Buffer): Promise<void> {
  try {
    const way = await wayTo(target)
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    if (head.length > 0) way.write(head)
    join(socket, way)
  } catch (error) {
    const body = `${textOf(error)}\n`
    const length = `Content-Length: ${Buffer.byteLength(body)}`
    socket.end(`HTTP/1.1 403 ${statusText(error)}\r\n${length}\r\nConnection: close\r\n\r\n${body}`)
  }
}

/** Handles a request without encryption, which a proxy receives as a whole. */
async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const url = new URL(request.url ?? '')
    const way = await wayTo(`${url.hostname}:${url.port || 80}`)
    const { method, headers } = request
    const further = ask({
      method,
      path: url.pathname + url.search,
      headers,
      createConnection: () => asBytes(way),
    })
    further.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      pipeline(answer, response, ignore)
    })
    further.on('error', () => response.destroy())
    pipeline(request, further, ignore)
  } catch (error) {
    response.writeHead(403, { 'content-type': 'text/plain' })
    response.end(`${textOf(error)}\n`)
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** A stream of HTTP/2 does not accept texts and bytes mixed, as an HTTP/1 client writes them. */
function asBytes(way: ClientHttp2Stream): Duplex {
  const bytes = new Duplex({
    read: () => void way.resume(),
    write: (chunk, _, done) => void way.write(chunk, done),
    final: (done) => void way.end(done),
    destroy: (error, done) => {
      way.destroy()
      done(error)
    },
  })
  way.on('data', (chunk) => {
    if (!bytes.push(chunk)) way.pause()
  })
  way.on('end', () => bytes.push(null))
  return bytes
}

/** Limits the text to one line of a head. */
function statusText(error: unknown): string {
  return textOf(error)
    .replaceAll(/[^\x20-\x7e]/g, ' ')
    .slice(0, 200)
}

/** Forwards to the host's own port of that number, if the configuration allows it. */
function forward(port: number): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', ignore)
    wayTo(`127.0.0.1:${port}`).then(
      (way) => join(socket, way),
      () => socket.destroy(),
    )
  })
  return listen(server, port)
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve) => {
    server.once('error', () => resolve())
    server.listen(port, '127.0.0.1', () => resolve())
    // It ends when the stream does, which is when the process that started the cage ends.
    server.unref()
  })
}

function ignore(): void {
  return
}

async function begin(ports: readonly number[]): Promise<void> {
  await Promise.all([listen(proxy, 0), ...ports.map(forward)])
  const address = proxy.address() as AddressInfo | null
  writeSync(1, String(address?.port ?? ''))
  // The process that started it waits for this end.
  closeSync(1)
}

void begin((process.argv[2] ?? '').split(',').filter(Boolean).map(Number))
