import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ENV, git, makeFolder, put } from '../git/repository.ts'
import { makeProject, read, runAll, taskText, those } from './harness.ts'
import { agentOf, doneBy, gateOf, type Deed } from './ports.ts'

const tasks = { 'T-1': taskText('T-1') }
const gates = [gateOf('test')]
const trailer = (root: string, key: string) =>
  git(root, 'log', '-1', `--format=%(trailers:key=${key},valueonly)`)
const interferences = (events: Awaited<ReturnType<typeof runAll>>) =>
  those(events, 'interference').map(({ interference }) => interference)

describe('the index of an agent is not believed', () => {
  const hidden: readonly (readonly [string, (root: string) => void])[] = [
    ['--skip-worktree', (root) => git(root, 'update-index', '--skip-worktree', 'gate.sh')],
    ['--assume-unchanged', (root) => git(root, 'update-index', '--assume-unchanged', 'gate.sh')],
    [
      'a sparse pattern',
      (root) => {
        git(root, 'config', 'core.sparseCheckout', 'true')
        put(root, { '.git/info/sparse-checkout': '/*\n!/gate.sh\n' })
        git(root, 'update-index', '--skip-worktree', 'gate.sh')
      },
    ],
  ]
  it.each(hidden)('where it hides a change by %s', async (_, hide) => {
    const root = makeProject(tasks, { 'gate.sh': 'exit 1\n' })
    let seen: string | null = null
    const events = await runAll({
      root,
      options: { gates: [gateOf('test', { command: 'sh gate.sh' })] },
      deed: ({ cwd }) => {
        hide(cwd)
        put(cwd, { 'gate.sh': 'exit 0\n', work: '' })
      },
      gate: (_, cwd) => ((seen = read(cwd, 'gate.sh')), true),
    })
    expect([seen, git(root, 'show', 'HEAD:gate.sh')]).toEqual(['exit 0\n', 'exit 0'])
    expect(trailer(root, 'Gates-Changed')).toBe('gate.sh')
    expect(interferences(events)).toContainEqual({ kind: 'gates-changed', paths: ['gate.sh'] })
    expect(git(root, 'status', '--porcelain')).toBe('')
  })

  it('where an edit has the size and the time that the file had', async () => {
    const root = makeProject(tasks, { 'gate.sh': 'exit 1\n' })
    git(root, 'config', 'core.trustctime', 'false')
    await runAll({
      root,
      deed: ({ cwd }) => {
        const file = join(cwd, 'gate.sh')
        const { atime, mtime } = statSync(file)
        put(cwd, { 'gate.sh': 'exit 0\n', work: '' })
        utimesSync(file, atime, mtime)
      },
    })
    expect(git(root, 'show', 'HEAD:gate.sh')).toBe('exit 0')
  })

  it('where the gates make it in the second in which git read the file', async () => {
    const root = makeProject(tasks, { 'sub/gate.sh': 'exit 1\n' })
    const events = await runAll({
      root,
      options: { gates },
      deed: async ({ cwd }) => {
        const first = Math.floor(Date.now() / 1000)
        while (Math.floor(Date.now() / 1000) === first) await new Promise((resolve) => setTimeout(resolve, 5))
        put(cwd, { 'sub/gate.sh': 'exit 2\n', work: '' })
      },
      gate: (_, cwd) => {
        const file = join(cwd, 'sub/gate.sh')
        const { atime, mtime } = statSync(file)
        put(cwd, { 'sub/gate.sh': 'exit 0\n' })
        utimesSync(file, atime, mtime)
        return true
      },
    })
    expect(git(root, 'show', 'HEAD:sub/gate.sh')).toBe('exit 0')
    expect(those(events, 'gates-again')).toMatchObject([{ paths: ['sub/gate.sh'] }])
    expect(git(root, 'status', '--porcelain')).toBe('')
  })

  it('and flags of the person stay theirs', async () => {
    const root = makeProject(tasks, { 'local.cfg': 'a\n' })
    git(root, 'update-index', '--skip-worktree', 'local.cfg')
    put(root, { 'local.cfg': 'mine\n' })
    await runAll({ root, deed: ({ cwd }) => put(cwd, { work: '' }) })
    expect(read(root, 'local.cfg')).toBe('mine\n')
    expect(git(root, 'show', 'HEAD:local.cfg')).toBe('a')
    expect(git(root, 'ls-files', '-v', 'local.cfg')).toBe('S local.cfg')
  })

  it('nor needed: its whole repository may go', async () => {
    const root = makeProject({ ...tasks, 'T-2': taskText('T-2') })
    const events = await runAll({
      root,
      options: { gates },
      deed: ({ cwd, task }) => {
        put(cwd, { [task.id]: 'work' })
        rmSync(join(cwd, '.git'), { recursive: true })
      },
    })
    expect(those(events, 'run-finished')).toMatchObject([{ completed: ['T-1', 'T-2'] }])
    expect(interferences(events)).toEqual([])
    expect(git(root, 'show', '--format=', '--name-only').split('\n')).toEqual(['T-2', 'docs/tasks/T-2.md'])
    expect(git(root, 'status', '--porcelain')).toBe('')
  })

  it('also of which ignored files are tracked: a file that was stays so, and a new one is in no tree', async () => {
    const root = makeProject(tasks, { 'secrets.env': 'KEY=1\n' })
    await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, { '.gitignore': '.ralph/\n*.env\ndist/\n', 'dist/kept.js': 'x\n' })
        git(cwd, 'rm', '-q', '--cached', 'secrets.env')
        git(cwd, 'add', '-f', 'dist/kept.js')
      },
    })
    const held = git(root, 'ls-tree', '-r', '--name-only', 'HEAD').split('\n')
    expect([held.includes('secrets.env'), held.includes('dist/kept.js')]).toEqual([true, false])
    expect(read(root, 'secrets.env')).toBe('KEY=1\n')
  })
})

describe('the tree after the gates is the tree of the commit', () => {
  it('where a formatter changes it, the gates run once more on that', async () => {
    const root = makeProject(tasks)
    const seen: string[] = []
    const events = await runAll({
      root,
      options: { gates: [gateOf('format'), gateOf('test')] },
      deed: ({ cwd }) => put(cwd, { work: 'ugly' }),
      gate: ({ name }, cwd) => {
        seen.push(`${name} ${read(cwd, 'work')}`)
        if (name === 'format') put(cwd, { work: 'nice' })
        return true
      },
    })
    expect(seen).toEqual(['format ugly', 'test nice', 'format nice', 'test nice'])
    expect(those(events, 'gates-again')).toMatchObject([{ id: 'T-1', paths: ['work'] }])
    expect(git(root, 'show', 'HEAD:work')).toBe('nice')
    expect(trailer(root, 'Gates')).toBe('format, test')
  })

  it('and where they change it each time, the attempt has failed', async () => {
    const root = makeProject(tasks)
    let count = 0
    const events = await runAll({
      root,
      options: { gates, retries: 0 },
      deed: ({ cwd }) => put(cwd, { work: '' }),
      gate: (_, cwd) => (put(cwd, { work: `${++count}` }), true),
    })
    expect(those(events, 'attempt-finished')).toMatchObject([
      { outcome: 'gate-failed', reason: 'the gates change what they check: work' },
    ])
    expect(git(root, 'log', '-1', '--format=%s')).toMatch(/^T-1: Block/)
  })

  it('where a gate rewrites what an earlier one has checked, that one sees it', async () => {
    const root = makeProject(tasks, { 'gate.sh': 'strict\n' })
    const seen: (string | null)[] = []
    await runAll({
      root,
      options: { gates: [gateOf('check'), gateOf('tests')] },
      deed: ({ cwd }) => put(cwd, { work: '' }),
      gate: ({ name }, cwd) => {
        if (name === 'check') seen.push(read(cwd, 'gate.sh'))
        else put(cwd, { 'gate.sh': 'lenient\n' })
        return true
      },
    })
    expect(seen).toEqual(['strict\n', 'lenient\n'])
  })

  it('and what a process writes that is left over is in no commit unseen', async () => {
    const root = makeProject(tasks)
    const seen: (string | null)[] = []
    await runAll({
      root,
      options: { gates },
      deed: ({ cwd }) => put(cwd, { work: 'honest\n' }),
      gate: async (_, cwd) => {
        seen.push(read(cwd, 'work'))
        const child = spawn('sh', ['-c', 'echo sneaky > work'], { cwd, stdio: 'ignore' })
        await new Promise((resolve) => child.once('exit', resolve))
        return true
      },
    })
    expect(seen).toEqual(['honest\n', 'sneaky\n'])
  })

  it('but for files that gates newly make: those are in no tree, and not in the checkout', async () => {
    const rest = '\n## Produces\n- `dist/`\n'
    const root = makeProject({ 'T-1': taskText('T-1', { rest }) })
    await runAll({
      root,
      options: { gates },
      deed: ({ cwd }) => put(cwd, { work: '', 'dist/index.js': '' }),
      gate: (_, cwd) => (put(cwd, { 'junit.xml': '<x/>', 'dist/built.js': '' }), true),
    })
    expect(git(root, 'show', '--format=', '--name-only').split('\n')).toEqual([
      'dist/index.js',
      'docs/tasks/T-1.md',
      'work',
    ])
    expect([read(root, 'junit.xml'), read(root, 'dist/built.js')]).toEqual([null, null])
  })

  it('and what a gate leaves is not there for those of the next task', async () => {
    const root = makeProject({ ...tasks, 'T-2': taskText('T-2') }, { '.gitignore': '.ralph/\nbuilt/\n' })
    const seen: boolean[] = []
    await runAll({
      root,
      options: { gates, retries: 0 },
      deed: ({ cwd, task }) => put(cwd, { [task.id]: '' }),
      gate: (_, cwd) => {
        seen.push(existsSync(join(cwd, 'left')) || existsSync(join(cwd, 'built')))
        put(cwd, { left: '', 'built/old.js': '' })
        return false
      },
    })
    expect(seen).toEqual([false, false])
  })

  it('says in the commit which gates passed, or that none ran', async () => {
    const root = makeProject({ ...tasks, 'T-2': taskText('T-2') })
    const deed: Deed = ({ cwd, task }) => put(cwd, { [task.id]: '' })
    await runAll({
      root,
      deed,
      options: { gates: [gateOf('types'), gateOf('lint', { required: false })], maxTasks: 1 },
      gate: ({ name }) => name === 'types',
    })
    expect(trailer(root, 'Gates')).toBe('types')
    await runAll({ root, deed })
    expect(trailer(root, 'Gates')).toBe('none')
  })
})

describe('a commit hook', () => {
  const hook = (root: string, script: string, path = '.git/hooks/pre-commit'): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  }

  it.each([
    ['that changes the commit has the gates run once more on that', 'echo formatted > work; git add work'],
    [
      'that formats files and refuses them is asked once more',
      'grep -q formatted work || { echo formatted > work; echo look at it; exit 1; }',
    ],
  ])('%s', async (_, script) => {
    const root = makeProject(tasks)
    hook(root, script)
    const seen: (string | null)[] = []
    await runAll({
      root,
      options: { gates },
      deed: ({ cwd }) => put(cwd, { work: 'as written\n' }),
      gate: (_gate, cwd) => (seen.push(read(cwd, 'work')), true),
    })
    expect(seen).toEqual(['as written\n', 'formatted\n'])
    expect(git(root, 'show', 'HEAD:work')).toBe('formatted')
    expect(git(root, 'status', '--porcelain')).toBe('')
  })

  it('whose change does not pass lands nothing', async () => {
    const root = makeProject(tasks)
    const base = git(root, 'rev-parse', 'HEAD')
    hook(root, 'echo broken > work; git add work')
    const events = await runAll({
      root,
      options: { gates, retries: 0, onFailure: 'stop' },
      deed: ({ cwd }) => put(cwd, { work: 'fine\n' }),
      gate: (_, cwd) => read(cwd, 'work') === 'fine\n',
    })
    expect(those(events, 'attempt-finished')).toMatchObject([
      {
        outcome: 'gate-failed',
        reason: expect.stringContaining('a commit hook changed work, and then: test'),
      },
    ])
    expect(git(root, 'rev-parse', 'HEAD')).toBe(base)
    expect(read(root, 'docs/tasks/T-1.md')).toBe(taskText('T-1'))
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:work')).toBe('fine')
    expect(git(root, 'for-each-ref', 'refs/ralph/candidates')).toBe('')
  })

  it.each([
    ['a tracked folder', 'hooks', (root: string) => git(root, 'config', 'core.hooksPath', 'hooks')],
    [
      'an ignored one, as husky has it',
      '.husky/_',
      (root: string) => {
        put(root, { '.husky/.gitignore': '_\n' })
        git(root, 'config', 'core.hooksPath', '.husky/_')
      },
    ],
    [
      'one that an included file names',
      'hooks',
      (root: string) => {
        put(root, { '.git/more': '[core]\n\thooksPath = hooks\n' })
        git(root, 'config', 'include.path', 'more')
      },
    ],
  ])('is the person’s where an agent writes another one, in %s', async (_, folder, set) => {
    const root = makeProject(tasks)
    set(root)
    hook(root, 'echo theirs > by-hook; git add by-hook', `${folder}/pre-commit`)
    git(root, 'add', '-A')
    git(root, 'commit', '-q', '--no-verify', '-m', 'Hooks')
    const stolen = join(makeFolder(), 'stolen')
    const events = await runAll({
      root,
      options: { gates },
      deed: ({ cwd }) => {
        put(cwd, { work: '', '.git/more': '[core]\n\thooksPath = /nowhere\n' })
        hook(cwd, `touch ${stolen}`, `${folder}/pre-commit`)
        hook(cwd, `touch ${stolen}`)
      },
    })
    expect(existsSync(stolen)).toBe(false)
    expect(git(root, 'show', 'HEAD:by-hook')).toBe('theirs')
    // A hook that is tracked is work like any other, and named where the gates decide.
    const isWork = git(root, 'ls-files', `${folder}/pre-commit`) !== ''
    expect(
      interferences(events)
        .map(({ kind }) => kind)
        .includes('gates-changed'),
    ).toBe(isWork)
    if (!isWork) expect(read(root, `${folder}/pre-commit`)).toContain('theirs')
  })

  it('is none that an agent has brought in before, until a person accepts it', async () => {
    const root = makeProject({ ...tasks, 'T-2': taskText('T-2') }, { 'hooks/pre-commit': '#!/bin/sh\n' })
    git(root, 'config', 'core.hooksPath', 'hooks')
    chmodSync(join(root, 'hooks/pre-commit'), 0o755)
    git(root, 'commit', '-qam', 'Hooks')
    const stolen = join(makeFolder(), 'stolen')
    const events = await runAll({
      root,
      deed: ({ cwd, task }) => {
        put(cwd, { [task.id]: '' })
        if (task.id === 'T-1') hook(cwd, `touch ${stolen}`, 'hooks/pre-commit')
      },
    })
    expect(events.at(-1)).toMatchObject({ completed: ['T-1', 'T-2'] })
    expect([read(root, 'hooks/pre-commit')?.includes(stolen), existsSync(stolen)]).toEqual([true, false])
  })
})

describe('what decides the gates', () => {
  it.each([
    'vitest.config.ts',
    'packages/a/jest.config.js',
    'tsconfig.build.json',
    '.npmrc',
    'sub/pytest.ini',
    'tox.ini',
    'Cargo.toml',
    'rules.mk',
    'scripts/check.sh',
    '.husky/pre-commit',
  ])('is shown where it changes: %s', async (file) => {
    const root = makeProject(tasks)
    const command = 'make test && (cd scripts && sh check.sh)'
    const events = await runAll({
      root,
      options: { gates: [gateOf('test', { command })] },
      deed: ({ cwd }) => put(cwd, { [file]: 'x\n', work: '' }),
    })
    expect(interferences(events)).toContainEqual({ kind: 'gates-changed', paths: [file] })
    expect(trailer(root, 'Gates-Changed')).toBe(file)
  })

  it('is shown of a package.json only where it decides', async () => {
    const manifest = (version: string, script: string) =>
      JSON.stringify({ version, jest: {}, scripts: { test: script } })
    for (const [text, expected] of [
      [manifest('2', 'jest'), ''],
      [manifest('1', 'true'), 'package.json'],
    ] as const) {
      const root = makeProject(tasks, { 'package.json': manifest('1', 'jest') })
      await runAll({ root, options: { gates }, deed: ({ cwd }) => put(cwd, { 'package.json': text }) })
      expect(trailer(root, 'Gates-Changed')).toBe(expected)
    }
  })

  it('lets the attempt fail where the config refuses it', async () => {
    const root = makeProject(tasks)
    const events = await runAll({
      root,
      options: { gates, retries: 0, gatesChanged: { action: 'refuse', paths: ['ci/**'] } },
      deed: ({ cwd }) => put(cwd, { 'ci/deep/step.yml': '', work: '' }),
    })
    expect(those(events, 'attempt-finished')).toMatchObject([
      { outcome: 'gate-failed', reason: 'it changes what decides the gates: ci/deep/step.yml' },
    ])
  })
})

describe('what a later start of an agent, an editor or git runs', () => {
  it.each([
    '.claude/settings.json',
    'packages/api/.gemini/settings.json',
    '.codex/config.toml',
    'opencode.json',
    '.mcp.json',
    '.Cursor/hooks.json',
    '.vscode/tasks.json',
    '.husky/pre-push',
    '.githooks/post-checkout',
  ])('is shown where it changes, and named in the commit: %s', async (file) => {
    const root = makeProject(tasks)
    const events = await runAll({
      root,
      options: { gates },
      deed: ({ cwd }) => put(cwd, { [file]: 'x\n', work: '' }),
    })
    expect(interferences(events)).toContainEqual({ kind: 'runs-later', paths: [file] })
    expect(trailer(root, 'Runs-Later')).toBe(file)
  })

  it('is not there for the next one where git ignores it', async () => {
    const root = makeProject({ ...tasks, 'T-2': taskText('T-2') }, { '.gitignore': 'settings.local.json\n' })
    const file = '.claude/settings.local.json'
    const seen: (string | null)[] = []
    await runAll({
      root,
      options: { gates },
      deed: ({ cwd, task }) => {
        seen.push(read(cwd, file))
        put(cwd, { [file]: '{}', [task.id]: '' })
      },
      gate: (_, cwd) => (seen.push(read(cwd, file)), true),
    })
    expect(seen).toEqual([null, null, null, null])
    expect(read(root, file)).toBeNull()
  })

  it('keeps an agent that obeys it from starting in the same run', async () => {
    const root = makeProject({ 'T-1': tasks['T-1'], 'T-2': taskText('T-2') })
    const file = '.opencode/plugin/mine.js'
    const obeying = (deed: Deed) =>
      doneBy({ ...agentOf(deed), alwaysReads: (path) => path.startsWith('.opencode/') })
    const deed: Deed = ({ cwd, task }) => put(cwd, { [file]: 'x\n', [task.id]: '' })
    expect((await runAll({ root, ports: obeying(deed) })).at(-1)).toMatchObject({
      completed: ['T-1'],
      reason: `fake would obey ${file}, which an agent of this run has changed: read it, then run ralph again`,
    })
    expect((await runAll({ root, ports: obeying(deed) })).at(-1)).toMatchObject({ completed: ['T-2'] })
  })

  it('keeps it from starting in the next attempt at the same task', async () => {
    const root = makeProject(tasks)
    let attempts = 0
    const deed: Deed = ({ cwd }) => {
      attempts++
      put(cwd, { '.opencode/plugin/mine.js': 'x\n' })
      return { end: { kind: 'no-marker' } }
    }
    const ports = doneBy({ ...agentOf(deed), alwaysReads: () => true })
    const events = await runAll({ root, ports })
    expect(events.at(-1)).toMatchObject({ reason: expect.stringContaining('fake would obey') as string })
    expect(attempts).toBe(1)
  })

  it('keeps nobody from starting once it is gone', async () => {
    const root = makeProject({ 'T-1': tasks['T-1'], 'T-2': taskText('T-2') })
    const deed: Deed = ({ cwd, task }) => {
      put(cwd, task.id === 'T-1' ? { '.opencode/plugin/mine.js': 'x\n' } : { work: '' })
      return { end: { kind: task.id === 'T-1' ? 'no-marker' : 'done' } }
    }
    const ports = doneBy({ ...agentOf(deed), alwaysReads: () => true })
    const events = await runAll({ root, ports, options: { retries: 0 } })
    expect(events.at(-1)).toMatchObject({ completed: ['T-2'], blocked: ['T-1'] })
  })

  it('is not all that stands beside it', async () => {
    const root = makeProject(tasks)
    const files = { '.vscode/words.txt': '', 'docs/claude/settings.json': '', 'src/mcp.json': '', work: '' }
    const events = await runAll({ root, options: { gates }, deed: ({ cwd }) => put(cwd, files) })
    expect(interferences(events)).toEqual([])
    expect(trailer(root, 'Runs-Later')).toBe('')
  })
})

describe("a person's own commit", () => {
  const commitMine = (root: string): void => {
    put(root, { mine: 'mine\n' })
    git(root, 'add', 'mine')
    git(root, 'commit', '-qm', 'Mine')
  }

  it.each(['attempt', 'gates', 'last moment'])(
    'in the %s stays theirs, and the task lands on top of it, when the gates have seen both',
    async (when) => {
      const root = makeProject(tasks)
      const base = git(root, 'rev-parse', 'HEAD')
      const seen: (string | null)[] = []
      let mine = ''
      const commitOnce = (at: string): void => {
        if (at !== when || mine !== '') return
        commitMine(root)
        mine = git(root, 'rev-parse', 'HEAD')
      }
      await runAll({
        root,
        options: { gates },
        deed: ({ cwd }) => {
          put(cwd, { work: '' })
          commitOnce('attempt')
        },
        gate: (_, cwd) => {
          seen.push(read(cwd, 'mine'))
          commitOnce('gates')
          return true
        },
        ports: { checkpoint: (name) => name === 'committed' && commitOnce('last moment') },
      })
      expect(git(root, 'log', '--format=%s')).toBe('T-1: Do T-1\nMine\nBegin')
      expect(git(root, 'log', '-2', '--format=%H', 'HEAD~1').split('\n')).toEqual([mine, base])
      expect(git(root, 'show', '--format=', '--name-only').split('\n')).toEqual(['docs/tasks/T-1.md', 'work'])
      expect(seen).toEqual([null, 'mine\n'])
      expect(git(root, 'status', '--porcelain')).toBe('')
    },
  )
})

describe('tasks that an agent adds', () => {
  it('come in as TODO, or not at all', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-9': taskText('T-9', { depends: 'T-5' }) })
    const events = await runAll({
      root,
      deed: ({ cwd }) => put(cwd, { work: '', 'docs/tasks/T-5.md': taskText('T-5').replace('TODO', 'DONE') }),
      options: { maxTasks: 2 },
    })
    expect(interferences(events)).toEqual([{ kind: 'task-files', paths: ['docs/tasks/T-5.md'] }])
    expect(read(root, 'docs/tasks/T-5.md')).toBeNull()
    expect(those(events, 'run-finished')).toMatchObject([{ completed: ['T-1'] }])
  })

  it('are no more than a run may take', async () => {
    const root = makeProject(tasks)
    const events = await runAll({
      root,
      options: { maxAddedTasks: 3 },
      deed: ({ cwd, task }) => {
        const next = `T-${Number(task.id.slice(2)) + 1}`
        put(cwd, { [task.id]: '', [`docs/tasks/${next}.md`]: taskText(next) })
      },
    })
    expect(those(events, 'run-finished')).toMatchObject([{ completed: ['T-1', 'T-2', 'T-3', 'T-4'] }])
    expect(interferences(events)).toEqual([{ kind: 'task-files', paths: ['docs/tasks/T-5.md'] }])
  })
})

describe('what an agent does to the repository', () => {
  it('stays in its own: refs, replaced objects, settings and a shallow file', async () => {
    const root = makeProject(tasks, { source: 'good\n' })
    const refs = (): string => git(root, 'for-each-ref', '--format=%(refname)')
    const before = [refs(), readFileSync(join(root, '.git/config'), 'utf8')]
    await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, { work: '' })
        const input = { cwd, env: ENV, input: 'bad\n' }
        const bad = execFileSync('git', ['hash-object', '-w', '--stdin'], input).toString().trim()
        git(cwd, 'replace', git(cwd, 'rev-parse', 'HEAD:source'), bad)
        git(cwd, 'branch', 'of-the-agent')
        git(cwd, 'config', 'core.editor', 'evil')
        writeFileSync(join(cwd, '.git/shallow'), `${git(cwd, 'rev-parse', 'HEAD')}\n`)
      },
    })
    expect([refs(), readFileSync(join(root, '.git/config'), 'utf8')]).toEqual(before)
    expect(git(root, 'show', 'HEAD:source')).toBe('good')
    expect(existsSync(join(root, '.git/shallow'))).toBe(false)
    expect(git(root, 'log', '--format=%s')).toBe('T-1: Do T-1\nBegin')
  })

  it('is named where it made commits of its own', async () => {
    const root = makeProject(tasks)
    let made = ''
    const events = await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, { work: '' })
        git(cwd, 'add', '-A')
        git(cwd, 'commit', '-qm', 'Of the agent')
        made = git(cwd, 'rev-parse', 'HEAD')
      },
    })
    expect(interferences(events)).toEqual([{ kind: 'commits', commits: [made] }])
    expect(git(root, 'log', '--format=%s')).toBe('T-1: Do T-1\nBegin')
    expect(git(root, 'show', '--format=', '--name-only').split('\n')).toEqual(['docs/tasks/T-1.md', 'work'])
  })

  it('its attributes do not reach the task file', async () => {
    const root = makeProject(tasks)
    await runAll({
      root,
      options: { retries: 0 },
      deed: ({ cwd }) => {
        put(cwd, { '.gitattributes': '* text eol=crlf ident\n', work: '' })
        return { end: { kind: 'crashed', reason: 'boom' } }
      },
    })
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:.gitattributes')).toContain('crlf')
    expect(read(root, 'docs/tasks/T-1.md')).toContain('BLOCKED')
    expect(read(root, 'docs/tasks/T-1.md')).not.toContain('\r')
    expect(git(root, 'status', '--porcelain')).toBe('')
  })

  it('its attributes do not normalize the line ends of the task file', async () => {
    const text = taskText('T-1').replaceAll('\n', '\r\n')
    const root = makeProject({ 'T-1': text })
    await runAll({ root, deed: ({ cwd }) => put(cwd, { '.gitattributes': '* text eol=lf\n', work: '' }) })
    const bytes = execFileSync('git', ['show', 'HEAD:docs/tasks/T-1.md'], { cwd: root, env: ENV }).toString()
    expect(bytes.split('\r\n')).toHaveLength(bytes.split('\n').length)
    expect(bytes).toContain('DONE')
  })

  it('attributes that would store the task file as other bytes let the attempt fail', async () => {
    const root = makeProject(tasks)
    const events = await runAll({
      root,
      options: { retries: 0 },
      deed: ({ cwd }) => put(cwd, { '.gitattributes': '*.md ident\n', work: '' }),
    })
    expect(those(events, 'attempt-finished')).toMatchObject([
      {
        outcome: 'gate-failed',
        reason: expect.stringContaining('would have git store docs/tasks/T-1.md as other bytes') as string,
      },
    ])
  })

  it('an empty folder is no product, nor is one that git does not see', async () => {
    for (const rest of ['\n## Produces\n- `empty/`\n', '\n## Produces\n- `ignored/`\n']) {
      const root = makeProject({ 'T-1': taskText('T-1', { rest }) }, { '.gitignore': '.ralph/\nignored/\n' })
      const events = await runAll({
        root,
        options: { retries: 0 },
        deed: ({ cwd }) => {
          put(cwd, { work: '', 'ignored/x': '' })
          mkdirSync(join(cwd, 'empty'), { recursive: true })
        },
      })
      expect(those(events, 'attempt-finished')).toMatchObject([{ outcome: 'missing-output' }])
    }
  })
})

describe('another tool that keeps its own in .ralph', () => {
  it('keeps it: ralph writes no file there that is not its own, and commits none', async () => {
    const state = JSON.stringify({ version: '1.0', phase: 'executing', mine: true })
    const root = makeProject(tasks, {
      '.gitignore': '',
      '.ralph/state.json': state,
      '.ralph/db/tasks.yaml': '[]\n',
    })
    await runAll({
      root,
      deed: ({ cwd }) => put(cwd, { work: '', '.ralph/db/new.yaml': 'x\n' }),
    })
    expect(read(root, '.ralph/state.json')).toBe(state)
    expect(JSON.parse(read(root, '.ralph/run-state.json')!)).toMatchObject({ written_by: 'ralph' })
    expect(git(root, 'show', '--format=', '--name-only').split('\n')).toEqual([
      '.ralph/db/new.yaml',
      'docs/tasks/T-1.md',
      'work',
    ])
    expect(git(root, 'status', '--porcelain')).toBe('')
  })

  it('also with a .gitignore of its own', async () => {
    const root = makeProject(tasks, { '.gitignore': '', '.ralph/.gitignore': 'cache/\n' })
    await runAll({ root, deed: ({ cwd }) => put(cwd, { work: '' }) })
    expect(read(root, '.ralph/.gitignore')).toBe('cache/\n')
    expect(git(root, 'status', '--porcelain')).toBe('')
    expect(git(root, 'show', '--format=', '--name-only').split('\n')).toEqual(['docs/tasks/T-1.md', 'work'])
  })
})

/** One thing that an agent, or a gate, does to the tree. */
type Act = (root: string) => void

const FILES = ['a', 'b/c', 'b/d', 'gate.sh']
const anyFile = fc.constantFrom(...FILES)
const quietly =
  (act: Act): Act =>
  (root) => {
    try {
      act(root)
    } catch {
      // What is not there cannot be renamed.
    }
  }
const act: fc.Arbitrary<Act> = fc
  .oneof(
    fc.tuple(anyFile, fc.constantFrom('x\n', 'y\n', 'zz\n')).map(
      ([file, text]): Act =>
        (root) =>
          put(root, { [file]: text }),
    ),
    anyFile.map(
      (file): Act =>
        (root) =>
          rmSync(join(root, file), { force: true }),
    ),
    anyFile.map(
      (file): Act =>
        (root) =>
          chmodSync(join(root, file), 0o755),
    ),
    anyFile.map(
      (file): Act =>
        (root) =>
          symlinkSync('a', join(root, `${file}.link`)),
    ),
    fc.tuple(anyFile, anyFile).map(
      ([from, to]): Act =>
        (root) =>
          renameSync(join(root, from), join(root, to)),
    ),
    anyFile.map(
      (file): Act =>
        (root) =>
          git(root, 'update-index', '--skip-worktree', file),
    ),
    anyFile.map(
      (file): Act =>
        (root) =>
          git(root, 'update-index', '--assume-unchanged', file),
    ),
    anyFile.map(
      (file): Act =>
        (root) =>
          git(root, 'rm', '-q', '--cached', file),
    ),
    anyFile.map((file): Act => (root) => {
      const { atime, mtime } = statSync(join(root, file))
      put(root, { [file]: 'q\n' })
      utimesSync(join(root, file), atime, mtime)
    }),
    fc.constant<Act>((root) => git(root, 'add', '-A')),
    fc.constant<Act>((root) => git(root, 'commit', '-qam', 'mine')),
    fc.constant<Act>((root) => git(root, 'stash', '-q')),
    fc.constant<Act>((root) => put(root, { '.gitignore': '.ralph/\nb/\n' })),
    fc.constant<Act>((root) => git(root, 'reset', '-q', '--hard', 'HEAD')),
  )
  .map(quietly)

/** The files as a gate finds them, but for git's own and ralph's. */
function filesIn(root: string): ReadonlyMap<string, string> {
  const names = execFileSync(
    'find',
    [
      '.',
      '-path',
      './.git',
      '-prune',
      '-o',
      '-path',
      './.ralph',
      '-prune',
      '-o',
      '-not',
      '-type',
      'd',
      '-printf',
      '%P %l %m\\n',
    ],
    { cwd: root },
  )
    .toString()
    .split('\n')
    .filter(Boolean)
  return new Map(
    names.map((line) => {
      const [path = '', link = '', mode = ''] = line.split(' ')
      const text = link === '' ? readFileSync(join(root, path), 'latin1') : ''
      return [path, `${link} ${(Number.parseInt(mode, 8) & 0o100) !== 0 && link === ''} ${text}`]
    }),
  )
}

describe('whatever an agent and the gates do', () => {
  it(
    'the tree of the commit, without what ralph writes, is the one that the last gate saw',
    { timeout: 240_000 },
    async () => {
      let landed = 0
      await fc.assert(
        fc.asyncProperty(
          fc.array(act, { minLength: 1, maxLength: 6 }),
          fc.array(act, { maxLength: 2 }),
          async (deeds, ofGate) => {
            const root = makeProject(tasks, { a: '1\n', 'b/c': '2\n', 'b/d': '3\n', 'gate.sh': 'x\n' })
            const seen: ReadonlyMap<string, string>[] = []
            await runAll({
              root,
              options: { gates, retries: 0 },
              deed: ({ cwd }) => {
                for (const one of deeds) one(cwd)
                put(cwd, { work: '' })
              },
              gate: (_, cwd) => {
                if (seen.length === 0) {
                  seen.push(filesIn(cwd))
                  for (const one of ofGate) one(cwd)
                }
                seen.push(filesIn(cwd))
                return true
              },
            })
            if (!git(root, 'log', '-1', '--format=%s').endsWith('Do T-1')) return
            landed++
            const other = makeFolder()
            git(other, 'clone', '-q', root, 'clone')
            const committed = new Map(filesIn(join(other, 'clone')))
            // What gates newly make is in no tree.
            const expected = new Map([...seen.at(-1)!].filter(([path]) => seen[0]!.has(path)))
            for (const map of [committed, expected]) map.delete('docs/tasks/T-1.md')
            expect(committed).toEqual(expected)
          },
        ),
        { numRuns: 25 },
      )
      expect(landed).toBeGreaterThan(5)
    },
  )
})
