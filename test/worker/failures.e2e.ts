import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commit, git, makeFolder, put } from '../repository.ts'
import { expectAllLanded, gated, isType, makeMachines, start, those } from './machines.ts'
import { startPostgres, type TestServer } from './postgres.ts'

let server: TestServer
beforeAll(async () => {
  const started = await startPostgres()
  if (!started) throw new Error('these tests need the binaries of Postgres (apt-get install postgresql)')
  server = started
}, 240_000)
afterAll(() => server?.remove(), 240_000)

/** Tasks that wait for the test, a clone for the run, and a queue of their own. */
function site(count: number) {
  const { machines, open } = gated(count)
  const [url, at] = [server.database(), machines.clone('run')]
  return {
    machines,
    open,
    at,
    startRun: (from = at) => start(from, ['run', '--loop', '--queue', url]),
    startWorker: (clone: string, ...more: readonly string[]) =>
      start(clone, ['worker', '--queue', url, ...more]),
  }
}

describe('a worker', () => {
  it.each(['attempt-started', 'agent-started', 'gate-started', 'candidate-ready'] as const)(
    'that is killed at %s loses its job to another, once',
    async (phase) => {
      const { machines, open, at, startRun, startWorker } = site(3)
      const [first, second] = [machines.clone('first'), machines.clone('second')]
      const run = startRun()
      const dying = startWorker(first)
      await dying.until(isType('agent-started'))
      if (phase === 'gate-started' || phase === 'candidate-ready') open()
      await dying.until(isType(phase))
      dying.child.kill('SIGKILL')
      open()
      startWorker(second, '--jobs', '2')
      expect(await run.ended).toEqual({ code: 0, stderr: '' })
      expectAllLanded(machines, at, 3)
    },
  )

  it('that was cut off and comes back lands nothing, and goes on with other jobs', async () => {
    const { machines, open, at, startRun, startWorker } = site(1)
    const [first, second] = [machines.clone('first'), machines.clone('second')]
    const run = startRun()
    const late = startWorker(first)
    await run.until(isType('agent-started'))
    late.child.kill('SIGSTOP')
    await run.until((event) => event.type === 'worker-left' && event.why === 'lost')
    const other = startWorker(second)
    await other.until(isType('agent-started'))
    open()
    await run.until(isType('task-completed'))
    late.child.kill('SIGCONT')
    expect((await run.ended).code).toBe(0)
    await late.until(isType('warning'))
    expectAllLanded(machines, at, 1)
    expect(those(run, 'attempt-finished').map(({ outcome }) => outcome)).toEqual(['lost', 'done'])
    expect(git(machines.remote, 'log', '-1', '--format=%s', 'refs/ralph/attempts/T-001/1')).toContain('lost')
  })

  it('that somebody ends records its attempt, and another goes on from there', async () => {
    const go = join(makeFolder(), 'go')
    const machines = makeMachines({
      'T-001': `test -e half || echo half > half; until test -e ${go}; do sleep 0.1; done; echo done > whole`,
    })
    const [at, first, second] = [machines.clone('run'), machines.clone('first'), machines.clone('second')]
    const url = server.database()
    const run = start(at, ['run', '--loop', '--queue', url])
    const ending = start(first, ['worker', '--queue', url])
    await run.until(isType('agent-started'))
    ending.child.kill('SIGINT')
    expect((await ending.ended).code).toBe(130)
    start(second, ['worker', '--queue', url])
    await run.until((event) => event.type === 'attempt-started' && event.attempt === 2)
    writeFileSync(go, '')
    expect((await run.ended).code).toBe(0)
    expect(git(machines.remote, 'show', 'refs/ralph/attempts/T-001/1:half')).toBe('half')
    expectAllLanded(machines, at, 1)
  })

  it('that cannot work gives the job back, says why, and ends', async () => {
    const { machines, open, at, startRun, startWorker } = site(1)
    open()
    const [first, second] = [machines.clone('first'), machines.clone('second')]
    const hook = join(machines.remote, 'hooks/update')
    writeFileSync(hook, '#!/bin/sh\ncase "$1" in refs/ralph/*) echo "no refs of ralph here"; exit 1;; esac\n')
    chmodSync(hook, 0o755)
    const run = startRun()
    const refused = await startWorker(first).ended
    expect(refused).toEqual({ code: 2, stderr: expect.stringContaining('no refs of ralph here') })
    const warning = await run.until(isType('warning'))
    expect(warning).toMatchObject({ message: expect.stringContaining('gave T-001 back') })
    writeFileSync(hook, '#!/bin/sh\nexit 0\n')
    startWorker(second)
    expect((await run.ended).code).toBe(0)
    expectAllLanded(machines, at, 1)
  })

  it('of a shallow clone fetches what it lacks, and of another repository says so', async () => {
    const { machines, open, at, startRun, startWorker } = site(2)
    open()
    const seed = machines.clone('seed2')
    for (const name of ['a', 'b']) {
      put(seed, { [name]: name })
      git(seed, 'add', '-A')
      git(seed, 'commit', '-q', '-m', name)
    }
    git(seed, 'push', '-q')
    const shallow = join(machines.folder, 'shallow')
    git(machines.folder, 'clone', '-q', '--depth', '1', `file://${machines.remote}`, shallow)
    const stranger = makeMachines({ 'T-001': 'true' }).clone('stranger')
    const run = startRun()
    const wrong = await startWorker(stranger).ended
    expect(wrong).toEqual({ code: 2, stderr: expect.stringContaining('origin/main does not hold') })
    git(shallow, 'config', 'user.name', 'Shallow')
    git(shallow, 'config', 'user.email', 'shallow@example.com')
    startWorker(shallow)
    expect((await run.ended).code).toBe(0)
    expect(git(at, 'log', '--format=%s')).toContain('T-002: Do T-002')
  })

  it('with labels does what has them, and the run says what nobody takes', async () => {
    const machines = makeMachines(
      { 'T-001': 'echo 1 > one', 'T-002': 'echo 2 > two' },
      {
        fields: {
          'T-001': '- **Depends**: none\n- **Tags**: web',
          'T-002': '- **Depends**: none\n- **Tags**: api',
        },
        config: { queue: { heartbeat: '1s', lost: '4s', workerTimeout: '2s' } },
      },
    )
    const [at, first, second] = [machines.clone('run'), machines.clone('first'), machines.clone('second')]
    const url = server.database()
    const run = start(at, ['run', '--loop', '--queue', url])
    const api = start(first, ['worker', '--queue', url, '--label', 'api,nobody'])
    await run.until(isType('task-completed'))
    expect(those(run, 'task-completed')).toMatchObject([{ id: 'T-002' }])
    const said = await run.until((event) => event.type === 'warning' && event.message.includes('takes T-001'))
    expect(said).toMatchObject({ message: expect.stringContaining('no worker has come that takes T-001') })
    start(second, ['worker', '--queue', url, '--label', 'light'])
    expect((await run.ended).code).toBe(0)
    expect(those(api, 'attempt-started')).toHaveLength(1)
  })
})

describe('a run with a queue', () => {
  it('that is killed lands from another clone what had passed', async () => {
    const { machines, open, startRun, startWorker } = site(2)
    const [elsewhere, worker] = [machines.clone('other'), machines.clone('worker')]
    const first = startRun()
    const working = startWorker(worker, '--jobs', '2')
    await first.until((event) => event.type === 'agent-started' && event.id === 'T-002')
    first.child.kill('SIGKILL')
    open()
    await working.until((event) => event.type === 'candidate-ready' && event.id === 'T-002')
    const second = startRun(elsewhere)
    expect((await second.ended).code).toBe(0)
    expect(those(working, 'attempt-started')).toHaveLength(2)
    expectAllLanded(machines, elsewhere, 2)
  })

  it('lands on what others have pushed meanwhile, and ends where the two have gone apart', async () => {
    const { machines, open, at, startRun, startWorker } = site(2)
    const [person, worker] = [machines.clone('person'), machines.clone('worker')]
    const run = startRun()
    startWorker(worker)
    await run.until(isType('agent-started'))
    commit(person, 'Theirs', { 'theirs.txt': 'theirs' })
    git(person, 'push', '-q')
    open()
    expect((await run.ended).code).toBe(0)
    expect(git(at, 'log', '--format=%s')).toMatch(/^T-002: Do T-002\nT-001: Do T-001\nTheirs\nBegin$/)
    expect(git(machines.remote, 'rev-parse', 'main')).toBe(git(at, 'rev-parse', 'main'))
    commit(at, 'Ours', { 'ours.txt': 'ours' })
    git(person, 'pull', '-q')
    git(person, 'commit', '-q', '--allow-empty', '-m', 'Also theirs')
    git(person, 'push', '-q')
    const apart = await startRun().ended
    expect(apart).toEqual({
      code: 2,
      stderr: expect.stringContaining('main here and origin/main have gone apart'),
    })
  })

  it('keeps what passed where the remote takes no commit, for the next run', async () => {
    const { machines, open, at, startRun, startWorker } = site(1)
    open()
    const worker = machines.clone('worker')
    const hook = join(machines.remote, 'hooks/update')
    writeFileSync(hook, '#!/bin/sh\ncase "$1" in refs/heads/*) echo "main is protected"; exit 1;; esac\n')
    chmodSync(hook, 0o755)
    const run = startRun()
    startWorker(worker)
    expect(await run.ended).toEqual({ code: 2, stderr: expect.stringContaining('main is protected') })
    writeFileSync(hook, '#!/bin/sh\nexit 0\n')
    expect((await startRun().ended).code).toBe(0)
    expectAllLanded(machines, at, 1)
  })

  it('goes on where the queue was gone for a moment, and ends where it stays gone', async () => {
    const { machines, open, at, startRun, startWorker } = site(2)
    const worker = machines.clone('worker')
    const run = startRun()
    const working = startWorker(worker)
    await run.until(isType('agent-started'))
    server.stop()
    await run.until((event) => event.type === 'warning' && event.message.includes('cannot be reached'))
    server.start()
    await run.until((event) => event.type === 'warning' && event.message.includes('can be reached again'))
    server.stop()
    open()
    expect((await run.ended).code).toBe(1)
    expect(those(run, 'run-finished')).toMatchObject([
      { end: 'stopped', reason: expect.stringContaining('is gone') },
    ])
    expect((await working.ended).code).toBe(2)
    server.start()
    startWorker(worker)
    expect((await startRun().ended).code).toBe(0)
    expectAllLanded(machines, at, 2)
  })

  it('ends in order at Ctrl-C, its workers with their attempts', async () => {
    const { machines, open, at, startRun, startWorker } = site(1)
    const worker = machines.clone('worker')
    const run = startRun()
    const working = startWorker(worker)
    await run.until(isType('agent-started'))
    run.child.kill('SIGINT')
    expect((await run.ended).code).toBe(130)
    expect(those(working, 'attempt-finished')).toMatchObject([{ outcome: 'interrupted' }])
    open()
    expect((await startRun().ended).code).toBe(0)
    expectAllLanded(machines, at, 1)
  })
})
