import { expect, it } from 'vitest'
import { Control } from '../../src/engine/control.ts'
import { commit, git, put } from '../repository.ts'
import { log, makeProject, runAll, status, those } from '../run/harness.ts'

const candidates = (root: string): string =>
  git(root, 'for-each-ref', '--format=%(refname)', 'refs/ralph/candidates')

it.each([
  [4, 'T-1: Do T-1', 'landed'],
  [5, 'Mine', 'not-committed'],
])('a person who commits %i times just before the branch moves', async (times, top, result) => {
  const root = makeProject()
  let [checked, moved] = [0, 0]
  const events = await runAll({
    root,
    deed: ({ cwd }) => put(cwd, { work: '' }),
    gate: () => ++checked > 0,
    ports: {
      checkpoint: (at) => {
        if (at === 'committed' && moved++ < times) commit(root, 'Mine', { [`mine-${moved}`]: '' })
      },
    },
  })
  expect(git(root, 'log', '-1', '--format=%s')).toBe(top)
  expect(git(root, 'rev-list', '--count', '--grep=Mine', 'HEAD')).toBe(String(times))
  expect(status(root)).toBe('')
  expect(those(events, 'landing-finished').map((one) => one.result)).toEqual([result])
  // Once after the agent, and again on each commit that it is to land upon.
  expect(checked).toBe(result === 'landed' ? 1 + times : times)
  expect(candidates(root) === '').toBe(result === 'landed')
})

it('an interrupt while the gates run again is no conflict: the work waits, and the next run lands it', async () => {
  const root = makeProject()
  const control = new Control()
  let checked = 0
  const events = await runAll({
    root,
    deed: ({ cwd }) => {
      put(cwd, { work: '' })
      commit(root, 'Mine', { mine: '' })
    },
    gate: () => {
      if (++checked > 1) control.stop('clean')
      return true
    },
    ports: { control },
  })
  expect(checked).toBe(2)
  expect(those(events, 'landing-finished').map(({ result }) => result)).toEqual(['not-committed'])
  expect(candidates(root)).toMatch(/\/T-1\/1-/)
  expect(git(root, 'log', '-1', '--format=%s')).toBe('Mine')
  await runAll({ root, deed: () => expect.unreachable() })
  expect(git(root, 'log', '-1', '--format=%s')).toBe('T-1: Do T-1')
  expect(candidates(root)).toBe('')
})

it('the commit has the duration, the attempts and the usage of all that the task took', async () => {
  const root = makeProject()
  let clock = Date.parse('2026-01-01T00:00:00Z')
  let checked = 0
  await runAll({
    root,
    deed: ({ cwd, task }) => {
      clock += task.attempt * 60_000
      put(cwd, { work: `${task.attempt}` })
      return { usage: { turns: task.attempt, costUsd: 0.5 } }
    },
    gate: () => ++checked > 1,
    ports: { now: () => new Date(clock) },
  })
  const keys = ['Duration', 'Attempts', 'Turns', 'Cost']
  const format = keys.map((key) => `%(trailers:key=${key},separator=)`).join('%n')
  expect(git(root, 'log', '-1', `--format=${format}`).split('\n')).toEqual([
    'Duration: 3m',
    'Attempts: 2',
    'Turns: 3',
    'Cost: $1.00',
  ])
})

it('a task lands where a git that was killed has left the index of a commit to be made, and its lock', async () => {
  const root = makeProject()
  put(root, { '.git/ralph-index-made': 'half', '.git/ralph-index-made.lock': '' })
  await runAll({ root, deed: ({ cwd }) => put(cwd, { work: '' }) })
  expect(log(root)).toBe('T-1: Do T-1\nBegin')
})
