import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { git } from '../repository.ts'
import { expectAllLanded, gated, isType, start, those, type Going } from './machines.ts'
import { makeNetworks, serveGit, type Networks } from './networks.ts'
import { freePort, startPostgres, type TestServer } from './postgres.ts'

const networks = makeNetworks(3)
let server: TestServer | null = null
beforeAll(async () => {
  if (networks) server = await startPostgres(networks.host)
}, 240_000)
afterAll(() => {
  server?.remove()
  networks?.remove()
}, 240_000)

const CLOCK = fileURLToPath(new URL('clock.cjs', import.meta.url))

/** The environment of a machine whose clock is off by so many hours. */
function clockOff(hours: number): Record<string, string> {
  return { NODE_OPTIONS: `--require ${CLOCK}`, RALPH_TEST_CLOCK: String(hours * 3_600_000) }
}

const WHY = networks ? '' : ' (skipped: network namespaces need root, and ip)'

describe.runIf(networks)(`three workers in networks of their own${WHY}`, () => {
  it('land each task once, with one cut off and back, and their clocks hours apart', async () => {
    const { host, on, cut, join } = networks as Networks
    const { machines, open } = gated(6)
    const port = await freePort()
    const stop = await serveGit(machines.folder, { host, port })
    const url = server!.database()
    const at = machines.clone('run')
    const worker = (machine: number, hours: number): Going => {
      const clone = machines.clone(`machine-${machine}`)
      git(clone, 'remote', 'set-url', 'origin', `git://${host}:${port}/remote.git`)
      return start(clone, ['worker', '--queue', url], clockOff(hours), on(machine))
    }
    const run = start(at, ['run', '--loop', '--queue', url])
    const workers = [worker(0, 0), worker(1, 1), worker(2, -1)]
    try {
      for (const one of workers) await one.until(isType('agent-started'))
      // That of the fast clock is the one that is cut off.
      cut(1)
      await run.until((event) => event.type === 'worker-left' && event.why === 'lost')
      open()
      await run.until(isType('task-completed'))
      join(1)
      expect(await run.ended).toEqual({ code: 0, stderr: '' })
      expect(those(run, 'worker-left').filter(({ why }) => why === 'lost')).toHaveLength(1)
      expect(those(run, 'attempt-finished').filter(({ outcome }) => outcome === 'lost')).toHaveLength(1)
      expect(those(run, 'task-completed')).toHaveLength(6)
      // What it brings in the end is no work that waits: whoever looks next removes it.
      for (const { ended } of workers) await ended
      expect((await start(at, ['run', '--loop', '--queue', url]).ended).code).toBe(0)
      expectAllLanded(machines, at, 6)
    } finally {
      stop()
    }
  })
})
