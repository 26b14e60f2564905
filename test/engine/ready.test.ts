import { existsSync, lstatSync, realpathSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openHome } from '../../src/engine/slot/home.ts'
import { Readying, type Needs } from '../../src/engine/slot/ready.ts'
import type { GateResult } from '../../src/base/nouns.ts'
import { findRepository } from '../../src/git/repository.ts'
import { doorOf, git, makeFolder, put } from '../repository.ts'
import { read } from '../run/harness.ts'
import { gateOf } from '../run/ports.ts'

/** A checkout with these committed files, beside which nothing else is, and another folder with the same files. */
async function checkout(
  files: Readonly<Record<string, string>>,
  needs: Partial<Needs> = {},
): Promise<{ readonly root: string; readonly to: string; readonly readying: Readying }> {
  const [root, to] = [makeFolder(), makeFolder()].map((folder) => join(folder, 'shop')) as [string, string]
  for (const each of [root, to]) put(each, { 'README.md': '', ...files })
  git(root, 'init', '-q', '-b', 'main')
  const door = doorOf(root)
  const home = await openHome(door, (await findRepository(door))!, root)
  return { root, to, readying: new Readying(home, { prepare: null, copy: [], link: [], keep: [], ...needs }) }
}

/** Makes a folder ready, and gives the commands that ran. */
async function installed(readying: Readying, to: string, isFine = true): Promise<readonly string[]> {
  const ran: string[] = []
  const result: GateResult = {
    gate: gateOf('prepare'),
    verdict: isFine ? 'passed' : 'failed',
    seconds: 0,
    reason: 'exited with code 1',
    excerpt: 'error: no network',
    fingerprint: '',
  }
  const { problem, warnings } = await readying.install(
    to,
    async (command) => {
      ran.push(command)
      return result
    },
    () => undefined,
  )
  return [
    ...ran,
    ...(problem === null ? [] : [`problem: ${problem}`]),
    ...warnings.map((text) => `warning: ${text}`),
  ]
}

const locked = (...packages: readonly string[]): string => {
  const entries = packages.map((name) => [`node_modules/${name}`, { version: '1.0.0', integrity: name }])
  return JSON.stringify({ packages: Object.fromEntries([['', {}], ...entries]) })
}

describe('what installs the packages of a project', () => {
  it.each([
    [['package-lock.json'], ['npm ci']],
    [
      ['pnpm-lock.yaml', 'package-lock.json'],
      ['pnpm install --frozen-lockfile --package-import-method=copy'],
    ],
    [
      ['uv.lock', 'package-lock.json'],
      ['npm ci', 'uv sync --link-mode=copy'],
    ],
    [['Gemfile.lock'], ['bundle check || bundle install']],
    [['README.md'], []],
  ])('with %j is %j', async (files, commands) => {
    const { readying, to } = await checkout(Object.fromEntries(files.map((file) => [file, ''])))
    expect(readying.commandsFor(to)).toEqual(commands)
  })

  it.each([
    ['{"devDependencies":{"mocha":"10"}}', ['npm install --no-package-lock']],
    ['{"scripts":{"test":"node --test"}}', []],
  ])('with a package.json alone, %s, is %j', async (text, commands) => {
    const { readying, to } = await checkout({ 'package.json': text })
    expect(readying.commandsFor(to)).toEqual(commands)
  })

  const PACKAGE = '[build-system]\nrequires = ["setuptools"]\n[project]\nname = "x"\n'
  const EXTRAS =
    '[project.optional-dependencies]\ndev = [\n  "ruff",\n]\ndocs = []\ntest = ["pytest"]\n[tool.x]\ntests = 1\n'
  it.each([
    [{ 'requirements.txt': '' }, '-r requirements.txt'],
    [{ 'requirements.txt': '', 'pyproject.toml': '[project]\nname = "x"\n' }, '-r requirements.txt'],
    [
      { 'requirements.txt': '', 'pyproject.toml': PACKAGE },
      '-r requirements.txt && .venv/bin/pip install --quiet -e .',
    ],
    [{ 'pyproject.toml': PACKAGE }, '-e .'],
    [{ 'pyproject.toml': PACKAGE + EXTRAS }, "-e '.[dev,test]'"],
  ])('with %j is a pip that installs %s', async (files, what) => {
    const { readying, to } = await checkout(files)
    expect(readying.commandsFor(to)).toEqual([
      `python3 -m venv --system-site-packages .venv && .venv/bin/pip install --quiet --ignore-installed ${what}`,
    ])
  })

  it('is what the configuration says, also if that is nothing', async () => {
    const files = { 'package-lock.json': '{}' }
    const named = await checkout(files, { prepare: 'make deps' })
    expect(await installed(named.readying, named.to)).toEqual(['make deps'])
    const none = await checkout(files, { prepare: '' })
    expect(await installed(none.readying, none.to)).toEqual([])
  })

  it('runs again when a lock file changes', async () => {
    const { readying, to } = await checkout({ 'package-lock.json': '{}' })
    const before = readying.keyFor(to)
    expect(readying.keyFor(to)).toBe(before)
    put(to, { 'package-lock.json': '{ }' })
    expect(readying.keyFor(to)).not.toBe(before)
  })

  it('says why it failed, and where nobody asked for it only warns', async () => {
    const node = await checkout({ 'package-lock.json': '{}' })
    expect(await installed(node.readying, node.to, false)).toEqual([
      'npm ci',
      expect.stringMatching(/^problem: .*npm ci: exited with code 1\nerror: no network$/),
    ])
    const python = await checkout({ 'pyproject.toml': '[project]\nname = "x"\n' })
    expect(await installed(python.readying, python.to, false)).toEqual([
      expect.stringContaining('pip install'),
      expect.stringMatching(/^warning: /),
    ])
  })
})

describe('the checkout’s packages', () => {
  const files = { 'package-lock.json': locked('x'), '.gitignore': 'node_modules\n.venv\n' }

  it('are copied where they are those of the lock file, and never linked', async () => {
    const { root, to, readying } = await checkout(files)
    put(root, { 'node_modules/.package-lock.json': locked('x'), 'node_modules/x/index.js': 'x\n' })
    expect(await installed(readying, to)).toEqual([])
    expect(read(to, 'node_modules/x/index.js')).toBe('x\n')
    const [one, other] = [root, to].map((at) => statSync(join(at, 'node_modules/x/index.js')).ino)
    expect(one).not.toBe(other)
    expect(lstatSync(join(to, 'node_modules')).isDirectory()).toBe(true)
  })

  it('are built for by the project’s own scripts, as after an installation', async () => {
    const scripts = '{"scripts":{"prepare":"tsc","postinstall":"patch-package","test":"vitest"}}'
    const { root, to, readying } = await checkout({ ...files, 'package.json': scripts })
    put(root, { 'node_modules/.package-lock.json': locked('x'), 'node_modules/x/index.js': 'x\n' })
    expect(await installed(readying, to)).toEqual(['npm run postinstall && npm run prepare'])
    expect(await installed(readying, to, false)).toContainEqual(expect.stringMatching(/^warning: /))
  })

  it.each([
    ['another version is installed', locked('x', 'y'), locked('x')],
    ['one is missing', locked('x'), locked('x', 'y')],
  ])('are not copied where %s', async (_, there, wanted) => {
    const { root, to, readying } = await checkout({ ...files, 'package-lock.json': wanted })
    put(root, { 'node_modules/.package-lock.json': there, 'node_modules/x/index.js': 'x\n' })
    expect(await installed(readying, to)).toEqual(['npm ci'])
    expect(existsSync(join(to, 'node_modules'))).toBe(false)
  })

  it('of Python name the new place, where each file that names the old one is a text', async () => {
    const { root, to, readying } = await checkout({ 'requirements.txt': 'x\n', '.gitignore': '.venv\n' })
    put(root, { '.venv/bin/x': `#!${root}/.venv/bin/python\n`, '.venv/lib/x.pyc': `\0${root}` })
    expect(await installed(readying, to)).toEqual([])
    expect(read(to, '.venv/bin/x')).toBe(`#!${to}/.venv/bin/python\n`)
    expect(existsSync(join(to, '.venv/lib/x.pyc'))).toBe(false)
    put(root, { '.venv/bin/python': `\0${root}` })
    expect(await installed(readying, to)).toEqual([expect.stringContaining('pip install')])
  })

  it('of yarn without node_modules stay where a gate has failed', async () => {
    const { to, readying } = await checkout({ 'yarn.lock': '' }, { keep: ['seed.db'] })
    expect(await readying.kept(to)).toEqual(expect.arrayContaining(['.pnp.cjs', '.yarn/cache', 'seed.db']))
    expect(await readying.paths(to)).toEqual(['node_modules'])
  })

  it('are the agent’s work where they are committed', async () => {
    const { root, to, readying } = await checkout({ 'composer.lock': '', 'vendor/own.php': '' })
    expect(await readying.paths(to)).toEqual(['vendor'])
    git(root, 'add', '-A')
    expect(await readying.paths(to)).toEqual([])
  })

  it('are not there any more when others are installed', async () => {
    const { to, readying } = await checkout({ 'uv.lock': 'x', '.gitignore': '.venv\n' })
    put(to, { '.venv/lib/pytest.py': 'changed by a gate\n' })
    expect(await installed(readying, to)).toEqual(['uv sync --link-mode=copy'])
    expect(existsSync(join(to, '.venv'))).toBe(false)
  })

  it('are in no tree, with what pip writes beside the sources of a project that it installs', async () => {
    const { root, to, readying } = await checkout({ 'pyproject.toml': '[project]\nname = "x"\n' })
    put(to, { 'src/x.egg-info/PKG-INFO': '', 'src/x/__init__.py': '', 'old.egg-info/PKG-INFO': '' })
    expect(await readying.paths(to)).toEqual(['.venv', 'old.egg-info', 'src/x.egg-info'])
    put(root, { 'old.egg-info/PKG-INFO': '' })
    git(root, 'add', '--all')
    expect(await readying.paths(to)).toEqual(['.venv', 'src/x.egg-info'])
  })

  it('are made anew where something has changed them, but for what tools keep there', async () => {
    const { to, readying } = await checkout(files)
    const cached = ['node_modules/.cache/a', 'node_modules/x/.vite/b', 'src/a.ts']
    const all = (text: string) => Object.fromEntries(cached.map((path) => [path, text]))
    put(to, { 'node_modules/x/index.js': 'x\n', ...all('') })
    const stamp = join(to, '../stamp')
    readying.stamp(stamp, 'key', ['node_modules/', 'dist/', 'x.egg-info/'])
    expect(readying.isWhole(to, stamp, 'key')).toBe(false)
    put(to, { 'dist/a.js': '' })
    expect(readying.isWhole(to, stamp, 'key')).toBe(true)
    expect(readying.isWhole(to, stamp, 'other')).toBe(false)
    await new Promise((resolve) => setTimeout(resolve, 20))
    put(to, all('more'))
    expect(await readying.isTouched(to, stamp)).toBe(false)
    put(to, { 'node_modules/x/index.js': 'y\n' })
    expect(await readying.isTouched(to, stamp)).toBe(true)
  })
})

describe('what git ignores', () => {
  const files = { '.gitignore': '.env*\ndist/\n', '.worktreeinclude': '# more\ndist/types/\n' }

  it('is copied where it is named, and only that, over what is there', async () => {
    const { root, to, readying } = await checkout(files, { copy: ['.env*', 'new.txt'] })
    put(root, {
      '.env': '1\n',
      'deep/.env.local': '2\n',
      'dist/types/a.d.ts': '3\n',
      'dist/b.js': '',
      'new.txt': '',
    })
    expect((await readying.filesToCopy()).toSorted()).toEqual([
      '.env',
      'deep/.env.local',
      'dist/types/a.d.ts',
    ])
    put(to, { '.env': 'an agent’s\n' })
    await readying.placeNamed(to)
    expect(['.env', 'deep/.env.local', 'dist/b.js'].map((path) => read(to, path))).toEqual([
      '1\n',
      '2\n',
      null,
    ])
  })

  it('stays out of every tree, also where what has landed says that git ignores it no more', async () => {
    const { root, to, readying } = await checkout(
      { '.gitignore': '.env\n', '.env': 'KEY=1\n' },
      { copy: ['.env'] },
    )
    expect(await readying.paths(to)).toEqual(['.env'])
    put(root, { '.gitignore': '!.env\n' })
    expect(await readying.paths(to)).toEqual(['.env'])
  })

  it('is not copied through a link that an agent has made', async () => {
    const { root, to, readying } = await checkout(files, { copy: ['.env*'] })
    put(root, { '.env': '1\n', 'deep/.env.local': '2\n' })
    const outside = makeFolder()
    put(outside, { target: 'mine\n' })
    symlinkSync(join(outside, 'target'), join(to, '.env'))
    symlinkSync(outside, join(to, 'deep'))
    await readying.placeNamed(to)
    expect([read(to, '.env'), read(to, 'deep/.env.local')]).toEqual(['1\n', '2\n'])
    expect([read(outside, 'target'), read(outside, '.env.local')]).toEqual(['mine\n', null])
  })
})

it('a folder beside the repository is beside the other folder too, and one in it is not linked', async () => {
  const { root, to, readying } = await checkout({}, { link: ['../core', 'cache', '../nothing'] })
  put(root, { '../core/a.js': 'a\n', 'cache/b': '' })
  expect(readying.linked).toEqual(['../core', '../nothing'])
  await readying.placeNamed(to)
  await readying.placeNamed(to)
  expect(realpathSync(join(to, '../core'))).toBe(realpathSync(join(root, '../core')))
  expect([join(to, 'cache'), join(to, '../nothing')].filter(existsSync)).toEqual([])
})
