import { isIP } from 'node:net'

/** An allowed host, from the configuration: `example.com`, `*.example.com`, `example.com:8443`, `127.0.0.1:5432`. */
interface Allowed {
  readonly host: string
  /** Whether it matches every host below it. */
  readonly below: boolean
  /** Null for the ports of the web. */
  readonly port: number | null
}

/** The hosts that a word in the configuration stands for. */
const HOST_WORDS: Readonly<Record<string, readonly string[]>> = {
  registries: [
    '*.npmjs.org',
    '*.yarnpkg.com',
    'pypi.org',
    'files.pythonhosted.org',
    'crates.io',
    'index.crates.io',
    'static.crates.io',
    'proxy.golang.org',
    'sum.golang.org',
    'storage.googleapis.com',
  ],
}

const WEB_PORTS = new Set([80, 443])
const FORM = /^(\*\.)?([a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i

/** Whether a list of hosts may contain the entry. The machine's own loopback needs a port. */
export function isHostEntry(entry: string): boolean {
  if (Object.hasOwn(HOST_WORDS, entry)) return true
  const allowed = parse(entry)
  return allowed !== null && (allowed.port !== null || !isOwnMachine(allowed.host))
}

/** The hosts that a list of hosts and words allows. */
export class HostList {
  readonly #allowed: readonly Allowed[]

  constructor(entries: readonly string[]) {
    this.#allowed = entries
      .flatMap((entry) => (Object.hasOwn(HOST_WORDS, entry) ? HOST_WORDS[entry]! : [entry]))
      .flatMap((entry) => parse(entry) ?? [])
  }

  get isEmpty(): boolean {
    return this.#allowed.length === 0
  }

  /** The allowed ports of the machine's own loopback. */
  get ownPorts(): readonly number[] {
    const ports = this.#allowed.flatMap(({ host, port }) =>
      port !== null && isOwnMachine(host) ? [port] : [],
    )
    return [...new Set(ports)]
  }

  allows(host: string, port: number): boolean {
    const name = plain(host)
    return this.#allowed.some((allowed) => {
      if (allowed.port === null ? !WEB_PORTS.has(port) : allowed.port !== port) return false
      if (isOwnMachine(allowed.host)) return isOwnMachine(name)
      return allowed.below ? name.endsWith(`.${allowed.host}`) : name === allowed.host
    })
  }
}

/** The host and port in a request; null if there are none. */
export function hostAndPort(target: string): { readonly host: string; readonly port: number } | null {
  const match = /^(\[[0-9a-f:.]+\]|[^:/@\s[\]]+):(\d{1,5})$/i.exec(target)
  const port = Number(match?.[2])
  return match && port > 0 && port < 65536 ? { host: plain(match[1]!), port } : null
}

/** Whether an address leads to this machine or its local network, such as a cloud's metadata service. */
export function isInner(address: string): boolean {
  const v4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (v4 !== undefined) return /^(?:0|127)\.|^169\.254\./.test(v4)
  const lower = address.toLowerCase()
  return lower === '::1' || lower === '::' || /^fe[89ab]/.test(lower) || lower.startsWith('::ffff:')
}

function isOwnMachine(host: string): boolean {
  return host === 'localhost' || (isIP(host) !== 0 && isInner(host) && !host.startsWith('169.'))
}

function parse(entry: string): Allowed | null {
  const match = FORM.exec(entry.trim())
  if (!match) return null
  const [, below, host = '', port] = match
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65535)) return null
  return { host: plain(host), below: below !== undefined, port: port === undefined ? null : Number(port) }
}

/** Normalises a name: no brackets, no trailing dot, lower case. */
function plain(host: string): string {
  return host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
}
