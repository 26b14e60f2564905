import { describe, expect, it } from 'vitest'
import { Control } from '../../src/engine/control.ts'
import type { RunEvent } from '../../src/engine/events/event.ts'
import { git, put } from '../repository.ts'
import { log, makeProject, read, runAll, those, trailer } from './harness.ts'
import { gateOf, type Harness } from './ports.ts'

/** One attempt at one task, after which three gates run. */
async function attempt(gate: NonNullable<Harness['gate']>, control = new Control()) {
  const root = makeProject()
  const events = await runAll({
    root,
    deed: ({ cwd }) => put(cwd, { work: '1' }),
    options: { gates: [gateOf('a'), gateOf('b', { required: false }), gateOf('c')], retries: 0 },
    ports: { control },
    gate,
  })
  return { root, events, ended: those(events, 'attempt-finished')[0] }
}

const progress = (events: readonly RunEvent[]) =>
  events.flatMap((event) => {
    if (event.type === 'gate-started') return [`${event.gate.name} begins`]
    return event.type === 'gate-finished' ? [`${event.result.gate.name} ${event.result.verdict}`] : []
  })

describe('the gates', () => {
  it('run in their order, also after one has failed, so that an agent hears of all that is wrong', async () => {
    const { root, events, ended } = await attempt(({ name }) => ({
      verdict: name === 'b' ? 'passed' : 'failed',
      reason: 'exited with code 1',
      excerpt: name === 'a' ? 'AssertionError: 2 is not 3\n    at x.ts:3:4\n1 failed' : '',
    }))
    expect(progress(events)).toEqual(['a begins', 'a failed', 'b begins', 'b passed', 'c begins', 'c failed'])
    // With the line of the output that says most.
    const reason = 'a: exited with code 1: AssertionError: 2 is not 3; c: exited with code 1'
    expect(ended).toMatchObject({ outcome: 'gate-failed', reason })
    expect(trailer(root, 'Blocked')).toContain(reason)
  })

  it.each(['interrupted', 'passed'] as const)(
    'end with an interruption, and those that were to come do not run: %s',
    async (verdict) => {
      const control = new Control()
      const { root, events, ended } = await attempt(({ name }) => {
        if (verdict === 'interrupted' || name === 'c') control.stop('clean')
        return { verdict }
      }, control)
      expect(progress(events).at(-1)).toBe(verdict === 'passed' ? 'c passed' : 'a interrupted')
      expect(ended).toMatchObject({ outcome: 'interrupted' })
      expect([log(root), git(root, 'for-each-ref', 'refs/ralph/candidates')]).toEqual(['Begin', ''])
    },
  )
})

describe('gates with paths', () => {
  const api = gateOf('api', { paths: ['packages/api'] })
  const web = gateOf('web', { paths: ['packages/web/**', '*.css'] })
  const PACKAGES = { 'packages/api/a.js': '1', 'packages/web/a.js': '1', 'a.css': '' }
  const gates = [gateOf('all'), api, web]
  const names = (events: readonly RunEvent[]) =>
    those(events, 'gate-finished').map(({ result }) => result.gate.name)

  it('run only where something in these paths has changed', async () => {
    const root = makeProject(1, PACKAGES)
    const events = await runAll({
      root,
      deed: ({ cwd }) => put(cwd, { 'packages/api/b.js': '2' }),
      options: { gates },
    })
    expect(names(events)).toEqual(['all', 'api'])
    expect(those(events, 'gates-skipped')).toMatchObject([{ id: 'T-1', gates: ['web'] }])
    expect(trailer(root, 'Gates')).not.toContain('web')
  })

  it('run on what another gate has changed, too', async () => {
    const root = makeProject(1, PACKAGES)
    const events = await runAll({
      root,
      deed: ({ cwd }) => put(cwd, { 'packages/api/b.js': '2' }),
      options: { gates },
      gate: (_, cwd) => (put(cwd, { 'a.css': 'a {}' }), true),
    })
    expect(names(events)).toEqual(['all', 'api', 'all', 'api', 'web'])
  })

  it('run at a landing where either side has changed something', async () => {
    const root = makeProject(2, PACKAGES)
    const begun = new Set<string>()
    const events = await runAll({
      root,
      deed: async ({ cwd, task }) => {
        put(cwd, { [task.id === 'T-1' ? 'packages/api/b.js' : 'packages/web/b.js']: '2' })
        begun.add(task.id)
        while (begun.size < 2) await new Promise((resolve) => setTimeout(resolve, 5))
      },
      options: { gates, jobs: 2 },
    })
    const landings = those(events, 'landing-started').map((event) => events.indexOf(event))
    expect(names(events.slice(landings[1]))).toEqual(['all', 'api', 'web'])
  })

  it('are no test gate of work that they do not look at', async () => {
    const root = makeProject(
      { 'T-1': `# T-1: Do\n\n- **Status**: TODO\n- **Depends**: none\n- **Produces**: b.txt\n` },
      PACKAGES,
    )
    const events = await runAll({
      root,
      deed: ({ cwd }) => (put(cwd, { 'b.txt': '' }), { end: { kind: 'no-marker' } }),
      options: { gates: [{ ...api, command: 'npm test' }], retries: 0 },
    })
    expect(those(events, 'attempt-finished')).toMatchObject([{ outcome: 'no-marker' }])
    expect(read(root, 'b.txt')).toBeNull()
  })

  it('must be able to run', async () => {
    const options = { gates: [gateOf('api', { paths: ['packages/api/**', 'pakages/shared/**'] })] }
    await expect(runAll({ root: makeProject(1, PACKAGES), options })).rejects.toThrow(
      'paths of the gate api matches no file of the last commit: pakages/shared/**',
    )
  })
})
