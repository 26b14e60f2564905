import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { AgentRequest, HandEnd, Session } from '../../src/agents/port.ts'
import { Control } from '../../src/engine/control.ts'
import type { RunPorts } from '../../src/engine/ports.ts'
import { git } from '../repository.ts'
import { changedIn, makeProject, read, runAll, status, those } from './harness.ts'
import { agentOf, doneBy, type Deed, type Harness } from './ports.ts'

/** What a person does each time that they drive the agent, and in which conversation. */
type Hand = (request: AgentRequest, session: Session) => Partial<HandEnd> | void

/** A terminal that nothing is really lent: the agents here need none. */
const terminal: RunPorts['terminal'] = {
  lend: () => Promise.reject(new Error('nothing is started here')),
}

/** Runs one task with an agent that also has an interactive program, which a person drives. */
async function drive(deed: Deed, hand: Hand, more: Partial<Harness> = {}) {
  const root = makeProject()
  const sessions: Session[] = []
  const agent = agentOf(deed)
  const drivable: typeof agent = {
    ...agent,
    run: async (request, emit) => ({ ...(await agent.run(request, emit)), sessionId: 'abc' }),
    async byHand(request, { session }) {
      sessions.push(session)
      return { end: { kind: 'done' }, code: 0, seconds: 2, ...hand(request, session) }
    },
  }
  const ports = { ...doneBy(drivable), terminal, ...more.ports }
  const events = await runAll({ root, gate: () => true, ...more, ports })
  return { root, sessions, events }
}

const write = (request: AgentRequest, name: string): void =>
  writeFileSync(join(request.cwd, name), `${name}\n`)
const byHand = { byHand: true, loop: false }
const KEPT = 'refs/ralph/attempts/T-1/1'

describe('a task by hand from the start', () => {
  test('is checked and committed as after any attempt', async () => {
    const { root, sessions, events } = await drive(
      () => expect.fail('the agent works alone'),
      (request) => write(request, 'a.txt'),
      { options: byHand },
    )
    expect(sessions).toEqual(['new'])
    expect(those(events, 'taken-over')).toMatchObject([{ id: 'T-1', agent: 'fake', session: null }])
    expect(those(events, 'handed-back')).toMatchObject([{ id: 'T-1', code: 0, seconds: 2 }])
    expect(those(events, 'gate-finished')).toHaveLength(1)
    expect(those(events, 'task-completed')).toMatchObject([{ turns: null, cost: null }])
    const message = git(root, 'log', '-1', '--format=%B')
    expect(message).toContain('Agent: fake, by hand')
    expect(message).not.toMatch(/Turns|Cost|Tokens/)
    expect([read(root, 'a.txt'), status(root)]).toEqual(['a.txt\n', ''])
  })

  test('goes back in where a gate fails, with the same conversation and tree', async () => {
    const asked: string[] = []
    const ask: RunPorts['ask'] = async ({ text, options }) => {
      asked.push(text)
      return options[0]!
    }
    const { root, sessions, events } = await drive(
      () => undefined,
      (request, session) => write(request, session === 'new' ? 'a.txt' : 'b.txt'),
      { options: byHand, gate: (_, cwd) => read(cwd, 'b.txt') !== null, ports: { ask } },
    )
    expect(asked).toEqual([expect.stringMatching(/^test: .*Go back in\?$/)])
    expect(sessions).toEqual(['new', 'last'])
    expect(those(events, 'attempt-finished').map(({ outcome }) => outcome)).toEqual(['gate-failed', 'done'])
    expect(git(root, 'ls-files')).toMatch(/a\.txt\nb\.txt/)
    expect(git(root, 'show', `${KEPT}:a.txt`)).toBe('a.txt')
  })

  test('that is not gone on with is left as it was, with a record', async () => {
    const { root, sessions, events } = await drive(
      () => expect.fail('the agent goes on alone'),
      (request) => write(request, 'a.txt'),
      { options: byHand, gate: () => false, ports: { ask: async ({ options }) => options[1]! } },
    )
    expect(sessions).toEqual(['new'])
    expect(those(events, 'task-given-up')).toHaveLength(1)
    expect([read(root, 'a.txt'), status(root)]).toEqual([null, ''])
    expect(git(root, 'show', `${KEPT}:a.txt`)).toBe('a.txt')
  })

  test('whose program crashed is no done work, though the gates would pass', async () => {
    const reason = 'it exited with code 7'
    const { events } = await drive(
      () => undefined,
      (request) => {
        write(request, 'a.txt')
        return { end: { kind: 'crashed', reason }, code: 7 }
      },
      { options: byHand, ports: { ask: async () => null } },
    )
    expect(those(events, 'gate-finished')).toHaveLength(0)
    expect(those(events, 'attempt-finished')).toMatchObject([{ outcome: 'agent-failed', reason }])
    expect(those(events, 'task-completed')).toHaveLength(0)
  })
})

describe('a task that is taken over', () => {
  /** An agent that works until it is ended. */
  const working =
    (begun: () => void): Deed =>
    (request) =>
      new Promise((resolve) => {
        write(request, 'agent.txt')
        request.signal.addEventListener('abort', () => resolve({ end: { kind: 'interrupted' } }))
        begun()
      })

  test('goes on in the same tree and session, and the attempt of its agent does not count', async () => {
    const control = new Control()
    const { root, sessions, events } = await drive(
      working(() => expect(control.takeOver('T-1')).toBeNull()),
      (request) => {
        expect(read(request.cwd, 'agent.txt')).toBe('agent.txt\n')
        write(request, 'hand.txt')
      },
      { ports: { control } },
    )
    expect(sessions).toEqual([{ id: 'abc' }])
    expect(those(events, 'taken-over')).toMatchObject([{ session: 'abc' }])
    expect(those(events, 'attempt-finished')).toMatchObject([
      { outcome: 'taken-over', counted: 1, ref: KEPT },
      { outcome: 'done', counted: 1 },
    ])
    expect(git(root, 'show', `${KEPT}:agent.txt`)).toBe('agent.txt')
    expect(changedIn(root)).toEqual(['agent.txt', 'docs/tasks/T-1.md', 'hand.txt'])
    expect(git(root, 'log', '-1', '--format=%B')).toContain('Attempts: 1')
  })

  test('and does not pass is an attempt like any other: its agent goes on', async () => {
    const control = new Control()
    let attempts = 0
    const { sessions, events } = await drive(
      (request) => {
        if (++attempts > 1) return write(request, 'good.txt')
        return working(() => control.takeOver('T-1'))(request)
      },
      () => undefined,
      {
        gate: (_, cwd) => read(cwd, 'good.txt') !== null,
        ports: { control, ask: async ({ options }) => options[1]! },
      },
    )
    expect(sessions).toHaveLength(1)
    expect(attempts).toBe(2)
    const ends = those(events, 'attempt-finished').map(({ outcome, counted }) => [outcome, counted])
    expect(ends).toEqual([
      ['taken-over', 1],
      ['gate-failed', 1],
      ['done', 2],
    ])
  })

  test('is so only where there is a terminal, and an agent at work that has a program', async () => {
    const control = new Control()
    const said: (string | null)[] = [control.takeOver('T-1')]
    const deed: Deed = (request) => {
      said.push(control.takeOver('T-1'))
      write(request, 'a.txt')
    }
    await runAll({ root: makeProject(), deed, ports: { terminal: null, control } })
    await runAll({ root: makeProject(), deed, ports: { terminal, control } })
    said.push(control.takeOver('T-1'))
    expect(said).toEqual([
      'no agent is at work on T-1',
      'a task is taken over in the terminal of its run, and this run has none',
      'fake has no interactive program to take over with',
      'no agent is at work on T-1',
    ])
  })
})
