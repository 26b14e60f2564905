import { lookup } from 'node:dns'
import { createServer, type ServerHttp2Stream } from 'node:http2'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { pipeline, type Duplex } from 'node:stream'
import type { Environment } from '../mark.ts'
import { HostList, hostAndPort, isInner } from './hosts.ts'
import { messageOf } from '../../base/errors.ts'

/** What may leave a cage, and who is notified. */
interface WayOut {
  readonly hosts: HostList
  /** The environment, which names a proxy if this machine needs one for the web. */
  readonly env: Environment
  /** Called for each host that is requested, whether it answers or not. */
  readonly onRequest: (host: string, port: number, isAllowed: boolean) => void
}

const CONNECT_MS = 30_000

/** Serves the outer end of a cage's way out: resolves names, checks and connects. */
export function serveWayOut(channel: Duplex, way: WayOut): void {
  const server = createServer()
  server.on('sessionError', ignore)
  server.on('stream', (stream, headers) => {
    stream.on('error', ignore)
    void open(stream, headers[':authority'] ?? '', way)
  })
  channel.on('error', ignore)
  server.emit('connection', channel)
}

async function open(stream: ServerHttp2Stream, target: string, way: WayOut): Promise<void> {
  const address = hostAndPort(target)
  if (!address) return answer(stream, 400, `ralph: no host and port: ${target}`)
  const { host, port } = address
  const isAllowed = way.hosts.allows(host, port)
  way.onRequest(host, port, isAllowed)
  if (!isAllowed)
    return answer(stream, 403, `ralph: the sandbox does not allow ${host}:${port}; sandbox.network would`)
  try {
    const socket = await connection(host, port, way)
    socket.on('error', ignore)
    if (stream.destroyed) return void socket.destroy()
    stream.respond({ ':status': 200 })
    pipeline(stream, socket, ignore)
    pipeline(socket, stream, ignore)
  } catch (error) {
    answer(stream, 502, `ralph: ${host}:${port}: ${messageOf(error)}`)
  }
}

function answer(stream: ServerHttp2Stream, status: number, text: string): void {
  if (stream.destroyed) return
  stream.respond({ ':status': status })
  stream.end(text)
}

function connection(host: string, port: number, { hosts, env }: WayOut): Promise<Socket> {
  const isOwn = host === 'localhost' || (isIP(host) !== 0 && isInner(host))
  const proxy = hosts.ownPorts.includes(port) && isOwn ? null : proxyFor(host, port, env)
  if (proxy) return throughProxy(proxy, host, port)
  return connected(isOwn ? { host, port } : { host, port, lookup: outerLookup })
}

/** Rejects addresses of this machine: the owner of an allowed name could point it there. */
const outerLookup: LookupFunction = (host, options, callback) => {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '', 0)
    const outer = addresses.filter(({ address }) => !isInner(address))
    const [first] = outer
    if (!first) return callback(new Error('its name leads into this machine'), '', 0)
    if (options.all) return callback(null, outer)
    callback(null, first.address, first.family)
  })
}

function connected(to: { host: string; port: number; lookup?: LookupFunction }): Promise<Socket> {
  const socket = connect({ ...to, allowHalfOpen: true })
  socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error('no answer')))
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.setTimeout(0)
      socket.off('error', reject)
      resolve(socket)
    })
  })
}

/** The proxy for a host in this environment; null for a direct connection. */
export function proxyFor(host: string, port: number, env: Environment): URL | null {
  const of = (name: string): string | undefined => env[name.toLowerCase()] || env[name]
  const without = (of('NO_PROXY') ?? '').split(/[\s,]+/).filter(Boolean)
  const isWithout = without.some((entry) => {
    const name = entry.replace(/^\*?\.?/, '').replace(/:\d+$/, '')
    return entry === '*' || host === name || host.endsWith(`.${name}`)
  })
  const named = port === 80 ? of('HTTP_PROXY') : of('HTTPS_PROXY')
  const proxy = isWithout ? undefined : (named ?? of('ALL_PROXY'))
  if (proxy === undefined || !URL.canParse(proxy)) return null
  const url = new URL(proxy)
  return url.protocol === 'http:' ? url : null
}

async function throughProxy(proxy: URL, host: string, port: number): Promise<Socket> {
  const socket = await connected({
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: Number(proxy.port || 80),
  })
  const name = host.includes(':') ? `[${host}]` : host
  const user = decodeURIComponent(`${proxy.username}:${proxy.password}`)
  const login = user === ':' ? '' : `Proxy-Authorization: Basic ${Buffer.from(user).toString('base64')}\r\n`
  socket.write(`CONNECT ${name}:${port} HTTP/1.1\r\nHost: ${name}:${port}\r\n${login}\r\n`)
  let head = ''
  for (;;) {
    const byte = await nextByte(socket)
    head += byte
    if (head.endsWith('\r\n\r\n')) break
    if (head.length > 16_384) throw new Error('the proxy of this machine gives no answer that can be read')
  }
  const status = /^HTTP\/1\.\d (\d{3})/.exec(head)?.[1]
  if (status?.startsWith('2')) return socket
  socket.destroy()
  throw new Error(`the proxy of this machine says ${status ?? 'nothing'}`)
}

/** One byte at a time: ralph must not read what follows the head. */
async function nextByte(socket: Socket): Promise<string> {
  for (;;) {
    const chunk: Buffer | null = socket.read(1)
    if (chunk) return chunk.toString('latin1')
    await new Promise<void>((resolve, reject) => {
      socket.once('readable', resolve)
      socket.once('end', () => reject(new Error('the proxy of this machine closed the connection')))
      socket.once('error', reject)
    })
  }
}

function ignore(): void {
  return
}
