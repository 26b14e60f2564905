import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { takeLock } from '../../src/process/lock.ts'
import { makeRunFolder, runFolder } from '../../src/engine/folder.ts'
import { env, git, makeRepository, projectFolder, taskText } from '../repository.ts'
import { repository, run } from './script-repository.ts'
import { ralph } from './ralph.ts'

describe('ralph run', () => {
  it('does one task after the other, and leaves a commit each', async () => {
    const cwd = repository({ 'T-001': 'echo one > one.txt', 'T-002': 'echo two > two.txt' })
    const { code, stdout, stderr } = await run(cwd, '--loop')
    expect([code, stderr]).toEqual([0, ''])
    expect(git(cwd, 'log', '--format=%s', '--reverse')).toBe('Begin\nT-001: Do T-001\nT-002: Do T-002')
    expect(git(cwd, 'status', '--porcelain')).toBe('')
    expect(stdout).toMatch(/^2 done · /m)
  })

  it('has nothing left to do where every task is done, and could not do it where one waits', async () => {
    const cwd = repository({ 'T-001': 'echo one > one.txt' })
    await run(cwd, '--loop')
    const again = await run(cwd, '--loop')
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('Every task is done.')])
    expect((await run(cwd)).code).toBe(0)
    const left = repository({ 'T-001': 'echo one > one.txt', 'T-002': 'true' })
    await ralph(['block', '2', 'it is too early'], { cwd: left, env })
    const { code, stdout } = await run(left, '--loop')
    expect([code, stdout]).toEqual([1, expect.stringContaining('1 done')])
    expect(stdout).toContain('No task is eligible: ralph next --explain says why.')
  })

  it('works on the project that -C names', async () => {
    const cwd = repository({ 'T-001': 'echo one > one.txt' })
    const { code, stderr } = await run(tmpdir(), '-C', cwd)
    expect([code, stderr]).toEqual([0, ''])
    expect(git(cwd, 'log', '-1', '--format=%s')).toBe('T-001: Do T-001')
  })

  it('does the one that is named', async () => {
    const cwd = repository({ 'T-001': 'echo one > one.txt', 'T-002': 'echo two > two.txt' })
    await run(cwd, '2')
    expect(git(cwd, 'log', '-1', '--format=%s')).toBe('T-002: Do T-002')
  })

  it('tells each event as a line of JSON', async () => {
    const cwd = repository({ 'T-001': 'echo one > one.txt' })
    const { stdout } = await run(cwd, '--json')
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events[0]).toMatchObject({ version: 1, type: 'run-started', branch: 'main', agent: 'script' })
    expect(events.find(({ type }) => type === 'task-started').task).toMatchObject({
      id: 'T-001',
      tier: 'Light',
    })
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
    for (const { at } of events) expect(at).toMatch(/^\d{4}-\d\d-\d\dT/)
    // It tells several jobs apart.
    for (const event of events) expect(event).not.toHaveProperty('workspace')
  })

  it('refuses to work inside an attempt on the same project, as retry does', async () => {
    const cwd = repository({ 'T-001': 'echo one > one.txt' })
    for (const argv of [['run'], ['run', '--loop']]) {
      const { code, stderr } = await ralph(argv, { cwd, env: { ...env, RALPH_INSIDE: cwd } })
      expect([code, stderr]).toEqual([2, expect.stringContaining('inside a running attempt')])
    }
    await run(cwd, '--gate', 'false', '--retries', '0')
    const retry = await ralph(['retry', '1'], { cwd, env: { ...env, RALPH_INSIDE: cwd } })
    expect([retry.code, retry.stderr]).toEqual([2, expect.stringContaining('inside a running attempt')])
    expect((await ralph(['retry', '1'], { cwd, env })).code).toBe(0)
    expect(
      (
        await ralph(['run', '--agent', 'script'], {
          cwd,
          env: { ...env, RALPH_INSIDE: join(cwd, '../elsewhere') },
        })
      ).code,
    ).toBe(0)
  })

  it('checks with the gates of the command line, and blocks what they refuse', async () => {
    const cwd = repository({ 'T-001': 'echo one > one.txt' })
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
    const { code, stderr } = await run(join(top, 'a'))
    expect([code, stderr.split('\n')[0]]).toEqual([
      2,
      expect.stringContaining(`another ralph is at work here: process ${process.pid}`),
    ])
  })

  it('shows what it would do, and does nothing', async () => {
    const cwd = repository({ 'T-001': 'echo one > one.txt' })
    const { code, stdout } = await run(cwd, '--dry-run', '--gate', 'npm test')
    expect(code).toBe(0)
    expect(stdout).toMatch(/command {2}sh .*\n {2}gates {4}npm test\n/)
    expect(stdout).toContain('Do T-001')
    expect(git(cwd, 'log', '--format=%s')).toBe('Begin')
    expect(git(cwd, 'status', '--porcelain', '--ignored')).toBe('')
  })

  it('shows nothing of a task that it would not do, and says why', async () => {
    const cwd = repository({ 'T-001': 'echo one > one.txt' })
    await run(cwd)
    const named = await run(cwd, '1', '--dry-run')
    expect([named.code, named.stdout, named.stderr]).toEqual([1, '', 'error: T-001 is DONE\n'])
    const next = await run(cwd, '--dry-run')
    expect([next.code, next.stdout, next.stderr]).toEqual([1, '', 'error: every task is done\n'])
  })

  it('pushes where it is asked to, and says what git says where it cannot', async () => {
    const cwd = repository({ 'T-001': 'echo one > one.txt', 'T-002': 'echo two > two.txt' })
    const remote = `${cwd}/.git/remote.git`
    git(cwd, 'init', '-q', '--bare', remote)
    git(cwd, 'remote', 'add', 'origin', remote)
    git(cwd, 'push', '-q', '-u', 'origin', 'main')
    const first = await run(cwd, '--push')
    expect([first.code, git(remote, 'log', '-1', '--format=%s', 'main')]).toEqual([0, 'T-001: Do T-001'])
    writeFileSync(join(remote, 'hooks/pre-receive'), '#!/bin/sh\necho "the branch is closed" >&2\nexit 1\n', {
      mode: 0o755,
    })
    const { code, stdout } = await run(cwd, '--push')
    expect(code).toBe(1)
    expect(stdout).toContain('git did not push')
    expect(stdout).toContain('the branch is closed')
    expect(git(cwd, 'log', '-1', '--format=%s')).toBe('T-002: Do T-002')
    expect(git(remote, 'log', '-1', '--format=%s', 'main')).toBe('T-001: Do T-001')
  })

  it.each([
    [['--agent', 'claud'], 'there is no agent named "claud"'],
    [['T-001', '--loop'], '--loop cannot be used with a task id'],
    [['T-404'], 'there is no task T-404'],
    [['--max-tasks', '3'], '--max-tasks needs --loop'],
    [['--gate', 'true', '--no-gates'], '--no-gates takes no gate at all, and --gate names one'],
    [['--command', './a.sh'], '--command is for the agent named command, not for script'],
    [['--interactive'], '--interactive needs a terminal that a person sits at'],
    [['--interactive', '--json'], '--interactive needs a terminal that a person sits at'],
    [
      ['--interactive', '--loop', '--jobs', '2'],
      '--interactive has one terminal, and --jobs wants several tasks at once',
    ],
    [['--on-failure', 'ask'], '--on-failure ask finds nobody to ask here'],
    [['--budget', 'much'], "--budget takes an amount in dollars, like 5.00, not 'much'"],
  ])('refuses %j before anything is begun', async (argv, message) => {
    const cwd = repository({ 'T-001': 'echo one > one.txt' })
    const { code, stderr } = await run(cwd, ...argv)
    expect([code, stderr.split('\n')[0]]).toEqual([2, `error: ${message}`])
  })

  it('works beside what a person has not committed, and leaves it as it is', async () => {
    const cwd = repository({ 'T-001': 'echo one > one.txt; ls > seen.txt; cat package.json >> seen.txt' })
    writeFileSync(join(cwd, 'notes.txt'), 'mine')
    writeFileSync(join(cwd, 'staged.txt'), 'mine too')
    writeFileSync(join(cwd, 'package.json'), '{"name": "mine"}')
    git(cwd, 'add', 'staged.txt')
    const before = git(cwd, 'status', '--porcelain')
    expect(await run(cwd)).toMatchObject({ code: 0, stderr: '' })
    expect(git(cwd, 'status', '--porcelain')).toBe(before)
    expect(readFileSync(join(cwd, 'notes.txt'), 'utf8')).toBe('mine')
    expect(readFileSync(join(cwd, 'package.json'), 'utf8')).toBe('{"name": "mine"}')
    expect(git(cwd, 'show', '--format=', '--name-only').split('\n')).toEqual([
      'docs/tasks/T-001.md',
      'one.txt',
      'seen.txt',
    ])
    expect(readFileSync(join(cwd, 'seen.txt'), 'utf8')).not.toMatch(/notes|staged|mine/)
  })

  describe('where tasks are not committed', () => {
    const uncommitted = (): string => {
      const cwd = repository({ 'T-001': 'echo one > one.txt' })
      const text = readFileSync(join(cwd, 'docs/tasks/T-001.md'), 'utf8')
      writeFileSync(join(cwd, 'docs/tasks/T-001.md'), text.replace('Do T-001', 'Mine'))
      writeFileSync(
        join(cwd, 'docs/tasks/T-002.md'),
        text.replaceAll('001', '002').replace('one.txt', 'two.txt'),
      )
      writeFileSync(join(cwd, 'notes.txt'), 'mine')
      return cwd
    }

    it('says so, and does those that are, as they are', async () => {
      const cwd = uncommitted()
      const { code, stdout } = await run(cwd, '--loop')
      expect(stdout).toContain('docs/tasks/T-001.md, docs/tasks/T-002.md is not committed')
      // The person's own text of T-001 is in the way of the finished file.
      expect([code, stdout]).toEqual([1, expect.stringContaining('docs/tasks/T-001.md')])
      expect(git(cwd, 'log', '--format=%s')).toBe('Begin')
      expect(readFileSync(join(cwd, 'docs/tasks/T-001.md'), 'utf8')).toContain('Mine')
    })

    it('commits them first with --commit-tasks, and nothing else', async () => {
      const cwd = uncommitted()
      expect(await run(cwd, '--loop', '--commit-tasks')).toMatchObject({ code: 0, stderr: '' })
      expect(git(cwd, 'log', '--format=%s', '--reverse')).toBe(
        'Begin\nWrite down T-001, T-002\nT-001: Mine\nT-002: Do T-002',
      )
      expect(git(cwd, 'status', '--porcelain')).toBe('?? notes.txt')
    })
  })

  it.each([
    ['that is new', 'ralph.config.yaml', 'gates: []\ncommit: { seal: false }\n', 0],
    ['that was changed', 'ralph.config.json', '{"gates": [], "retries": 0, "commit": {"seal": false}}', 2],
  ])('refuses to ignore a configuration %s and not committed', async (_, file, text, code) => {
    const cwd = repository({ 'T-001': 'echo one > one.txt' })
    if (code === 0) {
      git(cwd, 'rm', '--quiet', 'ralph.config.json')
      git(cwd, 'commit', '--quiet', '--amend', '--message=Begin')
    }
    writeFileSync(join(cwd, file), text)
    const refused = await run(cwd)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(`${file} is not committed`)])
    expect(refused.stderr.includes('--commit-tasks')).toBe(code === 0)
    expect(git(cwd, 'log', '--format=%s')).toBe('Begin')
    expect((await run(cwd, '--commit-tasks')).code).toBe(code)
    expect(git(cwd, 'status', '--porcelain')).toBe(code === 0 ? '' : ` M ${file}`)
  })

  it('says which tasks are not committed where the branch has none', async () => {
    const cwd = repository({ 'T-001': 'echo one > one.txt' })
    git(cwd, 'rm', '--quiet', '--cached', '-r', 'docs')
    git(cwd, 'commit', '--quiet', '--amend', '--message=Begin')
    const refused = await run(cwd)
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('docs/tasks/T-001.md is not committed, and the branch has no task folder'),
    ])
    expect((await run(cwd, '--commit-tasks')).code).toBe(0)
  })

  it('refuses to begin where there is no repository', async () => {
    const cwd = projectFolder({ 'docs/tasks/T-001.md': taskText('T-001', 'One') })
    const { code, stderr } = await run(cwd)
    expect([code, stderr.split('\n')[0]]).toEqual([2, 'error: there is no git repository here'])
  })
})

describe('a task that failed', () => {
  const failed = async (): Promise<string> => {
    const cwd = repository({ 'T-001': 'echo half > half.txt; exit 3' })
    await run(cwd, '--retries', '0')
    return cwd
  }

  it.each([null, 'ask', 'block'])(
    'is blocked where nobody can be asked, with onFailure %s',
    async (onFailure) => {
      const cwd = repository({ 'T-001': 'exit 3' }, { onFailure, retries: 0 })
      expect((await run(cwd)).code).toBe(1)
      expect(git(cwd, 'log', '-1', '--format=%s')).toMatch(/^T-001: Block: /)
    },
  )

  it('has its attempts shown: how each ended, and where it is kept', async () => {
    const { stdout } = await ralph(['attempts', '1'], { cwd: await failed(), env })
    expect(stdout).toContain('agent-failed')
    expect(stdout).toContain('changed  half.txt')
    expect(stdout).toContain('git show refs/ralph/attempts/T-001/1')
  })

  it('is TODO again after ralph retry, in a commit of its own that keeps why', async () => {
    const cwd = await failed()
    expect((await ralph(['retry', '1'], { cwd, env })).code).toBe(0)
    const text = git(cwd, 'show', 'HEAD:docs/tasks/T-001.md')
    expect(text).toContain('- **Status**: TODO')
    expect(text).toMatch(/## Previous Attempts\n[\s\S]*exited with code 3/)
    expect(git(cwd, 'status', '--porcelain')).toBe('')
    expect((await ralph(['next'], { cwd, env })).code).toBe(0)
  })

  it('is not retried while a run that died has left something to put in order', async () => {
    const cwd = await failed()
    const jobs = [{ workspace: 1, attempt: { task: 'T-002', phase: 'working' } }]
    writeFileSync(
      join(cwd, '.ralph/run.json'),
      JSON.stringify({ version: 3, mark: 'x', processes: [], jobs }),
    )
    const { code, stderr } = await ralph(['retry', '1'], { cwd, env })
    expect([code, stderr.split('\n')[0]]).toEqual([
      2,
      'error: a run died while it worked on T-002, and nobody has gone on from there yet',
    ])
    expect(git(cwd, 'show', 'HEAD:docs/tasks/T-001.md')).toContain('BLOCKED')
  })

  it('is not retried where its file holds something of the person', async () => {
    const cwd = await failed()
    const file = join(cwd, 'docs/tasks/T-001.md')
    writeFileSync(file, `${git(cwd, 'show', 'HEAD:docs/tasks/T-001.md')}\nMine.\n`)
    const { code, stderr } = await ralph(['retry', '1'], { cwd, env })
    expect([code, stderr.split('\n')[0]]).toEqual([2, 'error: docs/tasks/T-001.md is not committed'])
  })

  it('cannot be retried where it is not blocked', async () => {
    const cwd = repository({ 'T-001': 'true' })
    const { code, stderr } = await ralph(['retry', '1'], { cwd, env })
    expect([code, stderr.split('\n')[0]]).toEqual([2, 'error: T-001 is not blocked: it is TODO'])
  })
})
