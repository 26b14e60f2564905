import { startProcess } from '../../src/process/start.ts'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { agentNamed } from '../../src/agent/registry.ts'
import { createAgent } from '../../src/agent/runtime.ts'
import { gateRunner } from '../../src/engine/gates/run.ts'
import { openGit } from '../../src/git/door.ts'
import { GitError } from '../../src/git/git.ts'
import type { RunEvent } from '../../src/events/event.ts'
import { findRepository } from '../../src/git/repository.ts'
import { openWorkspace } from '../../src/engine/workspace/open.ts'
import { runTasks } from '../../src/engine/run.ts'
import { ENV, git, makeFolder, makeRepository, put } from '../git/repository.ts'
import { makeProject, read, runAll, taskText, those } from './harness.ts'
import { doneBy, gateOf, makePorts, OPTIONS } from './ports.ts'

const tasks = { 'T-1': taskText('T-1') }

describe('real processes', () => {
  it('a script does the task, fails its gate, hears of it and passes', async () => {
    const rest = `\n## Script\n\n\`\`\`sh\nmkdir -p src\necho "$RALPH_ATTEMPT" > src/answer\ncat > prompt.txt\n\`\`\`\n`
    const root = makeProject({ 'T-1': taskText('T-1', { rest }) })
    const agent = createAgent(await agentNamed('script').load(null), {
      start: startProcess,
      now: () => new Date(),
    })
    const events = await runAll({
      root,
      options: {
        gates: [gateOf('answer', { command: 'grep -q 2 src/answer || { echo "expected 2" >&2; exit 1; }' })],
      },
      ports: {
        ...doneBy(agent),
        runGate: gateRunner(startProcess),
        prompt: async ({ attempts }) => {
          return {
            text: `Earlier: ${attempts.map((one) => one.detail).join()}`,
            estimate: 0,
            warnings: [],
            resources: [],
          }
        },
      },
    })
    expect(those(events, 'attempt-finished').map(({ outcome }) => outcome)).toEqual(['gate-failed', 'done'])
    expect(git(root, 'show', 'HEAD:src/answer')).toBe('2')
    expect(git(root, 'log', '-1', '--format=%B', 'refs/ralph/attempts/T-1/1')).toContain('expected 2')
    expect(git(root, 'status', '--porcelain')).toBe('')
  })
})

describe('git in its moods', () => {
  it('is not led elsewhere by the environment', async () => {
    const [root, other] = [makeProject(tasks), makeRepository()]
    const env = {
      ...ENV,
      GIT_DIR: join(other, '.git'),
      GIT_INDEX_FILE: join(other, '.git/index'),
      GIT_WORK_TREE: other,
    }
    const door = openGit({ cwd: root, env })
    const workspace = openWorkspace(door, (await findRepository(door))!, root)
    await runAll({ root, deed: ({ cwd }) => put(cwd, { work: '' }), ports: { workspace } })
    expect(git(root, 'log', '-1', '--format=%s')).toBe('T-1: Do T-1')
    expect(git(other, 'log', '-1', '--format=%s')).toBe('Begin')
    expect(git(other, 'status', '--porcelain')).toBe('')
  })

  it('a lock that the agent leaves is moved away, and ends nothing', async () => {
    const root = makeProject(tasks)
    const lock = join(root, '.git/index.lock')
    const events = await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, { work: 'precious' })
        writeFileSync(lock, '')
      },
    })
    expect(those(events, 'run-finished')).toMatchObject([{ end: 'done' }])
    expect(git(root, 'log', '-1', '--format=%s')).toBe('T-1: Do T-1')
    expect(git(root, 'show', 'HEAD:work')).toBe('precious')
    expect([existsSync(lock), read(root, '.ralph/results/T-1-1-git/index.lock')]).toEqual([false, ''])
    expect(git(root, 'status', '--porcelain')).toBe('')
  })

  it('a submodule’s new commit is work as any other', async () => {
    const library = makeRepository({ lib: '1' })
    const root = makeProject(tasks)
    git(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'lib')
    git(root, 'commit', '-qm', 'Add the library')
    await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, { 'lib/lib': '2' })
        git(join(cwd, 'lib'), '-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-qam', 'two')
      },
    })
    expect(git(root, 'rev-parse', 'HEAD:lib')).toBe(git(join(root, 'lib'), 'rev-parse', 'HEAD'))
    expect(git(root, 'status', '--porcelain')).toBe('')
  })

  it('a submodule goes back with the rest', async () => {
    const library = makeRepository({ lib: '1' })
    const root = makeProject(tasks)
    git(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'lib')
    git(root, 'commit', '-qm', 'Add the library')
    const before = git(join(root, 'lib'), 'rev-parse', 'HEAD')
    await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, { 'lib/lib': '2' })
        git(join(cwd, 'lib'), '-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-qam', 'two')
        return { end: { kind: 'blocked', reason: 'needs a key' } }
      },
    })
    expect(git(join(root, 'lib'), 'rev-parse', 'HEAD')).toBe(before)
    expect(git(root, 'rev-parse', 'refs/ralph/attempts/T-1/1:lib')).not.toBe(before)
    expect(git(root, 'status', '--porcelain')).toBe('')
  })

  // Windows knows no folder that nothing may be removed from.
  it.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
    'a folder that the agent left read-only goes back as any other',
    async () => {
      const root = makeProject({ ...tasks, 'T-2': taskText('T-2') })
      const seen: (string | null)[] = []
      await runAll({
        root,
        deed: (request) => {
          seen.push(read(request.cwd, 'sub/closed/half'))
          put(request.cwd, { 'sub/closed/half': request.task.id })
          chmodSync(join(request.cwd, 'sub/closed'), 0o500)
          chmodSync(join(request.cwd, 'sub'), 0o500)
          return { end: { kind: 'blocked', reason: 'needs a key' } }
        },
      })
      expect(seen).toEqual([null, null])
      expect(git(root, 'status', '--porcelain')).toBe('')
      expect(git(root, 'show', 'refs/ralph/attempts/T-2/1:sub/closed/half')).toBe('T-2')
    },
  )

  it('SHA-256 is as good', async () => {
    const root = makeFolder()
    git(root, 'init', '-q', '-b', 'main', '--object-format=sha256')
    git(root, 'config', 'user.name', 'Ada')
    git(root, 'config', 'user.email', 'ada@example.com')
    put(root, { 'docs/tasks/T-1.md': taskText('T-1'), '.gitignore': '.ralph/\n' })
    git(root, 'add', '-A')
    git(root, 'commit', '-qm', 'Begin')
    const events = await runAll({ root, deed: ({ cwd }) => put(cwd, { work: '' }) })
    expect(those(events, 'task-completed')[0]?.commit).toMatch(/^[0-9a-f]{64}$/)
  })
})

describe('a full disk', () => {
  const mounted: string[] = []
  afterEach(() => {
    for (const path of mounted.splice(0)) execFileSync('umount', [path], { stdio: 'ignore' })
  })

  it.skipIf(!canMount())('loses nothing: what was there is there, and the next run goes on', async () => {
    const root = join(makeFolder(), 'disk')
    mkdirSync(root)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', root], { stdio: 'ignore' })
    mounted.push(root)
    execFileSync('cp', ['-r', `${makeProject(tasks)}/.`, root])
    const fill = join(root, '.ralph/fill')
    await expect(
      runAll({
        root,
        deed: ({ cwd }) => {
          put(cwd, { work: 'precious' })
          for (const size of [1 << 16, 1 << 12, 1]) fillUp(`${fill}-${size}`, size)
        },
      }),
    ).rejects.toThrow(/space/i)
    expect(read(root, 'work')).toBe('precious')
    expect(git(root, 'log', '-1', '--format=%s')).toBe('Begin')
    for (const size of [1 << 16, 1 << 12, 1]) rmSync(`${fill}-${size}`, { force: true })
    const events = await runAll({ root, deed: ({ cwd }) => put(cwd, { work: 'again' }) })
    expect(those(events, 'recovered').at(-1)?.ref).toBe('refs/ralph/attempts/T-1/1')
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:work')).toBe('precious')
    expect(git(root, 'log', '-1', '--format=%s')).toBe('T-1: Do T-1')
    expect(git(root, 'fsck', '--strict', '--no-dangling')).toBe('')
  })
})

describe('what a dead run leaves', () => {
  const note = (root: string, more: object) =>
    JSON.stringify({
      version: 1,
      mark: 'none-such',
      startedAt: '2026-01-01T00:00:00Z',
      spentUsd: 1,
      attempt: {
        task: 'T-1',
        title: 'Do T-1',
        file: 'docs/tasks/T-1.md',
        number: 1,
        try: 1,
        tries: 4,
        base: { head: git(root, 'rev-parse', 'HEAD'), branch: 'main' },
        phase: 'working',
        agent: 'fake',
        model: null,
        tier: 'Light',
        usage: { turns: 3, inputTokens: null, cachedTokens: null, outputTokens: null, costUsd: 0.5 },
        startedAt: '2026-01-01T00:00:00Z',
        log: '.ralph/logs/T-1-1.log',
        reason: null,
        keptRef: null,
        prefix: null,
        ...more,
      },
    })

  it('is told, kept and paid for', async () => {
    const root = makeProject(tasks)
    put(root, { '.ralph/run.json': note(root, {}), half: 'done' })
    const events = await runAll({ root, deed: ({ cwd }) => put(cwd, { whole: '' }), options: { budget: 100 } })
    expect(those(events, 'recovered')).toMatchObject([
      {
        message:
          'T-1: the last run died during attempt 1: 1 changed file is kept under refs/ralph/attempts/T-1/1',
      },
    ])
    expect(those(events, 'attempt-started')).toMatchObject([{ attempt: 2, counted: 1 }])
    expect(those(events, 'run-finished')).toMatchObject([{ cost: 1.5 }])
    expect(git(root, 'log', '-1', '--format=%(trailers:key=Turns,valueonly)')).toBe('3')
    expect(read(root, 'half')).toBeNull()
  })

  it('is recorded beside what a person has committed since, which stays', async () => {
    const root = makeProject(tasks)
    put(root, { '.ralph/run.json': note(root, {}), half: 'done' })
    const long = new Date('2026-01-01T00:00:00Z')
    utimesSync(join(root, '.ralph/run.json'), long, long)
    put(root, { mine: '' })
    git(root, 'add', 'mine')
    git(root, 'commit', '-qm', 'Mine')
    await runAll({ root, deed: ({ cwd }) => put(cwd, { work: '' }) })
    expect(git(root, 'log', '--format=%s', '-2')).toBe('T-1: Do T-1\nMine')
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:half')).toBe('done')
    expect([existsSync(join(root, 'mine')), existsSync(join(root, 'half'))]).toEqual([true, false])
  })

  it('is not touched where a person has moved HEAD elsewhere since', async () => {
    const root = makeProject(tasks)
    put(root, { '.ralph/run.json': note(root, {}) })
    const long = new Date('2026-01-01T00:00:00Z')
    utimesSync(join(root, '.ralph/run.json'), long, long)
    put(root, { mine: '' })
    git(root, 'checkout', '-q', '-b', 'elsewhere')
    git(root, 'add', '-A')
    git(root, 'commit', '-qm', 'Mine')
    await expect(runAll({ root })).rejects.toThrow('HEAD was moved after that')
    expect(git(root, 'log', '-1', '--format=%s')).toBe('Mine')
    expect(existsSync(join(root, 'mine'))).toBe(true)
  })

  it('a lock of a git that died with it is set aside', async () => {
    const root = makeProject(tasks)
    put(root, { '.ralph/run.json': note(root, {}), '.git/index.lock': 'half an index' })
    const events = await runAll({ root, deed: ({ cwd }) => put(cwd, { work: '' }) })
    expect(those(events, 'recovered')[0]?.message).toContain('index.lock')
    expect(git(root, 'log', '-1', '--format=%s')).toBe('T-1: Do T-1')
  })

  it('that cannot be read is no reason to guess', async () => {
    const root = makeProject(tasks)
    put(root, { '.ralph/run.json': 'half a li', half: 'done' })
    await expect(runAll({ root })).rejects.toThrow('1 file is not committed')
    expect(read(root, 'half')).toBe('done')
  })
})

describe('.ralph/state.json', () => {
  it('tells a watcher where a run stands', async () => {
    const root = makeProject({ ...tasks, 'T-2': taskText('T-2') })
    const during: unknown[] = []
    const state = (): unknown => JSON.parse(read(root, '.ralph/state.json') ?? 'null')
    await runAll({
      root,
      deed: ({ cwd, task }) => {
        during.push(state())
        if (task.id === 'T-1') return { end: { kind: 'blocked', reason: 'needs a key' } }
        put(cwd, { work: '' })
        return {}
      },
    })
    expect(during).toMatchObject([
      {
        version: '1.0',
        phase: 'executing',
        task_order: ['T-1', 'T-2'],
        task_statuses: { 'T-1': 'in_progress', 'T-2': 'pending' },
      },
      { task_statuses: { 'T-1': 'blocked', 'T-2': 'in_progress' } },
    ])
    expect(state()).toEqual({
      version: '1.0',
      written_by: 'ralph',
      original_request: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      // A question is no failure.
      phase: 'idle',
      task_order: ['T-1', 'T-2'],
      task_statuses: { 'T-1': 'blocked', 'T-2': 'completed' },
      last_failure: null,
    })
    put(root, { 'docs/tasks/T-3.md': taskText('T-3') })
    git(root, 'add', '--all')
    git(root, 'commit', '-q', '-m', 'More')
    await runAll({ root, deed: () => ({}), options: { retries: 0 } })
    expect(state()).toMatchObject({
      phase: 'failed',
      task_statuses: { 'T-1': 'blocked', 'T-2': 'completed', 'T-3': 'failed' },
      last_failure: {
        task_id: 'T-3',
        task_title: 'Do T-3',
        error_message: expect.stringContaining('no file has changed'),
        failed_at: expect.any(String),
        log_file: '.ralph/logs/T-3-1.log',
      },
    })
    expect(read(root, '.ralph/.gitignore')).toContain('\n/run.json\n')
  })

  it('says that a run has failed, and so does the last event, where an error ended it', async () => {
    const root = makeProject(tasks)
    const ports = await makePorts({ root, deed: ({ cwd }) => put(cwd, { work: '' }) })
    const workspace = {
      ...ports.workspace,
      inspect: {
        ...ports.workspace.inspect,
        work: () => Promise.reject(new GitError(['status'], 128, 'no')),
      },
    }
    const events: RunEvent[] = []
    const all = async (): Promise<void> => {
      await runTasks(OPTIONS, { ...ports, workspace }, (event) => events.push(event))
    }
    await expect(all()).rejects.toThrow('git status failed (128): no')
    expect(events.at(-1)).toMatchObject({ type: 'run-finished', end: 'failed' })
    expect(JSON.parse(read(root, '.ralph/state.json') ?? '')).toMatchObject({
      phase: 'failed',
      task_statuses: { 'T-1': 'pending' },
    })
  })
})

function fillUp(path: string, size: number): void {
  mkdirSync(join(path, '..'), { recursive: true })
  try {
    for (;;) writeFileSync(path, Buffer.alloc(size), { flag: 'a' })
  } catch {
    // The disk is full: that is what was wanted.
  }
}

function canMount(): boolean {
  const folder = '/tmp/ralph-can-mount'
  try {
    mkdirSync(folder, { recursive: true })
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' })
    execFileSync('umount', [folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
