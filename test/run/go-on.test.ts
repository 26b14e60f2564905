import { describe, expect, it } from 'vitest'
import type { AgentEnd, AgentRequest } from '../../src/agents/port.ts'
import type { RunPorts } from '../../src/engine/ports.ts'
import { Control } from '../../src/engine/control.ts'
import { UNKNOWN_USAGE } from '../../src/base/usage.ts'
import { git, put } from '../repository.ts'
import { log, makeProject, read, runAll, taskText, those } from './harness.ts'
import { agentOf, doneBy, gateOf, type Deed } from './ports.ts'

const limit: AgentEnd = { kind: 'rate-limited', reason: 'the limit of five hours', until: null }
/** Waits pass at once. */
function quick(): Pick<RunPorts, 'now' | 'sleep'> {
  let clock = Date.now()
  return { now: () => new Date(clock), sleep: async (ms) => void (clock += ms) }
}

/** What an agent was asked, call by call. */
function asked(...deeds: readonly Deed[]): { readonly requests: AgentRequest[]; readonly deed: Deed } {
  const requests: AgentRequest[] = []
  return { requests, deed: (request) => deeds[Math.min(requests.push(request), deeds.length) - 1]!(request) }
}

const begins: Deed = ({ cwd }) => put(cwd, { 'src/half.ts': 'export {}\n' })
const ends: Deed = ({ cwd }) => put(cwd, { 'src/whole.ts': 'export {}\n' })

/** A project whose run was stopped in the middle of its task. */
async function stoppedRun(): Promise<string> {
  const root = makeProject()
  const control = new Control()
  await runAll({
    root,
    deed: async (request) => {
      await begins(request)
      control.stop('clean')
      return { end: { kind: 'interrupted' }, session: 's-1' }
    },
    ports: { control },
  })
  return root
}

describe('an agent that is cut off in the middle', () => {
  it('goes on in its conversation, with the files as it left them', async () => {
    const root = makeProject()
    const usage = { inputTokens: 60, costUsd: 0.5 }
    const { requests, deed } = asked(async (request) => {
      await begins(request)
      return { end: limit, session: 's-1', usage }
    }, ends)
    const events = await runAll({ root, deed, ports: quick() })
    expect(requests.map(({ resume }) => resume)).toEqual([
      undefined,
      { session: 's-1', used: { ...UNKNOWN_USAGE, ...usage } },
    ])
    expect(requests[1]!.prompt).toContain('You were stopped in the middle of your work')
    expect(requests[1]!.prompt).toContain('the limit of five hours')
    expect([read(root, 'src/half.ts'), read(root, 'src/whole.ts')]).toEqual(['export {}\n', 'export {}\n'])
    expect(those(events, 'task-completed')).toMatchObject([{ attempts: 1 }])
  })

  it('begins anew where its conversation is gone, and nothing counts against the task', async () => {
    const root = makeProject()
    const { requests, deed } = asked(
      () => ({ end: limit, session: 's-1' }),
      () => ({ end: { kind: 'crashed', reason: 'no such conversation' }, toolCalls: 0 }),
      ends,
    )
    const events = await runAll({ root, deed, ports: quick(), options: { retries: 0 } })
    expect(requests.map(({ resume }) => resume?.session)).toEqual([undefined, 's-1', undefined])
    expect(those(events, 'run-finished')).toMatchObject([{ completed: ['T-1'] }])
  })

  it('leaves its conversation where another agent goes on', async () => {
    const root = makeProject()
    const later = new Date(Date.now() + 3_600_000)
    const { requests, deed } = asked(ends)
    const first = agentOf(async (request) => {
      await begins(request)
      return { end: { ...limit, until: later }, session: 's-1' }
    }, 'first')
    await runAll({ root, ports: doneBy(first, agentOf(deed, 'second')) })
    expect(requests.map(({ resume }) => resume)).toEqual([undefined])
    expect(log(root)).toContain('T-1: Do T-1')
  })

  it('goes on in the next run too, as long as nothing has landed since', async () => {
    const root = await stoppedRun()
    expect(
      git(root, 'log', '-1', '--format=%(trailers:key=Session,valueonly)', 'refs/ralph/attempts/T-1/1'),
    ).toBe('s-1')
    const { requests, deed } = asked(ends)
    await runAll({ root, deed })
    expect(requests.map(({ resume }) => resume?.session)).toEqual(['s-1'])
    expect([read(root, 'src/half.ts'), read(root, 'src/whole.ts')]).toEqual(['export {}\n', 'export {}\n'])
  })

  it('does not go on in the next run where the branch has moved', async () => {
    const root = await stoppedRun()
    git(root, 'commit', '-q', '--allow-empty', '-m', 'Meanwhile')
    const { requests, deed } = asked(ends)
    await runAll({ root, deed })
    expect(requests.map(({ resume }) => resume)).toEqual([undefined])
    expect(read(root, 'src/half.ts')).toBeNull()
  })
})

describe('an agent that ends without a word on its task', () => {
  const silent = { end: { kind: 'no-marker' }, message: 'All 14 tests pass now.', session: 's-1' } as const

  it('is asked once, in the same conversation', async () => {
    const root = makeProject()
    const { requests, deed } = asked(
      async (request) => {
        await ends(request)
        request.log(Buffer.from('worked\n'), 'stdout')
        return { ...silent, usage: { inputTokens: 10 } }
      },
      (request) => {
        request.log(Buffer.from('answered\n'), 'stdout')
        return { message: 'Yes.', session: 's-1', usage: { inputTokens: 2 } }
      },
    )
    const events = await runAll({ root, deed, options: { maxTokens: 100 } })
    expect(requests.map(({ limits }) => limits.tokens)).toEqual([100, 90])
    expect(those(events, 'agent-usage').map(({ usage }) => usage.inputTokens)).toEqual([10, 12])
    expect(requests[1]!.resume?.session).toBe('s-1')
    expect(requests[1]!.prompt).toContain('is it done, or what keeps you from doing it?')
    expect(those(events, 'attempt-started')).toHaveLength(1)
    expect(those(events, 'task-completed')).toMatchObject([{ attempts: 1, usage: { inputTokens: 12 } }])
    expect(read(root, 'docs/tasks/T-1.md')).toContain('All 14 tests pass now.')
    expect(read(root, '.ralph/logs/T-1-1.log')).toBe('worked\nanswered\n')
    expect(git(root, 'log', '-1', '--format=%(trailers:key=Unsaid)')).toBe('')
  })

  it('is not asked where nothing has changed', async () => {
    const { requests, deed } = asked(() => silent)
    await runAll({ root: makeProject(), deed, options: { retries: 0 } })
    expect(requests).toHaveLength(1)
  })

  const produces = { 'T-1': taskText('T-1', { rest: '\n## Produces\n- `src/whole.ts`\n' }) }

  it('has done its task if the tests pass and what it is to produce is there, and the commit says so', async () => {
    const root = makeProject(produces)
    const deed: Deed = async (request) => {
      if (request.resume) return { ...silent, message: '?' }
      await ends(request)
      return silent
    }
    await runAll({ root, deed, gate: async () => true })
    expect(git(root, 'log', '-1', '--format=%(trailers:key=Unsaid,valueonly)')).toBe('yes')
    expect(git(root, 'log', '-1', '--format=%b')).toContain('The agent did not say that the task is done.')
  })

  it.each([
    ['without a gate that runs tests', { root: () => makeProject(produces), gates: [gateOf('format')] }],
    ['without a path to produce', { root: () => makeProject(), gates: [gateOf('test')] }],
  ])(
    'has not done its task %s; its last message is quoted to the next attempt',
    async (_, { root, gates }) => {
      const at = root()
      const deed: Deed = async (request) => {
        await ends(request)
        return { end: silent.end, message: silent.message }
      }
      const events = await runAll({ root: at, deed, options: { gates, retries: 0 }, gate: async () => true })
      expect(those(events, 'attempt-finished')).toMatchObject([{ outcome: 'no-marker' }])
      const kept = git(at, 'log', '-1', '--format=%B', 'refs/ralph/attempts/T-1/1')
      expect(kept).toContain('Its last message:\nAll 14 tests pass now.')
    },
  )
})
