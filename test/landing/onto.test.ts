import { expect, it } from 'vitest'
import type { RunEvent } from '../../src/events/event.ts'
import { Control } from '../../src/engine/control.ts'
import { runTasks } from '../../src/engine/run.ts'
import { asPerson } from '../git/bare-git.ts'
import { git, put } from '../git/repository.ts'
import { makeProject, taskText, those } from '../run/harness.ts'
import { gateOf, makePorts, OPTIONS } from '../run/ports.ts'

it.each([
  [2, 'T-1: Do T-1', ['landed']],
  [3, 'Mine', ['not-committed']],
])('a person who commits %i times just before a branch moves', async (times, top, results) => {
  const root = makeProject({ 'T-1': taskText('T-1') })
  let left = times
  const ports = await makePorts({ root, deed: ({ cwd }) => put(cwd, { work: '' }) })
  const { workspaces } = ports
  const events: RunEvent[] = []
  const trunk: typeof workspaces.trunk = (on) => {
    const made = workspaces.trunk(on)
    return {
      ...made,
      async publish(from, to) {
        if (left-- > 0) asPerson(() => git(root, 'commit', '-q', '--allow-empty', '-m', 'Mine'))
        return made.publish(from, to)
      },
    }
  }
  await runTasks(
    { ...OPTIONS, apart: { jobs: 1, branch: null }, gates: [gateOf('test')] },
    { ...ports, workspaces: { ...workspaces, trunk } },
    (event) => events.push(event),
  )
  expect(git(root, 'log', '-1', '--format=%s')).toBe(top)
  expect(git(root, 'rev-list', '--count', '--grep=Mine', 'HEAD')).toBe(String(times))
  expect(those(events, 'landing-finished').map(({ result }) => result)).toEqual(results)
})

it('an interrupt while the gates run again is no conflict: the work stays ready to land', async () => {
  const root = makeProject({ 'T-1': taskText('T-1') })
  const control = new Control()
  let checked = 0
  const ports = await makePorts({
    root,
    deed: ({ cwd }) => {
      put(cwd, { work: '' })
      put(cwd, { mine: '' })
      asPerson(() => git(cwd, 'add', 'mine'))
      asPerson(() => git(cwd, 'commit', '-q', '-m', 'Mine'))
    },
    gate: () => {
      if (++checked > 1) control.stop('clean')
      return true
    },
    ports: { control },
  })
  const events: RunEvent[] = []
  await runTasks({ ...OPTIONS, apart: { jobs: 1, branch: null }, gates: [gateOf('test')] }, ports, (event) =>
    events.push(event),
  )
  expect(checked).toBe(2)
  expect(those(events, 'landing-finished').map(({ result }) => result)).toEqual(['not-committed'])
  expect(git(root, 'for-each-ref', '--format=%(refname)', 'refs/ralph/candidates')).toMatch(/\/T-1\/1-/)
  expect(git(root, 'log', '-1', '--format=%s')).toBe('Mine')
})
