import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Checkpoint } from '../../src/engine/workspace/checkpoint.ts'
import { git, makeFolder, makeRepository, put } from '../git/repository.ts'
import { makeProject, read, runAll, taskText, those } from './harness.ts'
import { gateOf } from './ports.ts'

const gates = [gateOf('test')]
const tasks = { 'T-1': taskText('T-1') }
/** As after a `kill -9`: the note of the run stays. */
const die = (at: Checkpoint) => (name: Checkpoint) => {
  if (name === at) throw new Error('killed')
}
const killed = async (
  root: string,
  deed: () => void,
  at: Checkpoint = 'agent-ended',
  options = {},
): Promise<void> => {
  const run = runAll({ root, options: { gates, ...options }, deed, ports: { checkpoint: die(at) } })
  await expect(run).rejects.toThrow('killed')
}
const goOn = (root: string, options = {}) =>
  runAll({ root, options: { gates, ...options }, deed: () => put(root, { work: 'done\n' }) })
const executable = (root: string, path: string, text: string): void => {
  mkdirSync(join(root, path, '..'), { recursive: true })
  writeFileSync(join(root, path), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
}
const kinds = (events: Awaited<ReturnType<typeof goOn>>) =>
  those(events, 'interference').map(({ interference }) => interference.kind)

describe.skipIf(process.platform === 'win32')('what an agent did to git when its run was killed', () => {
  it('is undone before git is asked anything, shown, and named in the record', async () => {
    const root = makeProject(tasks)
    git(root, 'branch', 'mine')
    const before = read(root, '.git/config')
    const stolen = join(makeFolder(), 'stolen')
    await killed(root, () => {
      executable(root, '.git/evil', `touch ${stolen}\ncat`)
      git(root, 'config', 'user.name', 'Mallory')
      git(root, 'branch', '-q', '-D', 'mine')
      git(root, 'update-ref', 'refs/ralph/candidates/T-1/1-abcdef01', 'HEAD')
      git(root, 'config', 'core.fsmonitor', join(root, '.git/evil'))
      git(root, 'config', 'filter.evil.clean', join(root, '.git/evil'))
      put(root, { '.git/info/attributes': '* filter=evil\n', '.git/info/exclude': 'work\n', work: 'half\n' })
      executable(root, '.git/hooks/pre-commit', `touch ${stolen}`)
      executable(root, '.git/hooks/reference-transaction', `touch ${stolen}`)
    })
    rmSync(stolen, { force: true })
    const events = await goOn(root)
    expect(existsSync(stolen)).toBe(false)
    expect(read(root, '.git/config')).toBe(before)
    expect(read(root, '.git/info/attributes')).toBeNull()
    expect(read(root, '.git/info/exclude')).not.toBe('work\n')
    expect(read(root, '.git/hooks/pre-commit')).toBeNull()
    expect(git(root, 'rev-parse', 'mine')).toBe(git(root, 'rev-parse', 'main~1'))
    // A candidate that an agent forges is none.
    expect(kinds(events)).toEqual(['git-settings', 'refs-deleted', 'refs-made'])
    expect(git(root, 'for-each-ref', 'refs/ralph/candidates')).toBe('')
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:work')).toBe('half')
    const record = git(root, 'log', '-1', '--format=%B', 'refs/ralph/attempts/T-1/1')
    expect(record).toContain('git-settings: ')
    expect(record).toContain('refs-deleted: refs/heads/mine')
    expect(git(root, 'log', '-1', '--format=%an')).toBe('Ada')
    expect(read(root, '.git/ralph-guard.json')).toBeNull()
  })

  it('is undone once, wherever the next run is killed in turn', async () => {
    const root = makeProject(tasks)
    await killed(root, () => git(root, 'config', 'user.name', 'Mallory'), 'settings-restored')
    expect(git(root, 'config', 'user.name')).toBe('Ada')
    git(root, 'config', 'user.name', 'Ada Lovelace')
    await goOn(root)
    expect(git(root, 'log', '-1', '--format=%an')).toBe('Ada Lovelace')
  })

  it('ends the next run where that had read a configuration that is not in force', async () => {
    const root = makeProject(tasks, { 'ralph.config.json': '{"gates":["check"]}\n' })
    await killed(root, () => put(root, { 'ralph.config.json': '{"gates":[]}\n', work: 'half\n' }))
    await expect(goOn(root)).rejects.toThrow('left ralph.config.json changed by its agent')
    expect(read(root, 'ralph.config.json')).toBe('{"gates":["check"]}\n')
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:work')).toBe('half')
    expect(those(await goOn(root), 'task-completed')).toHaveLength(1)
  })

  it('is told from what a person has changed since', async () => {
    const root = makeProject(tasks)
    git(root, 'branch', 'mine')
    await killed(root, () => executable(root, '.git/hooks/pre-commit', 'exit 1'))
    // The run's last sign of life was a minute ago, and the hook was there by then.
    const past = new Date(Date.now() - 60_000)
    utimesSync(join(root, '.ralph/run.json'), past, past)
    git(root, 'config', 'user.name', 'Ada Lovelace')
    git(root, 'branch', '-q', '-D', 'mine')
    const tip = git(root, 'rev-parse', 'HEAD')
    const events = await goOn(root, { retries: 0, onFailure: 'stop' })
    expect(git(root, 'config', 'user.name')).toBe('Ada Lovelace')
    expect(git(root, 'for-each-ref', '--format=%(refname)', 'refs/heads')).toBe('refs/heads/main')
    expect(git(root, 'for-each-ref', '--format=%(objectname)', 'refs/ralph/stray')).toBe(tip)
    expect(those(events, 'warning').map(({ message }) => message)).toContainEqual(
      expect.stringContaining('ralph takes that for yours'),
    )
  })

  it('is undone in a workspace of ralph’s own', async () => {
    const root = makeProject(tasks)
    const stolen = join(makeFolder(), 'stolen')
    const apart = { jobs: 1, branch: null }
    const evil = join(makeFolder(), 'evil')
    writeFileSync(evil, `#!/bin/sh\ntouch ${stolen}\ncat\n`, { mode: 0o755 })
    const run = runAll({
      root,
      options: { gates, apart },
      deed: ({ cwd }) => {
        git(cwd, 'config', 'filter.evil.clean', evil)
        put(cwd, { '.git/info/attributes': '* filter=evil\n', work: 'half\n' })
      },
      ports: { checkpoint: die('agent-ended') },
    })
    await expect(run).rejects.toThrow('killed')
    rmSync(stolen, { force: true })
    const events = await runAll({
      root,
      options: { gates, apart },
      deed: ({ cwd }) => put(cwd, { work: 'done\n' }),
    })
    expect(existsSync(stolen)).toBe(false)
    expect(kinds(events)).toEqual(['git-settings'])
    expect(git(root, 'show', 'HEAD:work')).toBe('done')
  })

  it('is undone in a submodule, whose files go back too', async () => {
    const library = makeRepository({ lib: '1\n' })
    const root = makeProject(tasks)
    git(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'lib')
    git(root, 'commit', '-qm', 'Add the library')
    const stolen = join(makeFolder(), 'stolen')
    const link = read(root, 'lib/.git')
    await killed(root, () => {
      executable(root, '.git/evil', `touch ${stolen}`)
      git(join(root, 'lib'), 'config', 'core.fsmonitor', join(root, '.git/evil'))
      executable(root, '.git/modules/lib/hooks/post-checkout', `touch ${stolen}`)
      rmSync(join(root, 'lib/.git'))
      git(root, 'init', '-q', 'lib')
      put(root, { 'lib/lib': '2\n', 'lib/new': 'x\n', half: '' })
    })
    rmSync(stolen, { force: true })
    const events = await goOn(root)
    expect(existsSync(stolen)).toBe(false)
    expect(read(root, 'lib/.git')).toBe(link)
    expect(read(root, '.git/modules/lib/config')).not.toContain('fsmonitor')
    expect(read(root, '.git/modules/lib/hooks/post-checkout')).toBeNull()
    expect(read(root, 'lib/lib')).toBe('1\n')
    expect(read(root, '.ralph/set-aside/1/lib/lib')).toBe('2\n')
    expect(read(root, '.ralph/set-aside/1/lib/new')).toBe('x\n')
    expect(git(root, 'show', 'HEAD:work')).toBe('done')
    expect(kinds(events)).toEqual(['git-settings'])
    expect(git(root, 'status', '--porcelain')).toBe('')
  })

  it('is undone in hooks that an ignored folder holds', async () => {
    const root = makeProject(tasks)
    put(root, { '.husky/.gitignore': '_\n' })
    git(root, 'config', 'core.hooksPath', '.husky/_')
    executable(root, '.husky/_/pre-commit', 'exit 0')
    git(root, 'add', '-A')
    git(root, 'commit', '-q', '-m', 'Hooks')
    await killed(root, () => {
      executable(root, '.husky/_/pre-commit', 'exit 1')
      executable(root, '.husky/_/commit-msg', 'exit 1')
      git(root, 'config', 'core.hooksPath', 'elsewhere')
    })
    await goOn(root)
    expect(read(root, '.husky/_/pre-commit')).toContain('exit 0')
    expect(read(root, '.husky/_/commit-msg')).toBeNull()
    expect(git(root, 'config', 'core.hooksPath')).toBe('.husky/_')
  })
})

describe.skipIf(process.platform === 'win32').each([
  ['as it ends', async (root: string, deed: () => void) => runAll({ root, options: { gates }, deed })],
  [
    'after a kill',
    async (root: string, deed: () => void) => {
      await killed(root, deed)
      return goOn(root)
    },
  ],
])('links that an agent makes of settings are undone %s', (_, work) => {
  it('where the folder of hooks leads elsewhere, in which nothing is touched', async () => {
    const root = makeProject(tasks)
    executable(root, '.git/hooks/pre-commit', 'exit 0')
    const elsewhere = makeFolder()
    executable(elsewhere, 'commit-msg', 'exit 1')
    executable(elsewhere, 'pre-commit', 'exit 1')
    const events = await work(root, () => {
      rmSync(join(root, '.git/hooks'), { recursive: true })
      symlinkSync(elsewhere, join(root, '.git/hooks'))
      put(root, { work: 'done\n' })
    })
    expect(lstatSync(join(root, '.git/hooks')).isDirectory()).toBe(true)
    expect(read(root, '.git/hooks/pre-commit')).toContain('exit 0')
    expect(read(elsewhere, 'commit-msg')).toContain('exit 1')
    expect(read(elsewhere, 'pre-commit')).toContain('exit 1')
    expect(kinds(events)).toEqual(['git-settings'])
    expect(git(root, 'show', 'HEAD:work')).toBe('done')
  })

  it('where a person’s link to a folder of hooks was replaced by a folder', async () => {
    const root = makeProject(tasks)
    const shared = makeFolder()
    executable(shared, 'pre-commit', 'exit 0')
    rmSync(join(root, '.git/hooks'), { recursive: true })
    symlinkSync(shared, join(root, '.git/hooks'))
    await work(root, () => {
      rmSync(join(root, '.git/hooks'))
      executable(root, '.git/hooks/pre-commit', 'exit 1')
      put(root, { work: 'done\n' })
    })
    expect(readlinkSync(join(root, '.git/hooks'))).toBe(shared)
    expect(read(shared, 'pre-commit')).toContain('exit 0')
    expect(git(root, 'show', 'HEAD:work')).toBe('done')
  })

  it('where a hook is a link to a tracked script, which stays one', async () => {
    const root = makeProject(tasks, { 'scripts/check': '#!/bin/sh\nexit 0\n' })
    git(root, 'update-index', '--chmod=+x', 'scripts/check')
    git(root, 'commit', '-q', '-m', 'Executable')
    git(root, 'checkout', '-q', '--', 'scripts/check')
    executable(root, 'scripts/check', 'exit 0')
    symlinkSync('../../scripts/check', join(root, '.git/hooks/pre-commit'))
    await work(root, () => {
      rmSync(join(root, '.git/hooks/pre-commit'))
      executable(root, '.git/hooks/pre-commit', 'exit 1')
      executable(root, 'scripts/check', 'exit 0 # faster')
      put(root, { work: 'done\n' })
    })
    expect(readlinkSync(join(root, '.git/hooks/pre-commit'))).toBe('../../scripts/check')
  })

  it('where the file of settings itself is one', async () => {
    const root = makeProject(tasks)
    const elsewhere = join(makeFolder(), 'config')
    const before = readFileSync(join(root, '.git/config'), 'utf8')
    renameSync(join(root, '.git/config'), elsewhere)
    symlinkSync(elsewhere, join(root, '.git/config'))
    await work(root, () => {
      writeFileSync(elsewhere, before.replace('Ada', 'Mallory'))
      put(root, { work: 'done\n' })
    })
    expect(readlinkSync(join(root, '.git/config'))).toBe(elsewhere)
    expect(readFileSync(elsewhere, 'utf8')).toBe(before)
  })
})
