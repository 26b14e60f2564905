import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runTasks } from '../../src/engine/run.ts'
import type { RunEvent } from '../../src/events/event.ts'
import { asPerson } from '../git/bare-git.ts'
import { git, put } from '../git/repository.ts'
import { makeProject, taskText, those } from '../run/harness.ts'
import { gateOf, makePorts, OPTIONS } from '../run/ports.ts'

it.each([
  [2, 'T-1: Do T-1', 'done'],
  [3, 'Mine', 'interrupted'],
])('a person who commits %i times just before a landing', async (times, top, outcome) => {
  const root = makeProject({ 'T-1': taskText('T-1') })
  let checked = 0
  const ports = await makePorts({
    root,
    deed: ({ cwd }) => put(cwd, { work: '' }),
    gate: () => {
      checked++
      return true
    },
  })
  const { record } = ports.workspace
  const land = record.land.bind(record)
  let left = times
  record.land = (commit) => {
    if (left-- > 0) asPerson(() => git(root, 'commit', '-q', '--allow-empty', '-m', 'Mine'))
    return land(commit)
  }
  const events: RunEvent[] = []
  await runTasks({ ...OPTIONS, gates: [gateOf('test')], baseline: 'off' }, ports, (event) =>
    events.push(event),
  )
  expect(git(root, 'log', '-1', '--format=%s')).toBe(top)
  expect(those(events, 'attempt-finished').map((one) => one.outcome)).toEqual([outcome])
  // Once after the agent, and again on each commit that it is to land upon.
  expect(checked).toBe(1 + times)
})

it('the commit has the duration, the attempts and the usage of all that the task took', async () => {
  const root = makeProject({ 'T-1': taskText('T-1') })
  let clock = Date.parse('2026-01-01T00:00:00Z')
  let checked = 0
  const ports = await makePorts({
    root,
    deed: ({ cwd, task }) => {
      clock += task.attempt * 60_000
      put(cwd, { work: `${task.attempt}` })
      return { usage: { turns: task.attempt, costUsd: 0.5 } }
    },
    gate: () => ++checked > 1,
    ports: { now: () => new Date(clock) },
  })
  await runTasks({ ...OPTIONS, gates: [gateOf('test')], baseline: 'off' }, ports, () => undefined)
  const keys = ['Duration', 'Attempts', 'Turns', 'Cost']
  const format = keys.map((key) => `%(trailers:key=${key},separator=)`).join('%n')
  expect(git(root, 'log', '-1', `--format=${format}`).split('\n')).toEqual([
    'Duration: 3m',
    'Attempts: 2',
    'Turns: 3',
    'Cost: $1.00',
  ])
})

it.skipIf(process.platform === 'win32')('a hook that refuses the commit is named as what did', async () => {
  const root = makeProject({ 'T-1': taskText('T-1') })
  mkdirSync(join(root, '.git/hooks'), { recursive: true })
  writeFileSync(join(root, '.git/hooks/pre-commit'), '#!/bin/sh\necho no >&2\nexit 1\n', { mode: 0o755 })
  const ports = await makePorts({ root, deed: ({ cwd }) => put(cwd, { work: '' }) })
  const events: RunEvent[] = []
  await runTasks({ ...OPTIONS, retries: 0, onFailure: 'stop' }, ports, (event) => events.push(event))
  const [finished] = those(events, 'attempt-finished')
  expect(finished).toMatchObject({ reason: 'a git hook refused the commit', detail: 'no' })
})
