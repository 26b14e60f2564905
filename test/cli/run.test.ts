import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { takeLock } from '../../src/process/lock.ts'
import { makeRunFolder, runFolder } from '../../src/engine/folder.ts'
import { env, git, makeRepository, projectFolder, put, taskText } from '../repository.ts'
import { by, ralph, refusalOf } from './ralph.ts'
import { repository, run } from './script-repository.ts'

const ONE = { 'T-001': 'echo one > one.txt' }
const TWO = { ...ONE, 'T-002': 'echo two > two.txt' }
const log = (cwd: string): string => git(cwd, 'log', '--format=%s')
const status = (cwd: string): string => git(cwd, 'status', '--porcelain')
const read = (cwd: string, file: string): string => readFileSync(join(cwd, file), 'utf8')

describe('ralph run', () => {
  it('does one task after the other, and leaves a commit each', async () => {
    const cwd = repository(TWO)
    const { code, stdout, stderr } = await run(cwd, '--loop')
    expect([code, stderr]).toEqual([0, ''])
    expect(log(cwd)).toBe('T-002: Do T-002\nT-001: Do T-001\nBegin')
    expect(status(cwd)).toBe('')
    expect(stdout).toMatch(/^2 done · /m)
    const again = await run(cwd, '--loop')
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('Every task is done.')])
  })

  it('could not do all where one is blocked', async () => {
    const cwd = repository(TWO)
    await by(cwd, 'block', '2', 'it is too early')
    const { code, stdout } = await run(cwd, '--loop')
    expect([code, stdout]).toEqual([1, expect.stringContaining('1 done')])
    expect(stdout).toContain('No task is eligible: ralph next --explain says why.')
  })

  it('does the task that is named, in the project that -C names', async () => {
    const cwd = repository(TWO)
    expect(await run(tmpdir(), '2', '-C', cwd)).toMatchObject({ code: 0, stderr: '' })
    expect(log(cwd)).toBe('T-002: Do T-002\nBegin')
  })

  it('prints each event as a line of JSON', async () => {
    const cwd = repository(ONE)
    const lines = (await run(cwd, '--json')).stdout.trim().split('\n')
    const events = lines.map((line) => JSON.parse(line))
    expect(events[0]).toMatchObject({ version: 1, type: 'run-started', branch: 'main', agent: 'script' })
    const task = { id: 'T-001', tier: 'Light' }
    expect(events.find(({ type }) => type === 'task-started')).toMatchObject({ task })
    expect(events.find(({ type }) => type === 'task-completed')).toMatchObject({
      id: 'T-001',
      commit: git(cwd, 'rev-parse', 'HEAD'),
      duration: expect.any(Number),
      cost: null,
    })
    expect(events.at(-1)).toMatchObject({
      type: 'run-finished',
      completed: ['T-001'],
      blocked: [],
      end: 'done',
    })
    for (const event of events) {
      expect(event.at).toMatch(/^\d{4}-\d\d-\d\dT/)
      // It distinguishes several jobs.
      expect(event).not.toHaveProperty('workspace')
    }
  })

  it('works inside an attempt at another project', async () => {
    const [cwd, other] = [repository(ONE), projectFolder({})]
    const answer = await ralph(['run', '--agent', 'script'], { cwd, env: { ...env, RALPH_INSIDE: other } })
    expect(answer.code).toBe(0)
  })

  it('checks with the gates of the command line, and blocks what they refuse', async () => {
    const cwd = repository(ONE)
    const { code, stdout } = await run(cwd, '--gate', 'test -f two.txt', '--retries', '0')
    expect(code).toBe(1)
    expect(stdout).toContain('✗ test -f two.txt')
    expect(git(cwd, 'show', 'HEAD:docs/tasks/T-001.md')).toContain('- **Status**: BLOCKED')
  })

  it('does not begin beside a run in another package of the same checkout', async () => {
    const top = makeRepository({
      'a/package.json': '{}',
      'a/docs/tasks/T-001.md': taskText('T-001', 'Do it'),
      'b/package.json': '{}',
    })
    const folder = runFolder(join(top, 'b'), { root: top, commonDir: join(top, '.git') })
    makeRunFolder(folder)
    await takeLock(folder.lock, { pid: process.pid, now: new Date() })
    expect(await refusalOf(run(join(top, 'a')))).toEqual([
      2,
      expect.stringContaining(`another ralph is at work here: process ${process.pid}`),
    ])
  })

  it('previews what it would do, and why it would do nothing', async () => {
    const cwd = repository(ONE)
    const { code, stdout } = await run(cwd, '--dry-run', '--gate', 'npm test')
    expect(code).toBe(0)
    expect(stdout).toMatch(/command {2}sh .*\n {2}gates {4}npm test\n/)
    expect(stdout).toMatch(/about \d+ tokens; nothing was run\n$/)
    expect(stdout).toContain('Do T-001')
    expect(log(cwd)).toBe('Begin')
    expect(git(cwd, 'status', '--porcelain', '--ignored')).toBe('')
    await run(cwd)
    expect(await run(cwd, '1', '--dry-run')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: T-001 is DONE\n',
    })
    const all = { code: 0, stdout: 'There is nothing to do: every task is done.\n', stderr: '' }
    expect(await run(cwd, '--dry-run')).toEqual(all)
  })

  it('pushes with --push, and reports what git says where it cannot', async () => {
    const cwd = repository(TWO)
    const remote = `${cwd}/.git/remote.git`
    git(cwd, 'init', '-q', '--bare', remote)
    git(cwd, 'remote', 'add', 'origin', remote)
    git(cwd, 'push', '-q', '-u', 'origin', 'main')
    expect((await run(cwd, '--push')).code).toBe(0)
    put(remote, { 'hooks/pre-receive': '#!/bin/sh\necho "the branch is closed" >&2\nexit 1\n' })
    const { code, stdout } = await run(cwd, '--push')
    expect(code).toBe(1)
    expect(stdout).toMatch(/git did not push[^]*the branch is closed/)
    expect(log(cwd)).toMatch(/^T-002/)
    expect(git(remote, 'log', '--format=%s', 'main')).toBe('T-001: Do T-001\nBegin')
  })

  it.each([
    [['--agent', 'claud'], 'there is no agent named "claud"'],
    [['T-001', '--loop'], '--loop cannot be used with a task id'],
    [['T-404'], 'there is no task T-404'],
    [['--max-tasks', '3'], '--max-tasks needs --loop'],
    [['--jobs', '2'], '--jobs needs --loop'],
    [['--loop', '--branch', 'x', '--push'], '--branch lands on another'],
    [['--loop', '--branch', 'a..b'], 'a..b is not a valid branch name'],
    [['--gate', 'true', '--no-gates'], '--no-gates takes no gate at all, and --gate names one'],
    [['--command', './a.sh'], '--command is for the agent named command, not for script'],
    [['--interactive'], '--interactive needs a terminal that a person sits at'],
    [['--interactive', '--json'], '--interactive needs a terminal that a person sits at'],
    [
      ['--interactive', '--loop', '--jobs', '2'],
      '--interactive has one terminal, and --jobs wants several tasks at once',
    ],
    [['--tui'], '--tui needs a terminal'],
    [['--on-failure', 'ask'], '--on-failure ask finds nobody to ask here'],
    [['--budget', 'much'], "--budget takes an amount in dollars, like 5.00, not 'much'"],
  ])('refuses %j before anything is begun', async (argv, message) => {
    expect(await refusalOf(run(repository(ONE), ...argv))).toEqual([2, expect.stringContaining(message)])
  })

  it('refuses to begin where there is no repository', async () => {
    const cwd = projectFolder({ 'docs/tasks/T-001.md': taskText('T-001', 'One') })
    expect(await refusalOf(run(cwd))).toEqual([2, 'error: there is no git repository here'])
  })

  it('works beside what a person has not committed, and leaves it as it is', async () => {
    const cwd = repository({ 'T-001': 'echo one > one.txt; ls > seen.txt; cat package.json >> seen.txt' })
    put(cwd, { 'notes.txt': 'mine', 'staged.txt': 'mine too', 'package.json': '{"name": "mine"}' })
    git(cwd, 'add', 'staged.txt')
    const before = status(cwd)
    expect(await run(cwd)).toMatchObject({ code: 0, stderr: '' })
    expect(status(cwd)).toBe(before)
    expect([read(cwd, 'notes.txt'), read(cwd, 'package.json')]).toEqual(['mine', '{"name": "mine"}'])
    const changed = git(cwd, 'show', '--format=', '--name-only').split('\n')
    expect(changed).toEqual(['docs/tasks/T-001.md', 'one.txt', 'seen.txt'])
    expect(read(cwd, 'seen.txt')).not.toMatch(/notes|staged|mine/)
  })
})

describe('what is not committed', () => {
  const uncommitted = (): string => {
    const cwd = repository(ONE)
    const text = read(cwd, 'docs/tasks/T-001.md')
    put(cwd, {
      'docs/tasks/T-001.md': text.replace('Do T-001', 'Mine'),
      'docs/tasks/T-002.md': text.replaceAll('001', '002').replace('one.txt', 'two.txt'),
      'notes.txt': 'mine',
    })
    return cwd
  }

  it('of the tasks is listed, and those that are committed are done as they are', async () => {
    const cwd = uncommitted()
    const { code, stdout } = await run(cwd, '--loop')
    expect(stdout).toContain('docs/tasks/T-001.md, docs/tasks/T-002.md is not committed')
    // The person's own text of T-001 is in the way of the finished file.
    expect([code, stdout]).toEqual([1, expect.stringContaining('docs/tasks/T-001.md')])
    expect(log(cwd)).toBe('Begin')
    expect(read(cwd, 'docs/tasks/T-001.md')).toContain('Mine')
  })

  it('of the tasks is committed first with --commit-tasks, and nothing else', async () => {
    const cwd = uncommitted()
    expect(await run(cwd, '--loop', '--commit-tasks')).toMatchObject({ code: 0, stderr: '' })
    expect(log(cwd)).toBe('T-002: Do T-002\nT-001: Mine\nWrite down T-001, T-002\nBegin')
    expect(status(cwd)).toBe('?? notes.txt')
  })

  it.each([
    ['is new', 'ralph.config.yaml', 'gates: []\ncommit: { seal: false }\n', 0],
    ['was changed', 'ralph.config.json', '{"gates": [], "retries": 0, "commit": {"seal": false}}', 2],
  ])('of the configuration is not ignored where it %s', async (_, file, text, code) => {
    const cwd = repository(ONE)
    if (code === 0) {
      git(cwd, 'rm', '--quiet', 'ralph.config.json')
      git(cwd, 'commit', '--quiet', '--amend', '--message=Begin')
    }
    put(cwd, { [file]: text })
    const { code: first, stderr } = await run(cwd)
    expect([first, stderr]).toEqual([2, expect.stringContaining(`${file} is not committed`)])
    expect(stderr.includes('--commit-tasks')).toBe(code === 0)
    expect(log(cwd)).toBe('Begin')
    expect((await run(cwd, '--commit-tasks')).code).toBe(code)
    expect(status(cwd)).toBe(code === 0 ? '' : ` M ${file}`)
  })

  it('is all of the tasks', async () => {
    const cwd = repository(ONE)
    git(cwd, 'rm', '--quiet', '--cached', '-r', 'docs')
    git(cwd, 'commit', '--quiet', '--amend', '--message=Begin')
    expect(await refusalOf(run(cwd))).toEqual([
      2,
      expect.stringContaining('docs/tasks/T-001.md is not committed, and the branch has no task folder'),
    ])
    expect((await run(cwd, '--commit-tasks')).code).toBe(0)
  })
})

describe('a task that failed', () => {
  const failed = async (): Promise<string> => {
    const cwd = repository({ 'T-001': 'echo half > half.txt; exit 3' })
    await run(cwd, '--retries', '0')
    return cwd
  }
  const file = 'docs/tasks/T-001.md'

  it.each([null, 'ask'])('is blocked where nobody can be asked, with onFailure %s', async (onFailure) => {
    const cwd = repository({ 'T-001': 'exit 3' }, { onFailure, retries: 0 })
    expect((await run(cwd)).code).toBe(1)
    expect(log(cwd)).toMatch(/^T-001: Block: /)
  })

  it('has its attempts listed, and is TODO again after ralph retry, in a commit that keeps why', async () => {
    const cwd = await failed()
    const { stdout } = await by(cwd, 'attempts', '1')
    expect(stdout).toContain('agent-failed')
    expect(stdout).toContain('changed  half.txt')
    expect(stdout).toContain('git show refs/ralph/attempts/T-001/1')
    expect((await by(cwd, 'retry', '1')).code).toBe(0)
    const text = git(cwd, 'show', `HEAD:${file}`)
    expect(text).toContain('- **Status**: TODO')
    expect(text).toMatch(/## Previous Attempts\n[\s\S]*exited with code 3/)
    expect(status(cwd)).toBe('')
    expect(await refusalOf(by(cwd, 'retry', '1'))).toEqual([2, 'error: T-001 is not blocked: it is TODO'])
  })

  it('is not retried while a run that died has left something to recover', async () => {
    const cwd = await failed()
    const jobs = [{ workspace: 1, attempt: { task: 'T-002', phase: 'working' } }]
    const note = { version: 3, mark: 'x', processes: [], jobs }
    put(cwd, { '.ralph/run.json': JSON.stringify(note) })
    expect(await refusalOf(by(cwd, 'retry', '1'))).toEqual([
      2,
      'error: a run died while it worked on T-002, and nobody has gone on from there yet',
    ])
    expect(git(cwd, 'show', `HEAD:${file}`)).toContain('BLOCKED')
  })

  it('is retried with what the person has written into its file meanwhile, and nothing else of theirs', async () => {
    const cwd = await failed()
    put(cwd, { [file]: `${git(cwd, 'show', `HEAD:${file}`)}\nMine.\n`, other: 'theirs' })
    expect((await by(cwd, 'retry', '1')).code).toBe(0)
    expect(git(cwd, 'show', `HEAD:${file}`)).toMatch(/Mine\./)
    expect(status(cwd)).toBe('?? other')
  })
})
