import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commit, ENV, git, makeFolder, put } from '../repository.ts'
import {
  changedIn,
  interferences,
  log,
  makeProject,
  read,
  runAll,
  status,
  taskText,
  those,
  trailer,
} from './harness.ts'
import { agentOf, doneBy, gateOf, OPTIONS, type Deed } from './ports.ts'

const pass = (): boolean => true
/** Writes a file again, with the times that it has. */
function rewrite(root: string, path: string, text: string): void {
  const { atime, mtime } = statSync(join(root, path))
  put(root, { [path]: text })
  utimesSync(join(root, path), atime, mtime)
}

describe('the index of an agent is not believed', () => {
  it('where it hides a change', async () => {
    const root = makeProject(1, { 'gate.sh': 'exit 1\n' })
    let seen: string | null = null
    const events = await runAll({
      root,
      options: { gates: [gateOf('test', { command: 'sh gate.sh' })] },
      deed: ({ cwd }) => {
        git(cwd, 'update-index', '--skip-worktree', 'gate.sh')
        put(cwd, { 'gate.sh': 'exit 0\n', work: '' })
      },
      gate: (_, cwd) => ((seen = read(cwd, 'gate.sh')), true),
    })
    expect([seen, git(root, 'show', 'HEAD:gate.sh')]).toEqual(['exit 0\n', 'exit 0'])
    expect(trailer(root, 'Gates-Changed')).toBe('gate.sh')
    expect(interferences(events)).toContainEqual({ kind: 'gates-changed', paths: ['gate.sh'] })
    expect(status(root)).toBe('')
  })

  it('where an edit has the size and the time that the file had', async () => {
    const root = makeProject(1, { 'gate.sh': 'exit 1\n' })
    git(root, 'config', 'core.trustctime', 'false')
    await runAll({
      root,
      deed: ({ cwd }) => {
        rewrite(cwd, 'gate.sh', 'exit 0\n')
        put(cwd, { work: '' })
      },
    })
    expect(git(root, 'show', 'HEAD:gate.sh')).toBe('exit 0')
  })

  it('where the gates make it in the second in which git read the file', async () => {
    const root = makeProject(1, { 'sub/gate.sh': 'exit 1\n' })
    const events = await runAll({
      root,
      deed: async ({ cwd }) => {
        const first = Math.floor(Date.now() / 1000)
        while (Math.floor(Date.now() / 1000) === first) await new Promise((resolve) => setTimeout(resolve, 5))
        put(cwd, { 'sub/gate.sh': 'exit 2\n', work: '' })
      },
      gate: (_, cwd) => (rewrite(cwd, 'sub/gate.sh', 'exit 0\n'), true),
    })
    expect(git(root, 'show', 'HEAD:sub/gate.sh')).toBe('exit 0')
    expect(those(events, 'gates-again')).toMatchObject([{ paths: ['sub/gate.sh'] }])
    expect(status(root)).toBe('')
  })

  it('and flags of the person stay theirs', async () => {
    const root = makeProject(1, { 'local.cfg': 'a\n' })
    git(root, 'update-index', '--skip-worktree', 'local.cfg')
    put(root, { 'local.cfg': 'mine\n' })
    await runAll({ root, deed: ({ cwd }) => put(cwd, { work: '' }) })
    expect(read(root, 'local.cfg')).toBe('mine\n')
    expect(git(root, 'show', 'HEAD:local.cfg')).toBe('a')
    expect(git(root, 'ls-files', '-v', 'local.cfg')).toBe('S local.cfg')
  })

  it('nor needed: its whole repository may go', async () => {
    const root = makeProject(2)
    const events = await runAll({
      root,
      deed: ({ cwd, task }) => {
        put(cwd, { [task.id]: 'work' })
        rmSync(join(cwd, '.git'), { recursive: true })
      },
    })
    expect(those(events, 'run-finished')).toMatchObject([{ completed: ['T-1', 'T-2'] }])
    expect(interferences(events)).toEqual([])
    expect(changedIn(root)).toEqual(['T-2', 'docs/tasks/T-2.md'])
    expect(status(root)).toBe('')
  })

  it('in which ignored files are tracked: a file that was stays so, and a new one is in no tree', async () => {
    const root = makeProject(1, { 'secrets.env': 'KEY=1\n' })
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
    const root = makeProject(2)
    const before = read(root, 'docs/tasks/T-2.md')
    const seen: string[] = []
    const events = await runAll({
      root,
      options: { gates: [gateOf('format'), gateOf('test')], maxTasks: 1 },
      deed: ({ cwd }) => put(cwd, { work: 'ugly' }),
      gate: ({ name }, cwd) => {
        seen.push(`${name} ${read(cwd, 'work')}`)
        if (name === 'format') put(cwd, { work: 'nice', 'docs/tasks/T-2.md': `${before}\nMore.\n` })
        return true
      },
    })
    expect(seen).toEqual(['format ugly', 'test nice', 'format nice', 'test nice'])
    // Gates have no say in task files.
    expect(those(events, 'gates-again')).toMatchObject([{ id: 'T-1', paths: ['work'] }])
    expect(changedIn(root)).toEqual(['docs/tasks/T-1.md', 'work'])
    expect([read(root, 'work'), read(root, 'docs/tasks/T-2.md')]).toEqual(['nice', before])
    expect(trailer(root, 'Gates')).toBe('format, test')
  })

  it('and where they change it each time, the attempt has failed', async () => {
    let count = 0
    const events = await runAll({
      root: makeProject(),
      options: { retries: 0 },
      deed: ({ cwd }) => put(cwd, { work: '' }),
      gate: (_, cwd) => (put(cwd, { work: `${++count}` }), true),
    })
    const reason = 'the gates change what they check: work'
    expect(those(events, 'attempt-finished')).toMatchObject([{ outcome: 'gate-failed', reason }])
    expect(count).toBe(2)
  })

  it('but for files that gates newly make: those are in no tree, and not in the checkout', async () => {
    const root = makeProject({ 'T-1': taskText('T-1', { rest: '\n## Produces\n- `dist/`\n' }) })
    await runAll({
      root,
      deed: ({ cwd }) => put(cwd, { work: '', 'dist/index.js': '' }),
      gate: (_, cwd) => (put(cwd, { 'junit.xml': '<x/>', 'dist/built.js': '' }), true),
    })
    expect(changedIn(root)).toEqual(['dist/index.js', 'docs/tasks/T-1.md', 'work'])
    expect([read(root, 'junit.xml'), read(root, 'dist/built.js')]).toEqual([null, null])
  })

  it('names in the commit the gates that passed, or says that none ran', async () => {
    const root = makeProject(2)
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
  const hook = (root: string, script: string, path = '.git/hooks/pre-commit'): void =>
    put(root, { [path]: `#!/bin/sh\n${script}\n` })

  it.each([
    [
      'that changes the commit, which it sees, has the gates run once more on that',
      'test "$(git diff --cached --name-only | xargs)" = "docs/tasks/T-1.md work" && echo formatted > work; git add work',
    ],
    [
      'that formats files and refuses them is asked once more',
      'grep -q formatted work || { echo formatted > work; echo look at it; exit 1; }',
    ],
  ])('%s', async (_, script) => {
    const root = makeProject()
    hook(root, script)
    const seen: (string | null)[] = []
    await runAll({
      root,
      deed: ({ cwd }) => put(cwd, { work: 'as written\n' }),
      gate: (_gate, cwd) => (seen.push(read(cwd, 'work')), true),
    })
    expect(seen).toEqual(['as written\n', 'formatted\n'])
    expect(git(root, 'show', 'HEAD:work')).toBe('formatted')
    expect(status(root)).toBe('')
  })

  it('whose change does not pass lands nothing', async () => {
    const root = makeProject()
    hook(root, 'echo broken > work; git add work')
    const events = await runAll({
      root,
      options: { retries: 0, onFailure: 'stop' },
      deed: ({ cwd }) => put(cwd, { work: 'fine\n' }),
      gate: (_, cwd) => read(cwd, 'work') === 'fine\n',
    })
    const reason = expect.stringContaining('a commit hook changed work, and then: test') as string
    expect(those(events, 'attempt-finished')).toMatchObject([{ outcome: 'gate-failed', reason }])
    expect(log(root)).toBe('Begin')
    expect(read(root, 'docs/tasks/T-1.md')).toBe(taskText('T-1'))
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:work')).toBe('fine')
    expect(git(root, 'for-each-ref', 'refs/ralph/candidates')).toBe('')
  })

  it.each([
    ['a tracked folder', 'hooks'],
    ['an ignored one, as husky has it', '.husky/_'],
  ])('is the person’s where an agent writes another one, in %s', async (_, folder) => {
    const isTracked = folder === 'hooks'
    const root = makeProject(1, isTracked ? {} : { '.husky/.gitignore': '_\n' })
    git(root, 'config', 'core.hooksPath', folder)
    hook(root, 'echo theirs > by-hook; git add by-hook', `${folder}/pre-commit`)
    if (isTracked) commit(root, 'Hooks')
    const stolen = join(makeFolder(), 'stolen')
    const events = await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, { work: '' })
        hook(cwd, `touch ${stolen}`, `${folder}/pre-commit`)
        hook(cwd, `touch ${stolen}`)
      },
      gate: pass,
    })
    expect(existsSync(stolen)).toBe(false)
    expect(git(root, 'show', 'HEAD:by-hook')).toBe('theirs')
    // A hook that is tracked is work like any other, and named where the gates decide.
    expect(interferences(events).some(({ kind }) => kind === 'gates-changed')).toBe(isTracked)
    if (!isTracked) expect(read(root, `${folder}/pre-commit`)).toContain('theirs')
  })

  it('that an agent has brought in is not in force until a person accepts it', async () => {
    const root = makeProject(2, { 'hooks/pre-commit': '#!/bin/sh\n' })
    git(root, 'config', 'core.hooksPath', 'hooks')
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
  const DECIDING = [
    '.husky/pre-commit',
    '.mocharc.yml',
    '.npmrc',
    '.rspec',
    'Cargo.toml',
    'Shop.Tests/Shop.Tests.csproj',
    'build.gradle.kts',
    'conftest.py',
    'jest.config.e2e.js',
    'karma.conf.js',
    'packages/a/jest.config.js',
    'phpunit.xml',
    'pom.xml',
    'pyproject.toml',
    'rules.mk',
    'scripts/check.sh',
    'src/setupTests.ts',
    'sub/pytest.ini',
    'tox.ini',
    'tsconfig.build.json',
    'vitest.config.ts',
    'vitest.unit.config.mts',
  ]

  it('is named where it changes, and nothing else is', async () => {
    const root = makeProject()
    const command = 'make test && (cd scripts && sh check.sh)'
    const paths = [...DECIDING, 'src/a.ts', 'docs/mypytest.ini.md', 'check.txt']
    const events = await runAll({
      root,
      options: { gates: [gateOf('test', { command })] },
      deed: ({ cwd }) => put(cwd, Object.fromEntries(paths.map((path) => [path, 'x\n']))),
    })
    expect(interferences(events)).toContainEqual({ kind: 'gates-changed', paths: DECIDING })
    expect(trailer(root, 'Gates-Changed').split('\n')).toEqual(DECIDING)
  })

  it('is a package.json, or a Makefile, only where it decides', async () => {
    const manifest = (version: string, script: string) =>
      JSON.stringify({ version, jest: {}, scripts: { test: script } })
    for (const [files, expected] of [
      [{ 'package.json': manifest('2', 'jest'), Makefile: 'all:' }, ''],
      [{ 'package.json': manifest('1', 'true') }, 'package.json'],
    ] as const) {
      const root = makeProject(1, { 'package.json': manifest('1', 'jest') })
      await runAll({ root, gate: pass, deed: ({ cwd }) => put(cwd, files) })
      expect(trailer(root, 'Gates-Changed')).toBe(expected)
    }
  })

  const scripts = (all: Readonly<Record<string, string>>) => JSON.stringify({ scripts: all }, null, 2)

  it.each<[string, string, Readonly<Record<string, string>>, readonly string[]]>([
    [
      'from a script to the scripts that it runs',
      'npm test',
      {
        'package.json': scripts({
          pretest: 'sh setup.sh',
          test: 'npm run all',
          all: 'node run-all.js && eslint src/cli.js',
          start: 'node server.js',
        }),
        'setup.sh': '',
        'server.js': '',
        'index.js': '',
        'src/cli.js': '',
        'run-all.js': `const { execSync } = require('child_process')
          const product = require('./index.js')
          for (const one of ['ci/unit.sh', 'src/cli.js', 'test/a.js']) execSync('sh ' + one)`,
        'ci/unit.sh': '. ./ci/lib/env',
        'ci/lib/env': '',
        'test/a.js': '',
      },
      ['ci/lib/env', 'ci/unit.sh', 'run-all.js', 'setup.sh'],
    ],
    [
      'from a target to what it needs',
      'make test',
      {
        Makefile:
          'test: unit\n\tscripts/run --fast\n\nunit:\n\tpython3 -m ci.check\n\nserve:\n\tsh serve.sh\n',
        'scripts/run': '#!/bin/sh\nexec true\n',
        'ci/check.py': 'from ci.rules import ALL\nfrom . import more\nimport shop.model\n',
        'ci/rules.py': '',
        'ci/more.py': '',
        'shop/model.py': '',
        'serve.sh': '',
      },
      ['Makefile', 'ci/check.py', 'ci/more.py', 'ci/rules.py', 'scripts/run'],
    ],
    [
      'into a package, and in a circle',
      'cd packages/api && npm test',
      {
        'packages/api/package.json': scripts({ test: 'node tools/check.mjs' }),
        'packages/api/tools/check.mjs': `import { rules } from './rules'\nimport { shop } from '../src/shop.mjs'`,
        'packages/api/tools/rules.mjs': `import './check.mjs'`,
        'packages/api/src/shop.mjs': '',
      },
      ['packages/api/tools/check.mjs', 'packages/api/tools/rules.mjs'],
    ],
  ])('is followed %s', async (_, command, files, deciding) => {
    const root = makeProject(1, files)
    const others = Object.entries(files).filter(([path]) => !path.endsWith('package.json'))
    await runAll({
      root,
      options: {
        gates: [gateOf('test', { command })],
        tests: { ...OPTIONS.tests, changed: 'report', new: 'off' },
      },
      deed: ({ cwd }) => put(cwd, Object.fromEntries(others.map(([path, text]) => [path, `${text}\n\n`]))),
    })
    expect(trailer(root, 'Gates-Changed').split('\n')).toEqual(deciding)
  })

  it('lets the attempt fail where the config refuses it', async () => {
    const events = await runAll({
      root: makeProject(),
      options: { retries: 0, gatesChanged: { action: 'refuse', paths: ['ci/**'] } },
      deed: ({ cwd }) => put(cwd, { 'ci/deep/step.yml': '', work: '' }),
      gate: pass,
    })
    const reason = 'it changes what decides the gates: ci/deep/step.yml'
    expect(those(events, 'attempt-finished')).toMatchObject([{ outcome: 'gate-failed', reason }])
  })
})

describe('what a later start of an agent, an editor or git runs', () => {
  const PLUGIN = '.opencode/plugin/mine.js'
  const obeying = (deed: Deed) =>
    doneBy({ ...agentOf(deed), alwaysReads: (path) => path.startsWith('.opencode/') })

  it('is named where it changes, and nothing else is', async () => {
    const root = makeProject()
    const running = [
      '.Cursor/hooks.json',
      '.claude/settings.json',
      '.codex/config.toml',
      '.githooks/post-checkout',
      '.husky/pre-push',
      '.mcp.json',
      '.vscode/tasks.json',
      'opencode.json',
      'packages/api/.gemini/settings.json',
    ]
    const paths = [...running, '.vscode/words.txt', 'docs/claude/settings.json', 'src/mcp.json']
    const events = await runAll({
      root,
      deed: ({ cwd }) => put(cwd, Object.fromEntries(paths.map((path) => [path, 'x\n']))),
    })
    expect(interferences(events)).toContainEqual({ kind: 'runs-later', paths: running })
    expect(trailer(root, 'Runs-Later').split('\n')).toEqual(running)
  })

  it('is not there for the next one where git ignores it', async () => {
    const root = makeProject(2, { '.gitignore': 'settings.local.json\n' })
    const file = '.claude/settings.local.json'
    const seen: (string | null)[] = []
    await runAll({
      root,
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
    const root = makeProject(2)
    const ports = obeying(({ cwd, task }) => put(cwd, { [PLUGIN]: 'x\n', [task.id]: '' }))
    expect((await runAll({ root, ports })).at(-1)).toMatchObject({
      completed: ['T-1'],
      reason: `fake would obey ${PLUGIN}, which an agent of this run has changed: read it, then run ralph again`,
    })
    expect((await runAll({ root, ports })).at(-1)).toMatchObject({ completed: ['T-2'] })
  })

  it('keeps it from starting in the next attempt at the same task', async () => {
    let attempts = 0
    const ports = obeying(({ cwd }) => {
      attempts++
      put(cwd, { [PLUGIN]: 'x\n' })
      return { end: { kind: 'no-marker' } }
    })
    const events = await runAll({ root: makeProject(), ports })
    expect(events.at(-1)).toMatchObject({ reason: expect.stringContaining('fake would obey') as string })
    expect(attempts).toBe(1)
  })

  it('keeps nobody from starting once it is gone', async () => {
    const ports = obeying(({ cwd, task }) => {
      put(cwd, task.id === 'T-1' ? { [PLUGIN]: 'x\n' } : { work: '' })
      return { end: { kind: task.id === 'T-1' ? 'no-marker' : 'done' } }
    })
    const events = await runAll({ root: makeProject(2), ports, options: { retries: 0 } })
    expect(events.at(-1)).toMatchObject({ completed: ['T-2'], blocked: ['T-1'] })
  })
})

it.each(['attempt', 'gates'])(
  "a person's own commit in the %s stays theirs, and the task lands on top of it, when the gates have seen both",
  async (when) => {
    const root = makeProject()
    const base = git(root, 'rev-parse', 'HEAD')
    const seen: (string | null)[] = []
    let mine = ''
    const commitOnce = (at: string): void => {
      if (at === when && mine === '') mine = commit(root, 'Mine', { mine: 'mine\n' })
    }
    await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, { work: '' })
        commitOnce('attempt')
      },
      gate: (_, cwd) => {
        seen.push(read(cwd, 'mine'))
        commitOnce('gates')
        return true
      },
    })
    expect(log(root)).toBe('T-1: Do T-1\nMine\nBegin')
    expect(git(root, 'log', '-2', '--format=%H', 'HEAD~1').split('\n')).toEqual([mine, base])
    expect(changedIn(root)).toEqual(['docs/tasks/T-1.md', 'work'])
    expect(seen).toEqual([null, 'mine\n'])
    expect(status(root)).toBe('')
  },
)

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

  it('are done in the same run, and no more than it may take', async () => {
    const events = await runAll({
      root: makeProject(),
      options: { maxAddedTasks: 2 },
      deed: ({ cwd, task }) => {
        const next = `T-${Number(task.id.slice(2)) + 1}`
        put(cwd, { [task.id]: '', [`docs/tasks/${next}.md`]: taskText(next) })
      },
    })
    expect(those(events, 'run-finished')).toMatchObject([{ completed: ['T-1', 'T-2', 'T-3'] }])
    expect(interferences(events)).toEqual([{ kind: 'task-files', paths: ['docs/tasks/T-4.md'] }])
  })
})

describe('what an agent does to the repository', () => {
  it('stays in its own: refs, replaced objects, settings and a shallow file', async () => {
    const root = makeProject(1, { source: 'good\n' })
    git(root, 'branch', 'topic')
    const state = () => [
      git(root, 'for-each-ref', '--format=%(refname)'),
      readFileSync(join(root, '.git/config'), 'utf8'),
    ]
    const before = state()
    await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, { work: '' })
        const input = { cwd, env: ENV, input: 'bad\n' }
        const bad = execFileSync('git', ['hash-object', '-w', '--stdin'], input).toString().trim()
        git(cwd, 'replace', git(cwd, 'rev-parse', 'HEAD:source'), bad)
        git(cwd, 'branch', '-D', '-q', 'topic')
        git(cwd, 'checkout', '-q', '-b', 'of-the-agent')
        for (const [key, value] of Object.entries({ 'core.hooksPath': 'evil', 'user.name': 'Mallory' }))
          git(cwd, 'config', key, value)
        writeFileSync(join(cwd, '.git/shallow'), `${git(cwd, 'rev-parse', 'HEAD')}\n`)
      },
    })
    expect(state()).toEqual(before)
    expect(git(root, 'show', 'HEAD:source')).toBe('good')
    expect(existsSync(join(root, '.git/shallow'))).toBe(false)
    expect(git(root, 'log', '--format=%s %an', 'main')).toBe('T-1: Do T-1 Ada\nBegin Ada')
  })

  it('has commits of its own folded into the one, and named', async () => {
    const root = makeProject()
    const base = git(root, 'rev-parse', 'HEAD')
    let made = ''
    const events = await runAll({
      root,
      deed: ({ cwd }) => {
        made = commit(cwd, 'T-1: mine\n\nTask: T-1', { work: '' })
        put(cwd, { later: '' })
      },
    })
    expect(interferences(events)).toEqual([{ kind: 'commits', commits: [made] }])
    expect(git(root, 'log', '-1', '--format=%s %P')).toBe(`T-1: Do T-1 ${base}`)
    expect(changedIn(root)).toEqual(['docs/tasks/T-1.md', 'later', 'work'])
  })

  it.each([
    ['amends', 'add -A;commit -q --amend --no-edit'],
    ['goes back and commits anew', 'commit -qam one;reset -q --soft HEAD~2;commit -qm two'],
    ['begins a history of its own', 'checkout -q --orphan own;add -A;commit -qm own'],
    ['goes back without a commit', 'reset -q HEAD~1'],
  ])('keeps its work where it %s', async (_, commands) => {
    const root = makeProject()
    commit(root, 'Yesterday', { earlier: 'one\n' })
    await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, { earlier: 'one\ntwo\n', made: 'work' })
        for (const command of commands.split(';')) git(cwd, ...command.split(' '))
        put(cwd, { later: 'work' })
      },
    })
    expect(log(root)).toBe('T-1: Do T-1\nYesterday\nBegin')
    expect(changedIn(root)).toEqual(['docs/tasks/T-1.md', 'earlier', 'later', 'made'])
    expect([read(root, 'earlier'), status(root)]).toEqual(['one\ntwo\n', ''])
  })

  it('does not normalize the line ends of the task file by its attributes', async () => {
    const root = makeProject({ 'T-1': taskText('T-1').replaceAll('\n', '\r\n') })
    await runAll({ root, deed: ({ cwd }) => put(cwd, { '.gitattributes': '* text eol=lf\n', work: '' }) })
    const bytes = git(root, 'show', 'HEAD:docs/tasks/T-1.md')
    expect(bytes.split('\r\n')).toHaveLength(bytes.split('\n').length)
    expect(bytes).toContain('DONE')
  })

  it('fails where its attributes would store the task file as other bytes', async () => {
    const events = await runAll({
      root: makeProject(),
      options: { retries: 0 },
      deed: ({ cwd }) => put(cwd, { '.gitattributes': '*.md ident\n', work: '' }),
    })
    const reason = expect.stringContaining('would have git store docs/tasks/T-1.md as other bytes') as string
    expect(those(events, 'attempt-finished')).toMatchObject([{ outcome: 'gate-failed', reason }])
  })
})

it('done is believed by what is in the tree, and by what the task is to produce', async () => {
  const rows = [
    ['- `empty/`', 'missing-output'],
    ['- `ignored/`', 'missing-output'],
    ['- `src/*.ts`', 'done'],
    ['- `lib/*.ts`', 'missing-output'],
    ['- `src/form.ts`', 'missing-output'],
    ['- `../README.md`', 'missing-output'],
    ['none', 'done'],
    [null, 'no-change'],
    ['- Tests', 'no-change'],
  ] as const
  const tasks = rows.map(([produces], at) => {
    const id = `T-${at + 1}`
    const rest = produces === null ? '' : `\n## Produces\n${produces}\n`
    return [id, taskText(id, { rest })] as const
  })
  const root = makeProject(Object.fromEntries(tasks), { '.gitignore': '.ralph/\nignored/\n' })
  const events = await runAll({
    root,
    options: { retries: 0 },
    deed: ({ cwd, task }) => {
      if (['T-7', 'T-8', 'T-9'].includes(task.id)) return
      put(cwd, { 'src/deep/a.ts': task.id, 'ignored/x': '' })
      mkdirSync(join(cwd, 'empty'))
    },
  })
  const ends = those(events, 'attempt-finished')
  expect(ends.map(({ outcome }) => outcome)).toEqual(rows.map(([, outcome]) => outcome))
  expect(ends.slice(0, 2).map(({ reason }) => reason)).toEqual([
    expect.stringContaining('empty/'),
    expect.stringContaining('ignored/'),
  ])
  expect(read(root, 'docs/tasks/T-1.md')).toContain('BLOCKED')
})

describe('another tool that keeps its own in .ralph', () => {
  it('keeps it: ralph writes no file there that is not its own, and commits none', async () => {
    const state = JSON.stringify({ version: '1.0', phase: 'executing', mine: true })
    const root = makeProject(1, {
      '.gitignore': '',
      '.ralph/state.json': state,
      '.ralph/db/tasks.yaml': '[]\n',
    })
    await runAll({ root, deed: ({ cwd }) => put(cwd, { work: '', '.ralph/db/new.yaml': 'x\n' }) })
    expect(read(root, '.ralph/state.json')).toBe(state)
    expect(JSON.parse(read(root, '.ralph/run-state.json')!)).toMatchObject({ written_by: 'ralph' })
    expect(changedIn(root)).toEqual(['.ralph/db/new.yaml', 'docs/tasks/T-1.md', 'work'])
    expect(status(root)).toBe('')
  })

  it('also with a .gitignore of its own', async () => {
    const root = makeProject(1, { '.gitignore': '', '.ralph/.gitignore': 'cache/\n' })
    await runAll({ root, deed: ({ cwd }) => put(cwd, { work: '' }) })
    expect(read(root, '.ralph/.gitignore')).toBe('cache/\n')
    expect(changedIn(root)).toEqual(['docs/tasks/T-1.md', 'work'])
    expect(status(root)).toBe('')
  })
})
