import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ralph } from '../cli/ralph.ts'
import { env, ENV, git, makeFolder, put } from '../repository.ts'
import { expectAllLanded, gated, isType, makeMachines, start, those, type Going } from './machines.ts'
import { freePort, startPostgres, type TestServer } from './postgres.ts'

let server: TestServer | null = null
beforeAll(async () => {
  server = await startPostgres()
}, 240_000)
afterAll(() => server?.remove(), 240_000)

/** A real server where there can be one, the embedded one elsewhere. */
function aQueue(): string {
  return server?.database() ?? 'embedded'
}

/** Starts a run, and gives it with the URL for its workers. */
async function startRun(cwd: string, ...more: readonly string[]): Promise<{ run: Going; url: string }> {
  const run = start(cwd, ['run', '--loop', '--queue', aQueue(), ...more])
  const started = await run.until(({ type }) => type === 'run-started')
  return { run, url: started.type === 'run-started' ? (started.queue ?? '') : '' }
}

describe('a run with a queue', { timeout: 120_000 }, () => {
  it('has its tasks done by workers of other clones, and lands and pushes each', async () => {
    // Neither of the first two is done before the other has begun: it takes two workers.
    const met = makeFolder()
    const meet = (own: string, other: string): string =>
      `touch ${met}/${own}; until test -e ${met}/${other}; do sleep 0.1; done; echo ${own} > ${own}`
    const machines = makeMachines(
      {
        'T-001': meet('one', 'two'),
        'T-002': meet('two', 'one'),
        'T-003': `until test -e ${met}/go; do sleep 0.1; done; cat one two > three`,
      },
      { fields: { 'T-003': '- **Depends**: T-001, T-002' } },
    )
    const [at, first, second] = [machines.clone('run'), machines.clone('first'), machines.clone('second')]
    const { run, url } = await startRun(at)
    const once = start(first, ['worker', '--queue', url, '--once'])
    // The second one comes when the first is at work.
    await run.until(({ type }) => type === 'attempt-started')
    const other = start(second, ['worker', '--queue', url])
    await run.until((event) => event.type === 'agent-started' && event.id === 'T-003')
    const candidates = (cwd: string): string => git(cwd, 'for-each-ref', 'refs/ralph/candidates')
    // What has landed is in the way of no later run, from any clone.
    await expect.poll(() => [machines.remote, at, first, second].map(candidates)).toEqual(['', '', '', ''])
    writeFileSync(join(met, 'go'), '')
    expect(await run.ended).toEqual({ code: 0, stderr: '' })
    expect((await once.ended).code).toBe(0)
    expect(git(at, 'log', '--format=%s')).toMatch(/^T-003: Do T-003\n(?:T-00[12]: Do T-00[12]\n){2}Begin$/)
    expect(git(machines.remote, 'rev-parse', 'main')).toBe(git(at, 'rev-parse', 'main'))
    expect(git(machines.remote, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
    expect(git(at, 'status', '--porcelain')).toBe('')
    const by = new Set(those(run, 'attempt-started').map(({ worker }) => worker))
    expect(by).toEqual(new Set(those(run, 'worker-joined').map(({ worker }) => worker)))
    expect(those(once, 'attempt-started')).toHaveLength(1)
    expect(those(other, 'attempt-started')).toHaveLength(2)
    expect(existsSync(join(second, 'one'))).toBe(false)
  })

  it('gets jobs done by a worker that stays between runs, under the name that it was given', async (context) => {
    const queue = server?.database() ?? context.skip('an embedded queue ends with its run')
    const machines = makeMachines({ 'T-001': 'echo 1 > one' }, { config: { queue: { workerTimeout: '2s' } } })
    const [at, first, second] = [machines.clone('run'), machines.clone('first'), machines.clone('second')]
    start(first, ['worker', '--queue', queue, '--stay', '--name', 'ada'])
    const leaving = start(second, ['worker', '--queue', queue])
    expect((await leaving.ended).code).toBe(0)
    const run = start(at, ['run', '--loop', '--queue', queue])
    expect(await run.ended).toEqual({ code: 0, stderr: '' })
    expect(those(run, 'attempt-started').map(({ worker }) => worker)).toEqual(['ada'])
  })

  it('shows its workers and their logs, and lets one end after its task', async () => {
    const { machines, open } = gated(3)
    const [at, first, second] = [machines.clone('run'), machines.clone('first'), machines.clone('second')]
    const { run, url } = await startRun(at)
    const ada = start(first, ['worker', '--queue', url, '--name', 'ada'])
    await run.until(isType('agent-started'))
    const bob = start(second, ['worker', '--queue', url, '--name', 'bob'])
    await bob.until(isType('agent-started'))
    const ask = (...argv: string[]) => ralph(argv, { cwd: at, env })
    const shown = async (): Promise<unknown> => JSON.parse((await ask('status', '--json')).stdout)
    const seen = expect.stringMatching(/^20.*Z$/) as string
    const bobs = { worker: 'bob', tasks: ['T-002'], state: 'works', seen }
    await expect.poll(shown).toMatchObject({
      run: {
        queue: url,
        workers: [{ worker: 'ada', tasks: ['T-001'], state: 'works', seen }, bobs],
        waiting: ['T-003'],
      },
    })
    expect(await ask('stop', '--worker', 'eve')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no worker eve is in this run: it has ada, bob') as string,
    })
    expect((await ask('stop', '--worker', 'ada')).stdout).toContain('ada ends after what it has')
    expect(await shown()).toMatchObject({ run: { workers: [{ worker: 'ada', state: 'leaving' }, bobs] } })
    open()
    expect((await ada.ended).code).toBe(0)
    expect(await run.ended).toEqual({ code: 0, stderr: '' })
    expectAllLanded(machines, at, 3)
    expect([ada, bob].map((one) => those(one, 'attempt-started').length)).toEqual([1, 2])
    const log = '.ralph/logs/T-001-1.log'
    expect(readFileSync(join(at, log), 'utf8')).toMatch(/^T-001$/m)
    expect(readFileSync(join(at, log), 'utf8')).toBe(readFileSync(join(first, log), 'utf8'))
  })

  it('goes on at its worker, in its conversation, with a task that met a limit', async () => {
    const bin = makeFolder()
    const says = (...lines: readonly object[]): string =>
      lines.map((line) => `printf '%s\\n' '${JSON.stringify(line)}'`).join('\n')
    const init = { type: 'system', subtype: 'init', session_id: 's-1', model: 'm' }
    const limit = {
      type: 'rate_limit_event',
      rate_limit_info: { status: 'rejected', rateLimitType: 'five_hour', resetsAt: 0 },
    }
    const end = {
      type: 'result',
      subtype: 'success',
      session_id: 's-1',
      num_turns: 1,
      usage: { output_tokens: 9 },
    }
    const soon = `"resetsAt":'$(($(date +%s) + 2))'`
    const failed = { ...end, is_error: true, api_error_status: 429, result: 'You have hit your limit' }
    put(bin, {
      claude: [
        '#!/bin/sh',
        'case "$*" in *--version*) echo "2.1.328 (Claude Code)"; exit;; esac',
        `echo "$PWD $*" >> ${bin}/calls; cat >> ${bin}/calls`,
        says(init),
        `case "$*" in *--resume*) echo 2 > whole; ${says({ ...end, result: 'Done.\n<TASK_DONE>' })};;`,
        `*) echo 1 > half; ${says(limit, failed).replace('"resetsAt":0', () => soon)}; exit 1;; esac`,
      ].join('\n'),
    })
    chmodSync(join(bin, 'claude'), 0o755)
    const machines = makeMachines({ 'T-001': 'true' }, { config: { agent: 'claude' } })
    const [at, worker] = [machines.clone('run'), machines.clone('worker')]
    const { run, url } = await startRun(at)
    start(worker, ['worker', '--queue', url, '--jobs', '2'], { PATH: `${bin}:${ENV['PATH']}` })
    expect(await run.ended).toEqual({ code: 0, stderr: '' })
    const asked = readFileSync(join(bin, 'calls'), 'utf8')
    const [begun, resumed, ...more] = asked.split('\n').filter((line) => / -p /.test(line))
    expect(more).toEqual([])
    expect(begun).not.toContain('--resume')
    expect(resumed).toContain('--resume=s-1')
    // Claude Code keeps its conversations by folder.
    expect(resumed!.split(' ')[0]).toBe(begun!.split(' ')[0])
    expect(asked).toContain('You were stopped in the middle of your work')
    expect(those(run, 'task-completed')).toMatchObject([{ id: 'T-001', attempts: 1 }])
    expect(git(at, 'show', 'HEAD:half', 'HEAD:whole')).toBe('1\n2')
  })

  it('runs the gates of the commit that a job begins from, here and there, and none that the machine has', async () => {
    const machines = makeMachines(
      { 'T-001': 'touch broken', 'T-002': 'echo 2 > two' },
      { config: { retries: 0 } },
    )
    const [at, worker] = [machines.clone('run'), machines.clone('worker')]
    // What is not committed says nothing to anybody else.
    put(worker, { 'ralph.config.json': '{ "gates": [], "agent": "script" }' })
    const { run, url } = await startRun(at)
    const working = start(worker, ['worker', '--queue', url])
    expect((await run.ended).code).toBe(1)
    expect(those(run, 'task-blocked')).toMatchObject([{ id: 'T-001' }])
    expect(those(run, 'task-completed')).toMatchObject([{ id: 'T-002' }])
    expect(those(working, 'gate-finished').map(({ result }) => result.gate.name)).toContain('check')
    const kept = git(machines.remote, 'for-each-ref', '--format=%(refname)', 'refs/ralph')
    expect(kept).toBe('refs/ralph/attempts/T-001/1')
  })

  it('gives the job of a worker that is killed to another', async () => {
    const go = join(makeFolder(), 'go')
    const machines = makeMachines({ 'T-001': `until test -e ${go}; do sleep 0.1; done; echo 1 > one` })
    const [at, first, second] = [machines.clone('run'), machines.clone('first'), machines.clone('second')]
    const { run, url } = await startRun(at)
    const dying = start(first, ['worker', '--queue', url])
    await run.until(({ type }) => type === 'agent-started')
    dying.child.kill('SIGKILL')
    start(second, ['worker', '--queue', url])
    await run.until(({ type }) => type === 'worker-left')
    expect(those(run, 'worker-left')).toMatchObject([{ why: 'lost' }])
    const lost = await run.until(({ type }) => type === 'attempt-finished')
    expect(lost).toMatchObject({ id: 'T-001', attempt: 1, outcome: 'lost' })
    writeFileSync(go, '')
    expect((await run.ended).code).toBe(0)
    expect(git(at, 'log', '-1', '--format=%s')).toBe('T-001: Do T-001')
    expect(git(machines.remote, 'log', '--format=%s', '-1', 'refs/ralph/attempts/T-001/1')).toContain('lost')
  })

  it('refuses to begin beside another, and where nobody answers', async () => {
    const machines = makeMachines({ 'T-001': 'echo 1 > one' })
    const [at, beside] = [machines.clone('run'), machines.clone('beside')]
    const { url } = await startRun(at)
    const second = await start(beside, ['run', '--loop', '--queue', url]).ended
    expect(second).toEqual({ code: 2, stderr: expect.stringContaining('another run has this queue') })
    const nowhere = `postgres://ralph@127.0.0.1:${await freePort()}/none`
    const third = await start(beside, ['run', '--loop', '--queue', nowhere]).ended
    expect(third).toEqual({
      code: 2,
      stderr: expect.stringContaining('cannot be reached: connect ECONNREFUSED'),
    })
    git(beside, 'remote', 'rename', 'origin', 'elsewhere')
    const fourth = await start(beside, ['run', '--loop', '--queue', nowhere]).ended
    expect(fourth.stderr).toContain('this repository has no remote named origin')
  })
})
