import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { env, git, makeRepository } from '../repository.ts'
import { barrier } from './script-repository.ts'
import { ralph } from './ralph.ts'

const task = (id: string) =>
  `# ${id}: Do ${id}\n\n- **Status**: TODO\n- **Depends**: none\n\n## Description\nx\n`

/** A project whose agent says that it has begun, and ends when it is let go. */
function project() {
  const { waits, letGo } = barrier()
  const root = makeRepository({
    'docs/tasks/T-001.md': task('T-001'),
    'docs/tasks/T-002.md': task('T-002'),
    'ralph.config.json': JSON.stringify({
      agent: 'command',
      command: `${waits}; echo x > $RALPH_TASK.txt; echo "<TASK_DONE>"`,
      gates: [],
      commit: { seal: false },
    }),
  })
  const run = (...argv: string[]) => ralph(argv, { cwd: root, env, now: new Date() })
  return {
    root,
    run,
    letGo,
    /** Until an agent is at work on that task. */
    working: async (id: string) => {
      const jobs = async () => (JSON.parse((await run('status', '--json')).stdout) as Status).run?.jobs
      await expect.poll(jobs, { timeout: 20_000 }).toMatchObject([{ id, doing: 'agent' }])
    },
  }
}

interface Status {
  readonly run: { readonly jobs: readonly object[] } | null
}

describe.skipIf(process.platform === 'win32')('a run under way', () => {
  it('is shown, paused and let go on from another terminal', async () => {
    const { run, letGo, working } = project()
    expect((await run('status')).stdout).toBe('No run is under way here.\n')
    expect(await run('pause')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no run is under way'),
    })
    const running = run('run', '--loop')
    await working('T-001')
    const { stdout } = await run('status')
    expect(stdout).toContain('The run is under way')
    expect(stdout).toMatch(/T-001 {2}Do T-001 +attempt 1 of 4/)
    expect((await run('pause')).stdout).toContain('paused')
    expect((await run('status')).stdout).toContain('paused: ralph resume')
    letGo()
    await expect.poll(async () => (await run('status')).stdout).toContain('done: T-001')
    expect((await run('resume')).code).toBe(0)
    expect(await running).toMatchObject({ code: 0, stdout: expect.stringContaining('2 done') })
    expect((await run('status')).stdout).toContain('The last run ended')
    expect((await run('status', '--all')).stdout).toContain('2 done')
  })

  it('ends after its attempt, or with it', async () => {
    const one = project()
    const first = one.run('run', '--loop')
    await one.working('T-001')
    expect((await one.run('stop')).stdout).toContain('after this attempt')
    one.letGo()
    expect(await first).toMatchObject({ code: 130 })
    expect(git(one.root, 'log', '--format=%s').trim().split('\n')).toEqual(['T-001: Do T-001', 'Begin'])
    const other = project()
    const second = other.run('run', '--loop')
    await other.working('T-001')
    expect((await other.run('stop', '--now')).code).toBe(0)
    expect(await second).toMatchObject({ code: 130 })
    expect(git(other.root, 'log', '--format=%s').trim()).toBe('Begin')
    expect(git(other.root, 'status', '--short')).toBe('')
  })

  it('leaves out a task that is skipped, which stays TODO', async () => {
    const { root, run, letGo, working } = project()
    const running = run('run', '--loop')
    await working('T-001')
    expect(await run('skip', 'T-009')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no task T-009'),
    })
    expect((await run('skip', '1')).code).toBe(0)
    await working('T-002')
    letGo()
    await running
    expect(git(root, 'log', '--format=%s').trim().split('\n')).toEqual(['T-002: Do T-002', 'Begin'])
    expect(existsSync(join(root, '.ralph/control.sock'))).toBe(false)
    expect(readdirSync(join(root, '.ralph'))).not.toContain('lock')
  })

  it('says that nobody asks, where nobody does', async () => {
    const { run, letGo, working } = project()
    const running = run('run', 'T-001')
    await working('T-001')
    expect(await run('answer', '1', 'MIT')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('nobody asks about T-001'),
    })
    letGo()
    await running
  })

  it.each([
    ['pause'],
    ['resume'],
    ['stop'],
    ['skip', '1'],
    ['answer', '1', 'MIT'],
    ['run'],
    ['retry', '1'],
    ['complete', '1'],
  ])('is not steered from inside an attempt: %s', async (...argv) => {
    const { root } = project()
    expect(await ralph(argv, { cwd: root, env: { ...env, RALPH_INSIDE: root } })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/inside a running attempt|is not blocked/),
    })
  })
})
