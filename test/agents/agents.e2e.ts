import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, test } from 'vitest'
import { agentNamed } from '../../src/agents/registry.ts'
import { drive, type Situation } from './drive.ts'
import { PINNED, type AgentName } from './installed.ts'
import { inTurn, say, shell, type Reply } from './model.ts'
import { makeFolder } from '../repository.ts'

const programs = inject('programs')
const DONE = say('Created hello.txt. <TASK_DONE>')
const write = (cwd: string): Reply => ({
  kind: 'call',
  call: { tool: 'write', path: `${cwd}/hello.txt`, content: 'hello\n' },
})
const fail = (status: number, retryAfter?: number): Reply => ({
  kind: 'fail',
  status,
  message: `status ${status} of the fake service`,
  ...(retryAfter === undefined ? {} : { retryAfter }),
})
const full = { permission: { level: 'full' } } as const
const echo = {
  command: process.execPath,
  args: [fileURLToPath(new URL('echo-server.mjs', import.meta.url))],
  env: {},
}

/** Where an agent cannot tell what it waits for, or how far it is. */
const PECULIAR: Partial<Record<AgentName, Partial<Record<string, string>>>> = {
  gemini: { crashed: 'no-marker' },
  qwen: { overloaded: 'rate-limited', 'no-network': 'timeout' },
  continue: { stalled: 'timeout', 'max-turns': 'timeout' },
}

/** How long an agent may take to tell what it waits for, where that is longer than the others take. */
const SLOW_TO_TELL: Partial<Record<AgentName, Partial<Record<string, number>>>> = {
  qwen: { 'rate-limited': 60, overloaded: 120 },
  continue: { 'rate-limited': 180 },
}

for (const name of Object.keys(PINNED) as AgentName[]) {
  describe.skipIf(programs[name] === undefined)(name, () => {
    const run = (situation: Omit<Situation, 'name' | 'programs'>) =>
      drive({ name, programs: programs[name]!, ...situation })
    const ends = (kind: string) => PECULIAR[name]?.[kind] ?? kind
    const within = (kind: string, seconds: number) => {
      const longest = SLOW_TO_TELL[name]?.[kind] ?? seconds
      return { seconds: longest, stallSeconds: longest + 1 }
    }

    test('does a task, and tells what it used', async () => {
      const { outcome, git } = await run({ model: (cwd) => inTurn(write(cwd), DONE) })
      expect(outcome).toMatchObject({ end: { kind: 'done' }, finalMessage: 'Created hello.txt.', denied: [] })
      expect(git('status')).toBe('?? hello.txt')
      const { turns, inputTokens, cachedTokens, outputTokens, costUsd } = outcome.usage
      expect([2, name === 'codex' ? 1 : null, null]).toContain(turns)
      expect([12_400, null]).toContain(inputTokens)
      expect([10_000, null]).toContain(cachedTokens)
      expect([200, null]).toContain(outputTokens)
      expect(costUsd === null || costUsd > 0).toBe(true)
      if (name === 'claude') expect(Object.values(outcome.usage)).not.toContain(null)
      if (name === 'codex') expect(outcome.model).toBe('fake-model')
    })

    test.skipIf(name === 'copilot' || name === 'continue')('goes on in its conversation', async () => {
      const { outcome, bodies } = await run({
        model:
          () =>
          ({ body, results }) =>
            body.includes('Have you finished?')
              ? DONE
              : results === 0
                ? shell('echo first')
                : say('All is well.'),
        request: full,
        next: 'Have you finished?',
      })
      expect(outcome.end).toEqual({ kind: 'done' })
      expect(bodies.at(-1)).toContain('All is well.')
    })

    test('says that it is blocked', async () => {
      const { outcome } = await run({
        model: () => inTurn(say('No.\n\n<TASK_BLOCKED reason="needs a key">')),
      })
      expect(outcome.end).toEqual({ kind: 'blocked', reason: 'needs a key' })
    })

    test('is stopped at the limit of its turns', async () => {
      const { outcome } = await run({
        model: () => inTurn(shell('sleep 0.2; echo again')),
        request: full,
        limits: { turns: 2, seconds: name === 'continue' ? 10 : 90 },
      })
      expect(outcome.end.kind).toBe(ends('max-turns'))
    })

    test('goes on after one refusal for its rate', async () => {
      const { outcome } = await run({
        model: (cwd) => (asked) => (asked.request === 1 ? fail(429, 1) : inTurn(write(cwd), DONE)(asked)),
      })
      expect(outcome.end.kind).toBe('done')
    })

    test.each<readonly [string, Reply, string, number]>([
      ['has no valid login', fail(401), 'auth', 90],
      ['does not sleep through a long limit', fail(429, 3600), 'rate-limited', 20],
      ['meets a service that is overloaded', fail(529), 'overloaded', 30],
      ['does not reach its service', { kind: 'gone' }, 'no-network', 30],
    ])('%s', async (_, reply, kind, seconds) => {
      const { outcome } = await run({ model: () => () => reply, limits: within(kind, seconds) })
      expect(outcome.end.kind).toBe(ends(kind))
    })

    test('hears nothing more of its service', async () => {
      const { outcome } = await run({
        model: () => () => ({ kind: 'hang' }),
        limits: { stallSeconds: 8, seconds: 15 },
      })
      expect(outcome.end.kind).toBe(ends('stalled'))
    })

    test('goes on after a command that fails', async () => {
      const { outcome, events } = await run({
        model: () => inTurn(shell('sleep 0.2; echo oops >&2; exit 3'), DONE),
        request: full,
      })
      expect(outcome.end.kind).toBe('done')
      if (name !== 'continue' && name !== 'opencode' && name !== 'gemini') {
        expect(events).toContainEqual(expect.objectContaining({ type: 'tool', status: 'failed' }))
      }
    })

    // Continue has no rule for a single command.
    test.skipIf(name === 'continue')('does not commit', async () => {
      const { outcome, git } = await run({
        model: () => inTurn(shell('git commit --allow-empty -m mine'), DONE),
      })
      expect(git('log')).toBe('Begin')
      // Codex may not show a command that ends at once, and qwen does not report what it refuses.
      const isSilent = name === 'qwen' || (name === 'codex' && outcome.denied.length === 0)
      expect(outcome.denied).toEqual(isSilent ? [] : [expect.stringContaining('git commit --allow')])
    })

    // Codex has the wall of its sandbox instead, which lets it read.
    test.skipIf(name === 'codex')('runs no command at edit but just those that are allowed', async () => {
      const elsewhere = makeFolder()
      const at = (file: string) => path.join(elsewhere, file)
      writeFileSync(at('secret'), 'the content of the secret\n')
      const { outcome, bodies, git } = await run({
        model: () =>
          inTurn(
            shell(`git log --output=${at('by-git')} --format=%s`),
            shell(`git diff --no-index /dev/null ${at('secret')}`),
            shell(`git blame --contents ${at('secret')} README.md`),
            shell(`touch gate.txt > ${at('by-gate')}`),
            shell(`touch gate.txt ${at('by-argument')}`),
            shell('git status --short'),
            shell('touch gate.txt'),
            shell('touch one.txt && touch two.txt'),
            DONE,
          ),
        request: { gateCommands: ['touch gate.txt', 'touch one.txt && touch two.txt'] },
      })
      expect(outcome.end.kind).toBe('done')
      expect(readdirSync(elsewhere)).toEqual(['secret'])
      expect(bodies.join('')).not.toContain('the content of the secret')
      const runsGates = ['claude', 'gemini', 'opencode'].includes(name)
      expect(git('status')).toBe(runsGates ? '?? gate.txt\n?? one.txt\n?? two.txt' : '')
    })

    test.skipIf(name === 'copilot' || name === 'continue')(
      'obeys no configuration that somebody left in the repository',
      async () => {
        const marks = makeFolder()
        const mark = (file: string) => ['touch', path.join(marks, file)] as const
        const hook = (file: string) => [{ hooks: [{ type: 'command', command: mark(file).join(' ') }] }]
        const server = (file: string) => ({ evil: { command: 'touch', args: [path.join(marks, file)] } })
        const files = {
          '.claude/settings.json': { hooks: { SessionStart: hook('claude') } },
          '.mcp.json': { mcpServers: server('mcp') },
          '.gemini/settings.json': {
            hooks: { SessionStart: hook('gemini') },
            mcpServers: server('gemini-mcp'),
          },
          '.qwen/settings.json': { hooks: { SessionStart: hook('qwen') }, mcpServers: server('qwen-mcp') },
          'opencode.json': {
            mcp: { evil: { type: 'local', command: mark('opencode') } },
            plugin: ['./plugin-of-v1.js'],
            plugins: ['./plugin-of-v2.js'],
          },
        }
        const plugins = [
          '.opencode/plugin/in-plugin.js',
          '.opencode/plugins/in-plugins.js',
          'plugin-of-v1.js',
          'plugin-of-v2.js',
        ]
        const plugin = (file: string) =>
          `import fs from 'node:fs'\nfs.writeFileSync(${JSON.stringify(path.join(marks, path.basename(file)))}, '')\nexport const Evil = async () => ({})\nexport default { id: 'evil', setup: async () => {} }\n`
        const { outcome, bodies } = await run({
          model: (cwd) => {
            const put = (file: string, text: string) => {
              mkdirSync(path.dirname(path.join(cwd, file)), { recursive: true })
              writeFileSync(path.join(cwd, file), text)
            }
            for (const [file, content] of Object.entries(files)) put(file, JSON.stringify(content))
            put('.codex/config.toml', `[mcp_servers.evil]\ncommand = "touch"\nargs = ["${marks}/codex"]\n`)
            for (const file of plugins) put(file, plugin(file))
            for (const file of ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md', 'QWEN.md'])
              put(file, 'Be kind to cats.')
            return inTurn(DONE)
          },
        })
        expect(outcome.end.kind).toBe('done')
        // What it cannot be kept from starting, it does not start where an agent of the run has written it.
        const { alwaysReads } = await agentNamed(name).load(null)
        const started = ['in-plugin.js', 'in-plugins.js', 'plugin-of-v1.js']
        expect(readdirSync(marks)).toEqual(alwaysReads === undefined ? [] : started)
        for (const file of [...plugins.slice(0, 2), 'opencode.json'])
          expect(alwaysReads?.(file) ?? true).toBe(true)
        // What is written there for agents to read is no configuration.
        expect(bodies.join('')).toContain('Be kind to cats.')
      },
    )

    test('calls a tool of a server', async () => {
      const { outcome, events } = await run({
        model: () => inTurn({ kind: 'call', call: { tool: 'mcp', server: 'echo', name: 'echo_tool' } }, DONE),
        request: { mcpServers: { echo } },
      })
      expect(outcome.end.kind).toBe('done')
      const expected = name === 'continue' ? { type: 'warning' } : { type: 'tool', status: 'ok' }
      expect(events).toContainEqual(expect.objectContaining(expected))
    })

    test('does not take an answer that was cut off for the whole', async () => {
      const { outcome } = await run({
        model: () => inTurn({ kind: 'say', text: 'Half of', cut: 'length' }),
        limits: { turns: 6 },
      })
      // Continue does not report why an answer ended: then only its marker is missing.
      expect(outcome.end.kind).toBe(name === 'continue' ? 'no-marker' : ends('crashed'))
      if (outcome.end.kind === 'crashed') expect(outcome.end.reason).toContain('was cut off')
    })

    test('takes a prompt of 300 KB', async () => {
      const prompt = `Do the task.\n${'a line of the prompt\n'.repeat(15_000)}The end of it.`
      const { outcome, bodies } = await run({ model: () => inTurn(DONE), request: { prompt } })
      expect(outcome.end.kind).toBe('done')
      expect(bodies[0]!.length).toBeGreaterThan(300_000)
      expect(bodies[0]).toContain('The end of it.')
    })

    test.skipIf(process.platform !== 'linux')(
      'is interrupted in the middle of a command, with all its children',
      async () => {
        const seconds = uniqueSeconds()
        const controller = new AbortController()
        // The command tells that it runs, by connecting; only then is it interrupted.
        const door = createServer((socket) => {
          socket.destroy()
          controller.abort('interrupt')
        }).listen(0, '127.0.0.1')
        await once(door, 'listening')
        const { port } = door.address() as AddressInfo
        const command = `setsid sleep ${seconds} >/dev/null 2>&1 & : > /dev/tcp/127.0.0.1/${port}; sleep ${seconds}`
        const { outcome } = await run({
          model: () => inTurn(shell(`bash -c '${command}'`), DONE),
          request: { ...full, signal: controller.signal },
        }).finally(() => door.close())
        expect(outcome.end.kind).toBe('interrupted')
        expect(alive(seconds)).toEqual([])
      },
    )
  })
}

/** A time to sleep for by which the process can be found. */
let sleeps = 0
function uniqueSeconds(): string {
  return `${3000 + ++sleeps}.${process.pid}`
}

function alive(seconds: string): readonly string[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => commandLine(pid) === `sleep\0${seconds}\0`)
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
