import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Agent, AgentRequest, HandEnd, Session } from '../../src/agents/port.ts'
import { Control } from '../../src/engine/control.ts'
import type { RunPorts } from '../../src/engine/ports.ts'
import { git } from '../repository.ts'
import { makeProject, read, runAll, status, taskText, those } from './harness.ts'
import { agentOf, doneBy, gateOf, type Deed } from './ports.ts'

/** What a person does each time that they drive the agent, and in which conversation. */
type Hand = (request: AgentRequest, session: Session) => Partial<HandEnd> | void

/** An agent that also has an interactive program, which a person drives. */
function drivable(deed: Deed, hand: Hand): { readonly agent: Agent; readonly sessions: Session[] } {
  const sessions: Session[] = []
  const agent = agentOf(deed)
  return {
    sessions,
    agent: {
      ...agent,
      run: async (request, emit) => ({ ...(await agent.run(request, emit)), sessionId: 'abc' }),
      async byHand(request, { session }) {
        sessions.push(session)
        return { end: { kind: 'done' }, code: 0, seconds: 2, ...hand(request, session) }
      },
    },
  }
}

/** A terminal that nothing is really lent: the agents here need none. */
const terminal: RunPorts['terminal'] = {
  lend: () => Promise.reject(new Error('nothing is started here')),
}

const write = (request: AgentRequest, name: string): void =>
  writeFileSync(join(request.cwd, name), `${name}\n`)

const byHand = { byHand: true, loop: false }

describe('a task by hand from the start', () => {
  test('is checked and committed as after any attempt', async () => {
    const root = makeProject({ 'T-001': taskText('T-001') })
    const { agent, sessions } = drivable(
      () => expect.fail('the agent works alone'),
      (request) => {
        write(request, 'a.txt')
        expect(read(root, 'a.txt')).toBeNull()
      },
    )
    const events = await runAll({
      root,
      options: { ...byHand, gates: [gateOf('test')] },
      ports: { ...doneBy(agent), terminal },
    })
    expect(sessions).toEqual(['new'])
    expect(those(events, 'taken-over')).toMatchObject([{ id: 'T-001', agent: 'fake', session: null }])
    expect(those(events, 'handed-back')).toMatchObject([{ id: 'T-001', code: 0, seconds: 2 }])
    expect(those(events, 'gate-finished')).toHaveLength(1)
    expect(those(events, 'task-completed')).toMatchObject([{ turns: null, cost: null }])
    const message = git(root, 'log', '-1', '--format=%B')
    expect(message).toContain('Agent: fake, by hand')
    expect(message).not.toMatch(/Turns|Cost|Tokens/)
    expect(read(root, 'a.txt')).toBe('a.txt\n')
    expect(status(root)).toBe('')
  })

  test('goes back in where a gate fails, with the same conversation and tree', async () => {
    const root = makeProject({ 'T-001': taskText('T-001') })
    const { agent, sessions } = drivable(
      () => undefined,
      (request, session) => write(request, session === 'new' ? 'a.txt' : 'b.txt'),
    )
    const asked: string[] = []
    const events = await runAll({
      root,
      options: { ...byHand, gates: [gateOf('test')] },
      gate: (_, cwd) => read(cwd, 'b.txt') !== null,
      ports: {
        ...doneBy(agent),
        terminal,
        ask: async ({ text, options }) => {
          asked.push(text)
          return options[0]!
        },
      },
    })
    expect(asked).toEqual([expect.stringMatching(/^test: .*Go back in\?$/)])
    expect(sessions).toEqual(['new', 'last'])
    expect(those(events, 'attempt-finished').map(({ outcome }) => outcome)).toEqual(['gate-failed', 'done'])
    expect(git(root, 'ls-files')).toMatch(/a\.txt\nb\.txt/)
    expect(git(root, 'show', 'refs/ralph/attempts/T-001/1:a.txt')).toBe('a.txt')
  })

  test('that is not gone on with is left as it was, with a record', async () => {
    const root = makeProject({ 'T-001': taskText('T-001') })
    const { agent, sessions } = drivable(
      () => expect.fail('the agent goes on alone'),
      (request) => write(request, 'a.txt'),
    )
    const events = await runAll({
      root,
      options: { ...byHand, gates: [gateOf('test')] },
      gate: () => false,
      ports: { ...doneBy(agent), terminal, ask: async ({ options }) => options[1]! },
    })
    expect(sessions).toEqual(['new'])
    expect(those(events, 'task-given-up')).toHaveLength(1)
    expect(read(root, 'a.txt')).toBeNull()
    expect(status(root)).toBe('')
    expect(git(root, 'show', 'refs/ralph/attempts/T-001/1:a.txt')).toBe('a.txt')
  })

  test('whose program crashed is no done work, though the gates would pass', async () => {
    const root = makeProject({ 'T-001': taskText('T-001') })
    const { agent } = drivable(
      () => undefined,
      (request) => {
        write(request, 'a.txt')
        return { end: { kind: 'crashed', reason: 'it exited with code 7' }, code: 7 }
      },
    )
    const events = await runAll({
      root,
      options: { ...byHand, gates: [gateOf('test')] },
      ports: { ...doneBy(agent), terminal, ask: async () => null },
    })
    expect(those(events, 'gate-finished')).toHaveLength(0)
    expect(those(events, 'attempt-finished')).toMatchObject([
      { outcome: 'agent-failed', reason: 'it exited with code 7' },
    ])
    expect(those(events, 'task-completed')).toHaveLength(0)
  })
})

describe('a task that is taken over', () => {
  /** An agent that works until it is ended. */
  const working =
    (begun: (request: AgentRequest) => void): Deed =>
    (request) =>
      new Promise((resolve) => {
        write(request, 'agent.txt')
        request.signal.addEventListener('abort', () => resolve({ end: { kind: 'interrupted' } }))
        begun(request)
      })

  test('goes on in the same tree and session, and the attempt of its agent does not count', async () => {
    const root = makeProject({ 'T-001': taskText('T-001') })
    const control = new Control()
    const { agent, sessions } = drivable(
      working(() => expect(control.takeOver('T-001')).toBeNull()),
      (request) => {
        expect(read(request.cwd, 'agent.txt')).toBe('agent.txt\n')
        write(request, 'hand.txt')
      },
    )
    const events = await runAll({
      root,
      options: { gates: [gateOf('test')] },
      ports: { ...doneBy(agent), terminal, control },
    })
    expect(sessions).toEqual([{ id: 'abc' }])
    expect(those(events, 'taken-over')).toMatchObject([{ session: 'abc' }])
    const [first, second] = those(events, 'attempt-finished')
    expect(first).toMatchObject({ outcome: 'taken-over', counted: 1, ref: 'refs/ralph/attempts/T-001/1' })
    expect(second).toMatchObject({ outcome: 'done', counted: 1 })
    expect(git(root, 'show', `${first!.ref}:agent.txt`)).toBe('agent.txt')
    expect(git(root, 'show', '--name-only', '--format=', 'HEAD')).toBe(
      'agent.txt\ndocs/tasks/T-001.md\nhand.txt',
    )
    expect(git(root, 'log', '-1', '--format=%B')).toContain('Attempts: 1')
  })

  test('and does not pass is an attempt like any other: its agent goes on', async () => {
    const root = makeProject({ 'T-001': taskText('T-001') })
    const control = new Control()
    let attempts = 0
    const { agent, sessions } = drivable(
      (request) => {
        if (++attempts > 1) return write(request, 'good.txt')
        return working(() => control.takeOver('T-001'))(request)
      },
      () => undefined,
    )
    const events = await runAll({
      root,
      options: { gates: [gateOf('test')] },
      gate: (_, cwd) => read(cwd, 'good.txt') !== null,
      ports: { ...doneBy(agent), terminal, control, ask: async ({ options }) => options[1]! },
    })
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
    const root = makeProject({ 'T-001': taskText('T-001') })
    const control = new Control()
    const said: (string | null)[] = [control.takeOver('T-001')]
    const deed: Deed = (request) => {
      said.push(control.takeOver('T-001'))
      write(request, 'a.txt')
    }
    const run = (terminalOfRun: RunPorts['terminal']) =>
      runAll({ root, deed, options: { loop: false }, ports: { terminal: terminalOfRun, control } })
    await run(null)
    git(root, 'reset', '--quiet', '--hard', 'HEAD~1')
    await run(terminal)
    said.push(control.takeOver('T-001'))
    expect(said).toEqual([
      'no agent is at work on T-001',
      'a task is taken over in the terminal of its run, and this run has none',
      'fake has no interactive program to take over with',
      'no agent is at work on T-001',
    ])
  })
})
