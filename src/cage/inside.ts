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

// The program that runs in a cage beside what is caged: a proxy on the cage's own loopback whose only way out is the
// stream that it was started with. What may pass is decided at the other end of that stream, outside of the cage.

const CHANNEL = 5
const session = connect('http://ralph', { createConnection: () => new Socket({ fd: CHANNEL }) })
// Whoever is at the other end is gone, and with it the network.
session.on('error', ignore)

/** A way out to a host and port, once it is open; fails with why it is not. */
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

/** A request without encryption, which a proxy is shown whole. */
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

/** A stream of HTTP/2 takes what a client of HTTP/1 writes at once, texts and bytes, for something else. */
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

/** What fits into one line of a head. */
function statusText(error: unknown): string {
  return textOf(error)
    .replaceAll(/[^\x20-\x7e]/g, ' ')
    .slice(0, 200)
}

/** The host's own port of that number, where the configuration names it. */
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
    // It ends when the stream does, which is when whoever started the cage is gone.
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
  // Who started it waits for the end of this.
  closeSync(1)
}

void begin((process.argv[2] ?? '').split(',').filter(Boolean).map(Number))
