import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { env, git, makeRepository, taskText } from '../repository.ts'
import { jsonOf, ralph } from './ralph.ts'
import { barrier } from './script-repository.ts'

/** A project whose agent says that it has begun, and ends when it is let go. */
function project() {
  const { waits, letGo } = barrier()
  const root = makeRepository({
    'docs/tasks/T-001.md': taskText('T-001', 'Do T-001'),
    'docs/tasks/T-002.md': taskText('T-002', 'Do T-002'),
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
      await expect.poll(jobs).toMatchObject([{ id, doing: 'agent' }])
    },
  }
}

interface Status {
  readonly run: { readonly jobs: readonly object[] } | null
}

const journalIn = (root: string): string =>
  readdirSync(join(root, '.ralph/logs')).find((name) => name.startsWith('run-'))!

const subjects = (root: string): string => git(root, 'log', '--format=%s')

describe.skipIf(process.platform === 'win32')('a run under way', () => {
  it('is shown, paused and resumed from another terminal', async () => {
    const { run, letGo, working } = project()
    expect((await run('status')).stdout).toBe('No run is under way here.\n')
    const nobody = { code: 1, stderr: expect.stringContaining('no run is under way') as string }
    expect(await run('pause')).toMatchObject(nobody)
    const running = run('run', '--loop')
    await working('T-001')
    const { stdout } = await run('status')
    expect(stdout).toContain('The run is under way')
    expect(stdout).toMatch(/T-001 {2}Do T-001 +attempt 1 of 4/)
    const unasked = { code: 1, stderr: expect.stringContaining('nobody asks about T-001') as string }
    expect(await run('answer', '1', 'MIT')).toMatchObject(unasked)
    expect((await run('pause')).stdout).toContain('paused')
    expect((await run('status')).stdout).toContain('paused: ralph resume')
    letGo()
    await expect.poll(async () => (await run('status')).stdout).toContain('done: T-001')
    expect((await run('resume')).code).toBe(0)
    expect(await running).toMatchObject({ code: 0, stdout: expect.stringContaining('2 done') })
    expect((await run('status')).stdout).toContain('The last run ended')
    expect((await run('status', '--all')).stdout).toContain('2 done')
  })

  it('is seen where tasks are listed, with the attempt, until it has ended or died', async () => {
    const { root, run, letGo, working } = project()
    const shown = async (...argv: string[]) => (await run(...argv)).stdout
    const idle = await shown('list')
    const running = run('run', '--loop')
    await working('T-001')
    expect(await shown('list')).toMatch(/● {2}T-001 .+ under way · attempt 1\n {2}▸ {2}T-002 .+ eligible/)
    expect(await shown('next')).toMatch(/^T-001 .+\n\n● T-001 {2}under way · attempt 1\n0 of 2 done/s)
    expect(await shown('show', '1')).toMatch(/TODO, under way · attempt 1 · Light/)
    const underWay = { run: expect.any(String) as string, attempt: 1, workspace: null, worker: null }
    const listed = { tasks: [{ underWay }, { underWay: null }] }
    expect(await jsonOf(root, 'list')).toMatchObject(listed)
    const [first, second] = listed.tasks
    expect(await jsonOf(root, 'next', '--all')).toMatchObject({ task: first, eligible: [first, second] })
    const files = [join('logs', journalIn(root)), 'lock', 'run.json'].map((name) =>
      join(root, '.ralph', name),
    )
    const texts = files.map((file) => readFileSync(file, 'utf8'))
    letGo()
    await running
    expect(await shown('list')).not.toContain('under way')
    git(root, 'reset', '--quiet', '--hard', 'HEAD~2')
    const { pid } = spawnSync('true')
    for (const [at, file] of files.entries())
      writeFileSync(file, texts[at]!.replace(`"pid":${process.pid}`, `"pid":${pid}`))
    expect(await shown('list')).toBe(idle)
  })

  it('is seen at the worker that makes an attempt', async () => {
    const { root, run, letGo, working } = project()
    const running = run('run', 'T-001')
    await working('T-001')
    const journal = join(root, '.ralph/logs', journalIn(root))
    const begun = readFileSync(journal, 'utf8')
      .split('\n')
      .find((line) => line.includes('"attempt-started"'))
    const joined = { at: new Date(), type: 'worker-joined', worker: 'box', places: 1, labels: [] }
    for (const event of [joined, { ...(JSON.parse(begun!) as object), worker: 'box' }])
      appendFileSync(journal, `${JSON.stringify(event)}\n`)
    expect((await run('next')).stdout).toContain('under way · attempt 1 · worker box')
    expect((await jsonOf(root, 'list')).tasks[0].underWay).toMatchObject({ worker: 'box' })
    letGo()
    await running
  })

  it.each([
    ['after its attempt, as asked', ['stop'], 'T-001: Do T-001\nBegin', 0],
    ['with its attempt, interrupted', ['stop', '--now'], 'Begin', 130],
  ])('ends %s', async (_, argv, log, code) => {
    const { root, run, letGo, working } = project()
    const running = run('run', '--loop')
    await working('T-001')
    expect((await run(...argv)).code).toBe(0)
    if (argv.length === 1) letGo()
    expect(await running).toMatchObject({ code })
    expect(subjects(root)).toBe(log)
    expect(git(root, 'status', '--short')).toBe('')
  })

  it('shows no task that it would begin while it is paused', async () => {
    const { run, letGo, working } = project()
    const running = run('run', '--loop')
    await working('T-001')
    await run('pause')
    letGo()
    await expect.poll(async () => (await run('status')).stdout).toContain('done: T-001')
    await run('stop')
    expect((await running).stdout).not.toContain('T-002')
  })

  it('leaves out a task that is skipped, which stays TODO', async () => {
    const { root, run, letGo, working } = project()
    const running = run('run', '--loop')
    await working('T-001')
    const unknown = { code: 2, stderr: expect.stringContaining('no task T-009') as string }
    expect(await run('skip', 'T-009')).toMatchObject(unknown)
    expect((await run('skip', '1')).code).toBe(0)
    await working('T-002')
    letGo()
    await running
    expect(subjects(root)).toBe('T-002: Do T-002\nBegin')
    expect(existsSync(join(root, '.ralph/control.sock'))).toBe(false)
    expect(readdirSync(join(root, '.ralph'))).not.toContain('lock')
  })

  it.each([
    ['pause'],
    ['resume'],
    ['stop'],
    ['skip', '1'],
    ['answer', '1', 'MIT'],
    ['run', '--loop'],
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
