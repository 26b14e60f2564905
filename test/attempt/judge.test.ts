import { describe, expect, it } from 'vitest'
import { Control } from '../../src/engine/control.ts'
import { git, put } from '../git/repository.ts'
import { makeProject, read, runAll, taskText, those } from '../run/harness.ts'
import { gateOf } from '../run/ports.ts'

const gates = [gateOf('test')]
const producing = (...paths: readonly string[]): string =>
  taskText('T-1', { rest: `\n## Produces\n${paths.map((path) => `- \`${path}\`\n`).join('')}` })

describe('what a task is to produce', () => {
  it.each([
    ['files of a folder', 'src/*.ts', true],
    ['files of a folder further down', 'src/deep/*.{ts,js}', true],
    ['files at the top', '*.md', true],
    ['files of a folder that is not there', 'lib/*.ts', false],
  ])('may be %s, as a pattern', async (_, path, isThere) => {
    const root = makeProject({ 'T-1': producing(path) })
    const events = await runAll({
      root,
      options: { gates, retries: 0 },
      deed: ({ cwd }) => put(cwd, { 'src/deep/a.ts': '' }),
    })
    const [attempt] = those(events, 'attempt-finished')
    expect(attempt?.outcome).toBe(isThere ? 'done' : 'missing-output')
    if (!isThere) expect(attempt?.reason).toContain(path)
  })
})

describe('gates', () => {
  it('have no say in task files, whatever else they format', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2') })
    const before = read(root, 'docs/tasks/T-2.md')
    const events = await runAll({
      root,
      options: { gates, maxTasks: 1 },
      deed: ({ cwd }) => put(cwd, { work: 'raw' }),
      gate: (_, cwd) => {
        put(cwd, { 'docs/tasks/T-2.md': `${before}\nMore.\n`, work: 'formatted', 'coverage.txt': '99%' })
        return true
      },
    })
    expect(those(events, 'gates-again')).toMatchObject([{ paths: ['work'] }])
    expect(git(root, 'show', '--name-only', '--format=%s', 'HEAD').split(/\n+/)).toEqual([
      'T-1: Do T-1',
      'docs/tasks/T-1.md',
      'work',
    ])
    expect(read(root, 'work')).toBe('formatted')
    expect(read(root, 'docs/tasks/T-2.md')).toBe(before)
  })

  it('that change what they check each time pass nothing', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    let times = 0
    const events = await runAll({
      root,
      options: { gates, retries: 0, onFailure: 'stop' },
      deed: ({ cwd }) => put(cwd, { work: '' }),
      gate: (_, cwd) => {
        put(cwd, { work: `${++times}` })
        return true
      },
    })
    expect(those(events, 'attempt-finished')).toMatchObject([
      { outcome: 'gate-failed', reason: 'the gates change what they check: work' },
    ])
    expect(times).toBe(2)
    expect(git(root, 'log', '--format=%s')).toBe('Begin')
  })

  it.each([
    ['AssertionError: expected 2 to be 3\n    at x.ts:3:4\n1 failed', 'AssertionError: expected 2 to be 3'],
    ['checking\n2 errors\nDone in 3s', '2 errors'],
    ['  3:5 \terror  no\tuse', '3:5 error no use'],
    [`error: ${'x'.repeat(200)}`, `error: ${'x'.repeat(112)}…`],
  ])('that fail give as the reason the line of their output that says most: %j', async (excerpt, line) => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    const both = [...gates, gateOf('lint')]
    const events = await runAll({
      root,
      options: { gates: both, retries: 0 },
      deed: ({ cwd }) => put(cwd, { work: '' }),
      gate: ({ name }) => ({
        verdict: 'failed',
        reason: 'exited with code 1',
        excerpt: name === 'test' ? excerpt : '',
      }),
    })
    const reason = `test: exited with code 1: ${line}; lint: exited with code 1`
    expect(those(events, 'attempt-finished')).toMatchObject([{ outcome: 'gate-failed', reason }])
    expect(git(root, 'log', '-1', '--format=%(trailers:key=Blocked,valueonly)').trim()).toContain(reason)
  })

  it('that pass while the run is being ended pass nothing either', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    const control = new Control()
    const events = await runAll({
      root,
      options: { gates },
      ports: { control },
      deed: ({ cwd }) => put(cwd, { work: '' }),
      gate: () => {
        control.stop('clean')
        return true
      },
    })
    expect(those(events, 'attempt-finished')).toMatchObject([{ outcome: 'interrupted' }])
    expect(git(root, 'log', '--format=%s')).toBe('Begin')
  })
})
