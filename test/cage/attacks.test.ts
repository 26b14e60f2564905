import { spawnSync } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createServer as createSocket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CONNECTIONS, PROCESSES, READS, WRITES, type Attack } from './attacks.ts'
import { available, Ground, type Situation } from './here.ts'

const ground = available.ok ? new Ground() : null
const SECRETS = {
  AWS_SECRET_ACCESS_KEY: 'SECRET',
  GITHUB_TOKEN: 'SECRET',
  NPM_TOKEN: 'SECRET',
  ANTHROPIC_API_KEY: 'SECRET',
  SSH_AUTH_SOCK: '/run/agent',
  DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/bus',
}

/** Every file, with what is in it and how it may be used. */
function pictureOf(folder: string, leave: readonly string[]): ReadonlyMap<string, string> {
  const picture = new Map<string, string>()
  const visit = (at: string): void => {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      const path = join(at, entry.name)
      if (leave.includes(path)) continue
      if (entry.isDirectory()) visit(path)
      else
        picture.set(
          path,
          entry.isSymbolicLink()
            ? readlinkSync(path)
            : `${statSync(path).mode} ${readFileSync(path, 'utf8')}`,
        )
    }
  }
  visit(folder)
  return picture
}

/** Tries all of these in one cage, each in a shell of its own; which of them printed that word, and what was refused. */
async function tried(attacks: readonly Attack[], word: string, situation: Situation) {
  const mark = '--- the next one'
  const script = attacks.map(({ command }) => `echo '${mark}'; (${command}) 2>&1`).join('\n')
  const { output, caged, end } = await ground!.run(script, situation)
  expect(end).toMatchObject({ kind: 'exited' })
  const parts = output.split(`${mark}\n`).slice(1)
  expect(parts).toHaveLength(attacks.length)
  const telling = attacks.flatMap(({ name }, at) =>
    parts[at]!.includes(word) ? [`${name}: ${parts[at]}`] : [],
  )
  return { seen: caged, telling }
}

describe.skipIf(!available.ok)('in a cage', () => {
  let server: Server
  const sockets = join(ground?.folder ?? '', 'socket')
  const listening = createSocket()
  const abstract = createSocket()
  let port = 0

  beforeAll(async () => {
    server = createServer((_, response) => response.end('here'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
    await new Promise<void>((resolve) => listening.listen(sockets, resolve))
    await new Promise<void>((resolve) => abstract.listen('\0ralph-test', resolve))
  })

  afterAll(() => {
    server.close()
    listening.close()
    abstract.close()
    ground?.remove()
  })

  test.each(WRITES)('nothing writes: $name', async ({ command, caged }) => {
    const { top, folder, home } = ground!
    const kept = new Set(['.ralph', '.claude', '.mcp.json', 'ralph.config.json'])
    const workIn = (): readonly string[] =>
      readdirSync(top).flatMap((name) => (kept.has(name) ? [] : [join(top, name)]))
    const caches = join(home, '.cache/ralph/caches')
    const work = workIn()
    const before = pictureOf(folder, [...work, caches, sockets])
    const seen = await ground!.run(command)
    expect(seen.end).toMatchObject({ kind: 'exited' })
    const made = workIn()
    expect(pictureOf(folder, [...made, caches, sockets]), seen.output).toEqual(before)
    // To a program a file that is hidden from it is only missing.
    const targets = seen.caged.flatMap(({ action, target }) => (action === 'connect' ? [] : [target]))
    if (caged !== null) expect(targets, seen.output).toContain(caged)
    for (const path of made) if (!work.includes(path)) rmSync(path, { recursive: true, force: true })
    ground!.lendGit()
  })

  test('nothing reads', async () => {
    const { seen, telling } = await tried(READS, 'SECRET', { env: SECRETS })
    expect(telling).toEqual([])
    for (const { caged } of READS)
      if (caged !== null)
        expect(seen).toContainEqual(expect.objectContaining({ action: 'read', target: caged }))
  })

  test('and outside of it each of these reads', () => {
    const { home, top } = ground!
    const env = { PATH: process.env['PATH'], HOME: home, ...SECRETS }
    const silent = READS.filter(({ command }) => {
      const { stdout } = spawnSync('sh', ['-c', command], { cwd: top, env, encoding: 'utf8' })
      return !stdout.includes('SECRET')
    })
    expect(silent).toEqual([])
  })

  test('nothing reaches anybody', async () => {
    const env = { ...SECRETS, T: String(port), S: sockets }
    const { seen, telling } = await tried(CONNECTIONS, 'REACHED', {
      env,
      settings: { network: ['allowed.example'] },
    })
    expect(telling).toEqual([])
    for (const { caged } of CONNECTIONS)
      if (caged !== null)
        expect(seen).toContainEqual({
          action: 'connect',
          target: expect.stringContaining(caged),
          allowedBy: expect.stringContaining('sandbox.network'),
        })
  })

  test('nothing reaches ralph', async () => {
    const { telling } = await tried(PROCESSES, 'REACHED', { env: { R: String(process.pid) } })
    expect(telling).toEqual([])
  })

  test('a gate reaches no host at all, and is refused what an agent is', async () => {
    const gate = { kind: 'gate' as const, settings: { network: ['allowed.example'] }, env: SECRETS }
    const web = await ground!.run(`curl -sf http://127.0.0.1:${port}; env; cat ~/.ssh/id_rsa`, gate)
    expect(web.output).not.toMatch(/here|SECRET|_proxy=|_PROXY=/)
    expect(web.caged).toMatchObject([{ action: 'read', target: '~/.ssh/id_rsa' }])
  })
})
