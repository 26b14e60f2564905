import { describe, expect, test } from 'vitest'
import { HostList, hostAndPort, isHostEntry, isInner } from '../../src/process/cage/hosts.ts'
import { RefusalReader } from '../../src/process/cage/refusals.ts'
import { seccompFilter } from '../../src/process/cage/seccomp.ts'
import { proxyFor } from '../../src/process/cage/way-out.ts'
import type { CagedAction } from '../../src/base/nouns.ts'

/** What the kernel makes of a filter, as far as its instructions go: bpf(4). */
function judged(
  filter: Uint8Array,
  { audit, number, first = 0, second = 0 }: Record<string, number>,
): number {
  const program = Buffer.from(filter)
  const data: Readonly<Record<number, number>> = { 0: number!, 4: audit!, 16: first, 24: second }
  let loaded = 0
  for (let at = 0; ; at++) {
    const [code, yes, no] = [program.readUInt16LE(at * 8), program[at * 8 + 2]!, program[at * 8 + 3]!]
    const value = program.readUInt32LE(at * 8 + 4)
    if (code === 0x20) loaded = data[value]!
    else if (code === 0x15) at += loaded === value ? yes : no
    else if (code === 0x35) at += loaded >= value ? yes : no
    else return value
  }
}

const [ALLOW, EPERM, ENOSYS] = [0x7fff0000, 0x00050001, 0x00050026]

describe.each([
  { processor: 'x64', audit: 0xc000003e, socket: 41, ioctl: 16, keyctl: 250, read: 0 },
  { processor: 'arm64', audit: 0xc00000b7, socket: 198, ioctl: 29, keyctl: 219, read: 63 },
])('the filter of system calls on $processor', ({ processor, audit, socket, ioctl, keyctl, read }) => {
  const filter = seccompFilter(processor)!
  test.each([
    ['a socket of the file system', { audit, number: socket, first: 1 }, EPERM],
    ['a socket to the host of a virtual machine', { audit, number: socket, first: 40 }, EPERM],
    ['IPv4', { audit, number: socket, first: 2 }, ALLOW],
    ['IPv6', { audit, number: socket, first: 10 }, ALLOW],
    ['news of the network', { audit, number: socket, first: 16 }, ALLOW],
    ['words into a terminal', { audit, number: ioctl, second: 0x5412 }, EPERM],
    ['the size of a terminal', { audit, number: ioctl, second: 0x5413 }, ALLOW],
    ['the keys of the kernel', { audit, number: keyctl }, ENOSYS],
    ['a ring of calls', { audit, number: 425 }, ENOSYS],
    ['a read', { audit, number: read }, ALLOW],
    ['the calls of another processor', { audit: 0x40000003, number: socket, first: 1 }, ENOSYS],
  ])('judges %s', (_, call, verdict) => {
    expect(judged(filter, call)).toBe(verdict)
  })
})

test('there is no filter for a processor that is not known', () => {
  expect(seccompFilter('s390x')).toBeNull()
  const x32 = { audit: 0xc000003e, number: 0x40000029, first: 1 }
  expect(judged(seccompFilter('x64')!, x32)).toBe(ENOSYS)
})

describe('a list of hosts', () => {
  const list = new HostList(['a.example', '*.b.example', 'c.example:8443', '127.0.0.1:5432', 'registries'])
  test.each([
    ['a.example', 443, true],
    ['A.example.', 80, true],
    ['a.example', 22, false],
    ['sub.a.example', 443, false],
    ['x.b.example', 443, true],
    ['b.example', 443, false],
    ['xb.example', 443, false],
    ['c.example', 8443, true],
    ['c.example', 443, false],
    ['127.0.0.1', 5432, true],
    ['localhost', 5432, true],
    ['::1', 5432, true],
    ['127.0.0.1', 80, false],
    ['packages.npmjs.org', 443, true],
    ['static.crates.io', 443, true],
  ])('says of %s:%i %s', (host, port, allowed) => {
    expect(list.allows(host, port)).toBe(allowed)
  })

  test.each([
    ['example.com', true],
    ['*.example.com:8080', true],
    ['localhost:3000', true],
    ['[::1]:3000', true],
    ['registries', true],
    ['localhost', false],
    ['127.0.0.1', false],
    ['*', false],
    ['https://example.com', false],
    ['example.com:99999', false],
    ['', false],
  ])('may hold %s: %s', (entry, may) => {
    expect(isHostEntry(entry)).toBe(may)
  })

  test('tells what leads into this machine', () => {
    const inner = [
      '127.0.0.1',
      '127.9.9.9',
      '0.0.0.0',
      '169.254.169.254',
      '::1',
      '::',
      'fe80::1',
      '::ffff:127.0.0.1',
    ]
    expect(inner.filter((address) => !isInner(address))).toEqual([])
    expect(['10.0.0.1', '93.184.216.34', '2606:4700::1'].filter(isInner)).toEqual([])
    expect(hostAndPort('[::1]:80')).toEqual({ host: '::1', port: 80 })
    expect([hostAndPort('a.example'), hostAndPort('a.example:0'), hostAndPort('a b:1')]).toEqual([
      null,
      null,
      null,
    ])
  })

  test('goes through the proxy of the machine where it has one', () => {
    const env = { HTTPS_PROXY: 'http://proxy:3128', no_proxy: 'inner.example,.corp' }
    expect(proxyFor('a.example', 443, env)?.host).toBe('proxy:3128')
    expect(proxyFor('a.example', 80, env)).toBeNull()
    expect(proxyFor('x.corp', 443, env)).toBeNull()
    expect(proxyFor('inner.example', 443, env)).toBeNull()
  })
})

describe('what a caged program complains of', () => {
  const policy = {
    rules: [
      { kind: 'write' as const, path: '/home/me/shop' },
      { kind: 'read' as const, path: '/home/me/shop/.git' },
      { kind: 'closed' as const, path: '/home/me/.ssh' },
      { kind: 'closed' as const, path: '/home/me/real' },
    ],
    never: ['/home/me/shop/.git'],
    checkout: '/home/me/real',
  }
  const read = (text: string): readonly CagedAction[] => {
    const found: CagedAction[] = []
    const where = { cwd: '/home/me/shop', home: '/home/me' }
    const reader = new RefusalReader(policy, where, (action) => found.push(action))
    reader.push(Buffer.from(text), 'stdout')
    reader.end()
    return found
  }

  test.each([
    ["touch: cannot touch '/etc/x': Read-only file system", 'write', '/etc/x'],
    ['sh: 1: cannot create /home/me/.bashrc: Read-only file system', 'write', '~/.bashrc'],
    ['bash: line 1: /home/me/a: Read-only file system', 'write', '~/a'],
    ["Error: EROFS: read-only file system, open '/home/me/.npm/x'", 'write', '~/.npm/x'],
    ["EROFS: read-only file system, rename '/tmp/a' -> '/opt/b'", 'write', '/opt/b'],
    ["OSError: [Errno 30] Read-only file system: '/opt/x'", 'write', '/opt/x'],
    ['{"text":"touch: cannot touch \'/etc/x\': Read-only file system\\nmore"}', 'write', '/etc/x'],
    ['{"text":"Error: EROFS: read-only file system, mkdir \\"/opt/y\\""}', 'write', '/opt/y'],
    ['cat: /home/me/.ssh/id_rsa: Permission denied', 'read', '~/.ssh/id_rsa'],
    [
      "fatal: Unable to create '/home/me/shop/.git/index.lock': Read-only file system",
      'write',
      '.git/index.lock',
    ],
    ["mv: cannot move 'x' to '.git': Device or resource busy", 'write', '.git'],
  ])('%s', (text, action, target) => {
    expect(read(text)).toMatchObject([{ action, target }])
  })

  test.each([
    'cat: src/x: Permission denied',
    "touch: cannot touch 'src/x': Read-only file system",
    'all is well: Read-only file systems are fine',
    'ssh: connect to host: Operation not permitted',
  ])('is nothing where the cage has not refused it: %s', (text) => {
    expect(read(text)).toEqual([])
  })

  test.each([
    ['cat: /home/me/real/.env: Permission denied', '~/real/.env'],
    ['sh: 1: cannot create /tmp/agent-1/x: Read-only file system', '/tmp/agent-1/x'],
  ])('is told without advice to open the checkout or a temporary file: %s', (text, target) => {
    expect(read(text)).toMatchObject([{ target, allowedBy: null }])
  })

  test('is told once, with the entry that would allow it, and not without end', () => {
    const line = 'sh: 1: cannot create /opt/x: Read-only file system\n'
    expect(read(line + line)).toEqual([
      { action: 'write', target: '/opt/x', allowedBy: 'sandbox.write: "/opt/x"' },
    ])
    expect(read('x: .git/config: Read-only file system')[0]?.allowedBy).toBeNull()
    const many = Array.from({ length: 100 }, (_, index) => line.replace('/x', `/x${index}`)).join('')
    expect(read(many)).toHaveLength(20)
  })
})
