import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Agent, AgentEnd, AgentRequest } from '../../src/agents/port.ts'
import { NO_SIGNALS, withSignals, type Signals } from '../../src/agents/signals.ts'
import { UNKNOWN_USAGE } from '../../src/base/usage.ts'
import type { RunEvent } from '../../src/engine/events/event.ts'
import { Control } from '../../src/engine/control.ts'
import type { Programs, RunOptions, RunPorts } from '../../src/engine/ports.ts'
import { git, put } from '../repository.ts'
import { connect, SELF, type Connection } from '../mcp/client.ts'
import { makeProject, read, runAll, taskText, those } from '../run/harness.ts'
import { agentOf, doneBy } from '../run/ports.ts'

interface Told {
  readonly request: AgentRequest
  readonly connection: Connection
}

/** What the agent says at its end, in its stream. */
type Ending = { readonly end?: AgentEnd; readonly message?: string } | void

/** Runs one task with an agent that talks to the real server of its attempt. */
async function runWith(
  deed: (told: Told) => Promise<Ending>,
  {
    options = {},
    ports = {},
    onEvent = () => undefined,
  }: {
    readonly options?: Partial<RunOptions>
    readonly ports?: Partial<RunPorts> & Partial<Programs>
    readonly onEvent?: (event: RunEvent, control: Control) => void
  } = {},
) {
  const root = makeProject({ 'T-001': taskText('T-001', { rest: CRITERIA }) })
  const agent: Agent = {
    ...agentOf(async (request) => {
      put(request.cwd, { 'work.txt': 'done\n' })
      await using connection = await connect(request.mcpServers['ralph']!, request.cwd)
      return (await deed({ request, connection })) ?? { end: { kind: 'no-marker' } }
    }),
    takesMcpServers: true,
  }
  const control = new Control()
  const events = await runAll({
    root,
    options: { retries: 0, ...options },
    ports: { ...doneBy(agent), server: SELF, control, ...ports },
    hear: (event) => onEvent(event, control),
  })
  return { root, events }
}

const CRITERIA = '\n## Acceptance Criteria\n- [ ] It works\n- [ ] It is fast\n'
const outcomeIn = (events: readonly RunEvent[]) =>
  those(events, 'attempt-finished').map(({ outcome }) => outcome)
const signals = (events: readonly RunEvent[]) =>
  those(events, 'agent-signal').map(({ signal, text }) => [signal, text])

const DONE = { done: { summary: 'S', criteria_met: [], tests_changed: [] } }
const BLOCKED = { blocked: 'no licence' }

describe('what an agent says by its tools', () => {
  it('decides where its text says nothing, and the summary becomes the notes', async () => {
    const { root, events } = await runWith(async ({ connection }) => {
      expect(await connection.call('progress', { note: 'half of it' })).toEqual({ ok: true, text: 'Noted.' })
      expect(await connection.call('done', { summary: 'Wrote **the work**.' })).toMatchObject({ ok: true })
    })
    expect(signals(events)).toEqual([
      ['progress', 'half of it'],
      ['done', 'Wrote **the work**.'],
    ])
    expect(those(events, 'task-completed')).toHaveLength(1)
    expect(read(root, 'docs/tasks/T-001.md')).toContain('Wrote **the work**.')
    expect(git(root, 'status', '--short')).toBe('')
  })

  it('blocks the task with the question and what there is to choose from', async () => {
    const { root, events } = await runWith(async ({ connection }) => {
      const input = { reason: 'No licence is named.', question: 'Which one?', options: ['MIT', 'Apache-2.0'] }
      expect(await connection.call('blocked', input)).toMatchObject({ ok: true })
    })
    expect(outcomeIn(events)).toEqual(['blocked'])
    expect(read(root, 'docs/tasks/T-001.md')).toContain('No licence is named. Which one? (MIT / Apache-2.0)')
  })

  it.each<[string, AgentEnd, Partial<Signals>, AgentEnd['kind']]>([
    ['text done, signal blocked', { kind: 'done' }, BLOCKED, 'blocked'],
    ['text blocked, signal done', { kind: 'blocked', reason: 'no key' }, DONE, 'blocked'],
    ['text blocked, signal blocked', { kind: 'blocked', reason: 'no key' }, BLOCKED, 'blocked'],
    ['both signals', { kind: 'no-marker' }, { ...DONE, ...BLOCKED }, 'blocked'],
    ['the last turn was the signal', { kind: 'max-turns', reason: 'used up' }, DONE, 'done'],
    ['the time was up', { kind: 'timeout', reason: 'over' }, DONE, 'timeout'],
    ['the time was up', { kind: 'timeout', reason: 'over' }, BLOCKED, 'blocked'],
    ['a crash stays one', { kind: 'crashed', reason: 'exit 9' }, BLOCKED, 'crashed'],
    ['a limit stays one', { kind: 'auth', reason: '401' }, DONE, 'auth'],
  ])('counts by the worse word of two: %s, %o', (_, end, sent, kind) => {
    const outcome = { end, finalMessage: 'text', usage: UNKNOWN_USAGE, sessionId: null, model: null }
    const whole = { ...outcome, denied: [], toolCalls: 0, seconds: 1 }
    expect(withSignals(whole, { ...NO_SIGNALS, ...sent }, false).end.kind).toBe(kind)
  })

  it('is refused twice, and "done" after "blocked"; "blocked" after "done" counts', async () => {
    const { events } = await runWith(async ({ connection }) => {
      expect(await connection.call('done', { summary: 'S' })).toMatchObject({ ok: true })
      expect(await connection.call('done', { summary: 'S' })).toMatchObject({ ok: false })
      expect(await connection.call('blocked', { reason: 'R' })).toMatchObject({ ok: true })
      expect(await connection.call('blocked', { reason: 'R' })).toMatchObject({ ok: false })
    })
    expect(outcomeIn(events)).toEqual(['blocked'])
  })

  it('is refused with the token of another attempt, and as a line that is none', async () => {
    const { events } = await runWith(async ({ request, connection }) => {
      const folder = request.signalFolder!
      const forged = { id: 'x', token: 'guess', signal: 'done', input: { summary: 'S' } }
      appendFileSync(join(folder, 'said.ndjson'), `${JSON.stringify(forged)}\nnonsense\n`)
      const other = {
        ...request.mcpServers['ralph']!,
        env: { ...request.mcpServers['ralph']!.env, RALPH_SIGNAL_TOKEN: 'guess' },
      }
      await using liar = await connect(other, request.cwd)
      expect(await liar.call('done', { summary: 'S' })).toEqual({
        ok: false,
        text: 'Refused: it is of another attempt.',
      })
      await connection.call('progress', { note: 'here' })
    })
    expect(outcomeIn(events)).toEqual(['no-marker'])
    expect(those(events, 'warning').map(({ message }) => message.replace(/.*refused: /, ''))).toEqual([
      'it is of another attempt',
      'it is no signal',
      'it is of another attempt',
    ])
  })

  it('adds tasks, and no more than a run takes from agents', async () => {
    const titles: string[] = []
    const draftTask: RunPorts['draftTask'] = async ({ title }) => {
      if (title === 'Bad') return { problem: 'it would not do' }
      titles.push(title)
      return { id: 'T-002', file: 'docs/tasks/T-002.md', text: taskText('T-002') }
    }
    const { root, events } = await runWith(
      async ({ connection }) => {
        const add = (title: string) => connection.call('add_task', { title, description: 'Why.' })
        expect(await add('Bad')).toEqual({ ok: false, text: 'Refused: it would not do.' })
        expect(await add('One')).toEqual({
          ok: true,
          text: expect.stringMatching(/^Added T-002: docs.tasks.T-002.md /),
        })
        expect(await add('Two')).toMatchObject({ ok: false, text: expect.stringContaining('maxAddedTasks') })
        await connection.call('done', { summary: 'S' })
      },
      { options: { maxAddedTasks: 1, loop: false }, ports: { draftTask } },
    )
    expect(titles).toEqual(['One'])
    expect(those(events, 'task-added')).toMatchObject([{ id: 'T-001', added: 'T-002', title: 'One' }])
    // It is part of the one commit of the task that found it.
    expect(git(root, 'show', '--name-only', '--format=%s', 'HEAD').trim().split(/\n+/)).toEqual([
      'T-001: Do T-001',
      'docs/tasks/T-001.md',
      'docs/tasks/T-002.md',
      'work.txt',
    ])
  })

  it('checks off what it names as met, where the run is to', async () => {
    const met = { summary: 'S', criteria_met: ['It works'] }
    const say = async ({ connection }: Told) => void (await connection.call('done', met))
    const { root } = await runWith(say, { options: { checkCriteria: true } })
    expect(read(root, 'docs/tasks/T-001.md')).toContain('- [x] It works\n- [ ] It is fast')
    const other = await runWith(say)
    expect(read(other.root, 'docs/tasks/T-001.md')).toContain('- [ ] It works')
  })

  it('is refused once the attempt has ended, whose folder is gone', async () => {
    const late: { server?: AgentRequest['mcpServers'][string]; folder?: string } = {}
    const { root } = await runWith(async ({ request }) => {
      late.server = request.mcpServers['ralph']!
      late.folder = request.signalFolder!
    })
    expect(existsSync(late.folder!)).toBe(false)
    await using connection = await connect(late.server!, root)
    expect(await connection.call('done', { summary: 'S' })).toEqual({
      ok: false,
      text: 'Refused: this attempt has ended.',
    })
  })
})

describe('a question of an agent', () => {
  it('is answered from elsewhere, and the clock stands still meanwhile', async () => {
    const seen: { held?: () => number; before?: number; after?: number } = {}
    const { events } = await runWith(
      async ({ request, connection }) => {
        seen.held = request.held!
        expect(await connection.call('ask', { question: 'Which licence?', options: ['MIT'] })).toEqual({
          ok: true,
          text: 'Apache-2.0',
        })
        seen.after = request.held!()
        expect(request.held!()).toBe(seen.after)
        await connection.call('done', { summary: 'S' })
      },
      {
        onEvent: (event, control) => {
          if (event.type === 'question') setTimeout(() => control.answer('T-001', 'Apache-2.0'), 20)
        },
      },
    )
    expect(seen.after).toBeGreaterThan(0)
    expect(those(events, 'question')).toMatchObject([
      { id: 'T-001', text: 'Which licence?', options: ['MIT'] },
    ])
    expect(those(events, 'answered')).toMatchObject([{ answer: 'Apache-2.0' }])
    expect(outcomeIn(events)).toEqual(['done'])
  })

  it('is answered in the terminal of the run, and the other way hears no more of it', async () => {
    let isTakenBack = false
    const ask: RunPorts['ask'] = async ({ text }, signal) => {
      signal.addEventListener('abort', () => (isTakenBack = true))
      return `about ${text}`
    }
    const { events } = await runWith(
      async ({ connection }) => {
        expect(await connection.call('ask', { question: 'what?' })).toEqual({ ok: true, text: 'about what?' })
        await connection.call('done', { summary: 'S' })
      },
      { ports: { ask } },
    )
    expect(isTakenBack).toBe(true)
    expect(outcomeIn(events)).toEqual(['done'])
  })

  it('that nobody answers ends the attempt as blocked with it', async () => {
    const { root, events } = await runWith(
      async ({ request, connection }) => {
        const ended = new Promise<void>((resolve) =>
          request.signal.addEventListener('abort', () => resolve()),
        )
        expect(await connection.call('ask', { question: 'Which licence?' })).toMatchObject({ ok: false })
        await ended
        return { end: { kind: 'interrupted' } }
      },
      { options: { askSeconds: 0.05 } },
    )
    expect(outcomeIn(events)).toEqual(['blocked'])
    expect(those(events, 'task-blocked')).toMatchObject([{ reason: 'Which licence?', asks: true }])
    expect(read(root, 'docs/tasks/T-001.md')).toContain('Which licence?')
  })

  it('that nobody answers has the answer that the agent gave for that case, and the commit says so', async () => {
    const { root, events } = await runWith(
      async ({ connection }) => {
        const reply = await connection.call('ask', { question: 'Which licence?', default: 'MIT' })
        expect(reply).toEqual({ ok: true, text: 'Nobody has answered in time. Go on with your own: MIT' })
        await connection.call('done', { summary: 'S' })
      },
      { options: { askSeconds: 0.05 } },
    )
    expect(outcomeIn(events)).toEqual(['done'])
    expect(those(events, 'answered')).toMatchObject([{ answer: 'MIT', isDefault: true }])
    const assumed = 'Which licence? → MIT'
    expect(those(events, 'task-completed')).toMatchObject([{ assumed: [assumed] }])
    expect(git(root, 'log', '-1', '--format=%(trailers:key=Assumed,valueonly)')).toBe(assumed)
  })

  it('that the agent stops waiting for is one that nobody has answered', async () => {
    const { events } = await runWith(async ({ request }) => {
      await using impatient = await connect(request.mcpServers['ralph']!, request.cwd, { toolMs: 50 })
      await expect(impatient.call('ask', { question: 'Which licence?' })).rejects.toThrow(/timed out/i)
      return { end: { kind: 'done' } }
    })
    expect(outcomeIn(events)).toEqual(['blocked'])
  })

  it('that somebody leaves with Ctrl-C ends the run', async () => {
    const { events } = await runWith(
      async ({ connection }) => {
        await connection.call('ask', { question: 'Which licence?' })
        return { end: { kind: 'interrupted' } }
      },
      { ports: { ask: async () => null } },
    )
    expect(those(events, 'run-finished')).toMatchObject([{ end: 'interrupted', blocked: [] }])
  })

  it('that is open when the agent crashes blocks nothing', async () => {
    const { events } = await runWith(async ({ request, connection }) => {
      const asked = connection.call('ask', { question: 'Which licence?' })
      await expect.poll(() => request.held!()).toBeGreaterThan(0)
      void asked.catch(() => undefined)
      return { end: { kind: 'crashed', reason: 'exit 9' } }
    })
    expect(outcomeIn(events)).toEqual(['agent-failed'])
  })

  it('is taken back with the run, which is then interrupted and not blocked', async () => {
    const { events } = await runWith(
      async ({ connection }) => {
        await connection.call('ask', { question: 'Which licence?' })
        return { end: { kind: 'interrupted' } }
      },
      {
        onEvent: (event, control) => {
          if (event.type === 'question') control.stop('clean')
        },
      },
    )
    expect(outcomeIn(events)).toEqual(['interrupted'])
    expect(those(events, 'run-finished')).toMatchObject([{ end: 'interrupted', blocked: [] }])
  })
})
