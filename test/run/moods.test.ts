import { startProcess } from '../../src/process/start.ts'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { agentNamed } from '../../src/agents/registry.ts'
import { createAgent } from '../../src/agents/runtime.ts'
import { gateRunner } from '../../src/engine/gates/run.ts'
import { openGit } from '../../src/git/door.ts'
import { Control } from '../../src/engine/control.ts'
import { GitError } from '../../src/git/git.ts'
import type { RunEvent } from '../../src/engine/events/event.ts'
import { findRepository } from '../../src/git/repository.ts'
import { openHome } from '../../src/engine/slot/home.ts'
import { UNKNOWN_USAGE } from '../../src/base/usage.ts'
import { stateKeeper } from '../../src/authoring/bridges/run-state.ts'
import { runTasks } from '../../src/engine/run.ts'
import { ENV, git, makeFolder, makeRepository, put } from '../git/repository.ts'
import { makeProject, read, runAll, taskText, those } from './harness.ts'
import { doneBy, gateOf, makePorts, OPTIONS, ownFolder } from './ports.ts'

const tasks = { 'T-1': taskText('T-1') }
const SPENT = { ...UNKNOWN_USAGE, turns: 3, costUsd: 0.5 }

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
    const home = await openHome(door, (await findRepository(door))!, root)
    await runAll({ root, deed: ({ cwd }) => put(cwd, { work: '' }), ports: { home } })
    expect(git(root, 'log', '-1', '--format=%s')).toBe('T-1: Do T-1')
    expect(git(other, 'log', '-1', '--format=%s')).toBe('Begin')
    expect(git(other, 'status', '--porcelain')).toBe('')
  })

  it('a lock that the agent leaves is its own repository’s, and ends nothing', async () => {
    const root = makeProject(tasks)
    await runAll({ root, deed: ({ cwd }) => put(cwd, { work: 'precious', '.git/index.lock': '' }) })
    expect(git(root, 'show', '--format=%s', '--name-only')).toBe('T-1: Do T-1\n\ndocs/tasks/T-1.md\nwork')
    expect(existsSync(join(root, '.git/index.lock'))).toBe(false)
    expect(git(root, 'status', '--porcelain')).toBe('')
  })

  describe('a submodule', () => {
    const makeWithLibrary = (): string => {
      const library = makeRepository({ lib: '1' })
      git(library, 'branch', 'work')
      const root = makeProject(tasks)
      git(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'lib')
      git(root, 'commit', '-qm', 'Add the library')
      return root
    }
    const commitTwo = (lib: string): void => {
      put(lib, { lib: '2' })
      git(lib, '-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-qam', 'two')
    }

    it('is there for the agent and the gates, as the commit has it', async () => {
      const root = makeWithLibrary()
      put(root, { 'lib/lib': 'of the person' })
      const seen: (string | null)[] = []
      await runAll({
        root,
        options: { gates: [gateOf('test')] },
        deed: ({ cwd }) => (seen.push(read(cwd, 'lib/lib')), put(cwd, { work: '' })),
        gate: (_, cwd) => (seen.push(read(cwd, 'lib/lib')), true),
      })
      expect(seen).toEqual(['1', '1'])
      expect(git(root, 'log', '-1', '--format=%s')).toBe('T-1: Do T-1')
      expect(read(root, 'lib/lib')).toBe('of the person')
    })

    it('may move to a commit that its remote has', async () => {
      const root = makeWithLibrary()
      const lib = join(root, 'lib')
      const one = git(lib, 'rev-parse', 'HEAD')
      commitTwo(lib)
      const two = git(lib, 'rev-parse', 'HEAD')
      git(lib, 'push', '-q', 'origin', 'HEAD:work')
      git(lib, 'fetch', '-q')
      git(lib, 'checkout', '-q', one)
      await runAll({ root, deed: ({ cwd }) => void git(join(cwd, 'lib'), 'checkout', '-q', two) })
      expect(git(root, 'rev-parse', 'HEAD:lib')).toBe(two)
    })

    it('may not move to a commit that would be in no clone, and the checkout’s stays as it is', async () => {
      const root = makeWithLibrary()
      const before = git(join(root, 'lib'), 'rev-parse', 'HEAD')
      const events = await runAll({
        root,
        options: { retries: 0 },
        deed: ({ cwd }) => {
          put(cwd, { work: '' })
          commitTwo(join(cwd, 'lib'))
        },
      })
      expect(those(events, 'attempt-finished')).toMatchObject([
        { outcome: 'gate-failed', reason: expect.stringContaining('push it there first') as string },
      ])
      expect(git(root, 'rev-parse', 'HEAD:lib')).toBe(before)
      expect(git(join(root, 'lib'), 'rev-parse', 'HEAD')).toBe(before)
      expect(git(root, 'status', '--porcelain')).toBe('')
    })
  })

  // Windows knows no folder that nothing may be removed from.
  // BUG: for anybody but root it fails: Folder.bring and clean go on where git could not remove a file.
  it.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
    'a folder that the agent left read-only is in the record, and gone with the next task',
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
      execFileSync('chmod', ['-R', 'u+rwX', ownFolder(root)])
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
    const disk = join(makeFolder(), 'disk')
    mkdirSync(disk)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=120m', 'tmpfs', disk], { stdio: 'ignore' })
    mounted.push(disk)
    const root = join(disk, 'shop')
    execFileSync('cp', ['-r', makeProject(tasks), root])
    const fills = [1 << 20, 1 << 12, 1].map((size) => ({ path: join(disk, `fill-${size}`), size }))
    await expect(
      runAll({
        root,
        deed: ({ cwd }) => {
          put(cwd, { work: 'precious' })
          for (const { path, size } of fills) fillUp(path, size)
        },
      }),
    ).rejects.toThrow(/space/i)
    expect(git(root, 'log', '-1', '--format=%s')).toBe('Begin')
    for (const { path } of fills) rmSync(path, { force: true })
    const events = await runAll({ root, deed: ({ cwd }) => put(cwd, { work: 'again' }) })
    expect(those(events, 'recovered').at(-1)?.ref).toBe('refs/ralph/attempts/T-1/1')
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:work')).toBe('precious')
    expect(git(root, 'log', '-1', '--format=%s')).toBe('T-1: Do T-1')
    expect(git(root, 'fsck', '--strict', '--no-dangling')).toBe('')
  })

  it.skipIf(!canMount())('is said before the first slot is made', async () => {
    const disk = join(makeFolder(), 'disk')
    mkdirSync(disk)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk], { stdio: 'ignore' })
    mounted.push(disk)
    const root = join(disk, 'shop')
    execFileSync('cp', ['-r', makeProject(tasks), root])
    await expect(runAll({ root, deed: () => expect.fail('an agent is paid') })).rejects.toThrow(
      /too little space for a slot in .*: \d MB are free/,
    )
  })
})

describe('what a dead run leaves', () => {
  /** A run that dies while its agent works, having spent half a dollar, and its note. */
  const dieWith = async (root: string, files: Readonly<Record<string, string>>): Promise<void> => {
    const run = runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, files)
        return { events: [{ type: 'usage', usage: SPENT }], usage: SPENT }
      },
      ports: {
        checkpoint: (name) => {
          if (name === 'agent-ended') throw new Error('killed')
        },
      },
    })
    await expect(run).rejects.toThrow('killed')
  }

  it('is told, kept and paid for', async () => {
    const root = makeProject(tasks)
    await dieWith(root, { half: 'done' })
    const events = await runAll({
      root,
      deed: ({ cwd }) => put(cwd, { whole: '' }),
      options: { budget: 100 },
    })
    expect(those(events, 'recovered')).toMatchObject([
      {
        message:
          'T-1: the last run died during attempt 1: 1 changed file is kept under refs/ralph/attempts/T-1/1',
      },
    ])
    expect(those(events, 'attempt-started')).toMatchObject([{ attempt: 2, counted: 1 }])
    expect(those(events, 'run-finished')).toMatchObject([{ cost: 0.5 }])
    expect(git(root, 'log', '-1', '--format=%(trailers:key=Turns,valueonly)')).toBe('3')
    expect(read(root, 'half')).toBeNull()
  })

  it('is recorded beside what a person has committed since, which stays', async () => {
    const root = makeProject(tasks)
    await dieWith(root, { half: 'done' })
    put(root, { mine: '' })
    git(root, 'add', 'mine')
    git(root, 'commit', '-qm', 'Mine')
    await runAll({ root, deed: ({ cwd }) => put(cwd, { work: '' }) })
    expect(git(root, 'log', '--format=%s', '-2')).toBe('T-1: Do T-1\nMine')
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:half')).toBe('done')
    expect([existsSync(join(root, 'mine')), existsSync(join(root, 'half'))]).toEqual([true, false])
  })

  it('is recorded where a person has switched to another branch since, on which the next run works', async () => {
    const root = makeProject(tasks)
    await dieWith(root, { half: 'done' })
    git(root, 'checkout', '-q', '-b', 'another')
    await runAll({ root, deed: ({ cwd }) => put(cwd, { work: '' }) })
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:half')).toBe('done')
    expect(git(root, 'log', '-1', '--format=%s', 'another')).toBe('T-1: Do T-1')
    expect(git(root, 'log', '-1', '--format=%s', 'main')).toBe('Begin')
  })

  it('needs no slot: where that is gone, the task is done anew', async () => {
    const root = makeProject(tasks)
    await dieWith(root, { half: 'done' })
    rmSync(ownFolder(root), { recursive: true })
    const events = await runAll({ root, deed: ({ cwd }) => put(cwd, { work: '' }) })
    expect(those(events, 'recovered').map(({ message }) => message)).toEqual([
      'T-1: the last run died during attempt 1, and its slot is gone',
    ])
    expect(git(root, 'log', '-1', '--format=%s')).toBe('T-1: Do T-1')
  })

  it('is no reason to guess where its note cannot be read', async () => {
    const root = makeProject(tasks)
    await dieWith(root, { half: 'done' })
    put(root, { '.ralph/run.json': 'half a li' })
    await runAll({ root, deed: ({ cwd }) => put(cwd, { [read(cwd, 'half') ?? 'work']: '' }) })
    expect(git(root, 'show', '--format=%s', '--name-only')).toBe('T-1: Do T-1\n\ndocs/tasks/T-1.md\nwork')
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

  it('ends where Ctrl-C ends git too, which fails then', async () => {
    const root = makeProject(tasks)
    const control = new Control()
    const ports = await makePorts({
      root,
      ports: {
        control,
        taskToAdd: () => {
          control.stop('clean')
          return Promise.reject(new GitError(['show'], null, ''))
        },
      },
      deed: ({ cwd }) => put(cwd, { 'docs/tasks/T-2.md': taskText('T-2') }),
    })
    const events: RunEvent[] = []
    await runTasks(OPTIONS, ports, (event) => events.push(event))
    expect(events.at(-1)).toMatchObject({ type: 'run-finished', end: 'interrupted', completed: [] })
  })

  it('says that a run has failed, and so does the last event, where an error ended it', async () => {
    const root = makeProject(tasks)
    const ports = await makePorts({
      root,
      ports: { taskToAdd: () => Promise.reject(new GitError(['show'], 128, 'no')) },
      deed: ({ cwd }) => put(cwd, { 'docs/tasks/T-2.md': taskText('T-2') }),
    })
    const events: RunEvent[] = []
    const keepState = stateKeeper(ports.folder.state, () => ports.source.tasks())
    const hear = (event: RunEvent): void => (keepState(event), void events.push(event))
    await expect(runTasks(OPTIONS, ports, hear)).rejects.toThrow('git show failed (128): no')
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
