import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENV, makeFolder } from '../repository.ts'
import { random } from '../select/simulator.ts'
import { expectAllLanded, makeMachines, PROGRAM, start, type Going } from './machines.ts'
import { startPostgres, type TestServer } from './postgres.ts'

let server: TestServer
beforeAll(async () => {
  const started = await startPostgres()
  if (!started) throw new Error('these tests need the binaries of Postgres (apt-get install postgresql)')
  server = started
}, 240_000)
afterAll(() => server?.remove(), 240_000)

/** How many processes are killed in each run; each seed is another run. */
const KILLS = Number(process.env['RALPH_QUEUE_KILLS'] ?? 12)
const SEEDS = (process.env['RALPH_QUEUE_SEEDS'] ?? '1,2').split(',').map(Number)
const TASKS = 8

describe('a run whose workers are killed at any instant, and once in a while itself', () => {
  it.each(SEEDS)('lands each task once, and loses nothing (seed %i)', { timeout: 900_000 }, async (seed) => {
    const chance = random(seed)
    const ids = Array.from({ length: TASKS }, (_, index) => `T-${String(index + 1).padStart(3, '0')}`)
    // The last one waits until all the killing is done.
    const go = join(makeFolder(), 'go')
    const work = (id: string): string =>
      id === ids.at(-1) ? `until test -e ${go}; do sleep 0.1; done` : 'sleep 0.5'
    const machines = makeMachines(
      Object.fromEntries(ids.map((id) => [id, `${work(id)}; echo ${id} > ${id}.txt`])),
      { config: { queue: { heartbeat: '1s', lost: '4s', workerTimeout: '60s' } } },
    )
    const url = server.database()
    const at = machines.clone('run')
    const clones = ['first', 'second', 'third'].map((name) => machines.clone(name))
    const startRun = (): Going => start(at, ['run', '--loop', '--queue', url])
    const startWorker = (clone: string): Going => start(clone, ['worker', '--queue', url])
    let run = startRun()
    const workers = clones.map(startWorker)
    for (let kills = 0; kills < KILLS; kills++) {
      await new Promise((resolve) => setTimeout(resolve, chance() * 4000))
      const index = Math.floor(chance() * (workers.length + 0.5))
      const one = workers[index] ?? run
      one.child.kill('SIGKILL')
      await one.ended
      if (one === run) run = startRun()
      else workers[index] = startWorker(clones[index]!)
    }
    writeFileSync(go, '')
    await run.ended
    // A task that loses three workers in a row is given up, because it may be what ends them.
    const isGivenUp = (id: string): boolean =>
      readFileSync(join(at, `docs/tasks/${id}.md`), 'utf8').includes('BLOCKED')
    const givenUp = ids.filter(isGivenUp)
    for (const id of givenUp) execFileSync(process.execPath, [PROGRAM, 'retry', id], { cwd: at, env: ENV })
    run = startRun()
    expect(await run.ended).toEqual({ code: 0, stderr: '' })
    expectAllLanded(machines, at, TASKS)
  })
})
