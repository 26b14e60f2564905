import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { git, makeFolder, makeRepository, put } from '../git/repository.ts'
import { makeProject, read, runAll, taskText, those } from '../run/harness.ts'
import { gateOf, type Deed, type Harness } from '../run/ports.ts'

const TASK = { 'T-1': taskText('T-1') }

/** One attempt at a task, and its outcome. */
async function attempt(root: string, deed: Deed, more: Partial<Harness> = {}) {
  const options = { retries: 0, onFailure: 'stop', maxTasks: 1, ...more.options } as const
  const events = await runAll({ root, deed, ...more, options })
  const ended = those(events, 'attempt-finished').map(({ outcome, reason }) => ({ outcome, reason }))
  return { events, ended: ended[0] }
}

const identity = ['-c', 'user.name=agent', '-c', 'user.email=agent@example.com'] as const
const commitIn = (cwd: string, message: string): void =>
  void git(cwd, ...identity, 'commit', '-q', '--allow-empty', '-am', message)
const filesAt = (root: string, commit: string): readonly string[] =>
  git(root, 'ls-tree', '-r', '--name-only', commit).split('\n')

describe('a submodule', () => {
  /** A checkout with a submodule, whose remote has one more commit. */
  function project(): { readonly root: string; readonly newer: string } {
    const remote = makeRepository({ 'lib.txt': 'one\n' })
    const root = makeProject(TASK)
    git(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', remote, 'lib')
    git(root, 'commit', '-qm', 'Add lib')
    put(remote, { 'lib.txt': 'two\n' })
    git(remote, 'commit', '-qam', 'Two')
    git(join(root, 'lib'), '-c', 'protocol.file.allow=always', 'fetch', '-q')
    return { root, newer: git(remote, 'rev-parse', 'HEAD') }
  }
  const gitlink = (root: string): string => git(root, 'rev-parse', 'HEAD:lib')

  it('is there for the agent and for the gates', async () => {
    const { root } = project()
    const found: (string | null)[] = []
    await attempt(root, ({ cwd }) => (found.push(read(cwd, 'lib/lib.txt')), put(cwd, { work: '' })), {
      options: { gates: [gateOf('test')] },
      gate: (_, cwd) => found.push(read(cwd, 'lib/lib.txt')) > 0,
    })
    expect(found).toEqual(['one\n', 'one\n'])
    expect(git(root, 'status', '--porcelain')).toBe('')
  })

  it('has nothing that the agents and gates of another task left', async () => {
    const { root } = project()
    put(root, { 'docs/tasks/T-2.md': taskText('T-2') })
    git(root, 'add', '-A')
    git(root, 'commit', '-qm', 'Another')
    const found: boolean[] = []
    const look = (cwd: string): void => {
      found.push(existsSync(join(cwd, 'lib/left.txt')))
      put(cwd, { 'lib/left.txt': '', 'lib/.gitignore': '*\n' })
    }
    await runAll({
      root,
      options: { gates: [gateOf('test')] },
      deed: ({ cwd, task }) => (look(cwd), put(cwd, { [task.id]: '' })),
      gate: (_, cwd) => (look(cwd), true),
    })
    expect(found).toEqual([false, false, false, false])
  })

  it.each<[string, (cwd: string) => void]>([
    ['is changed', (cwd) => put(cwd, { 'lib/lib.txt': 'mine\n' })],
    [
      'is committed in, and not pushed',
      (cwd) => (put(cwd, { 'lib/lib.txt': 'mine\n' }), commitIn(join(cwd, 'lib'), 'Mine')),
    ],
  ])('that %s is refused: no clone would have it', async (_, act) => {
    const { root } = project()
    const before = gitlink(root)
    const { ended } = await attempt(root, ({ cwd }) => (put(cwd, { work: '' }), act(cwd)))
    expect(ended).toMatchObject({
      outcome: 'gate-failed',
      reason: expect.stringContaining('push it there first'),
    })
    expect(ended?.reason).toContain('submodule lib')
    expect(gitlink(root)).toBe(before)
  })

  it('that is moved to a commit which its remote has lands', async () => {
    const { root, newer } = project()
    const { ended } = await attempt(root, ({ cwd }) => void git(join(cwd, 'lib'), 'checkout', '-q', newer))
    expect(ended).toMatchObject({ outcome: 'done' })
    expect(gitlink(root)).toBe(newer)
    expect(git(root, 'show', '--name-only', '--format=', 'HEAD').split('\n')).toEqual([
      'docs/tasks/T-1.md',
      'lib',
    ])
  })
})

describe('what is in no clone', () => {
  it.each([
    ['is absolute', 'link', '/etc/hostname'],
    ['leaves the repository', 'deep/link', '../../outside'],
  ])('is refused: a link that %s', async (_, path, target) => {
    const root = makeProject(TASK)
    const { ended } = await attempt(root, ({ cwd }) => {
      mkdirSync(join(cwd, 'deep'))
      symlinkSync(target, join(cwd, path))
    })
    expect(ended).toMatchObject({
      outcome: 'gate-failed',
      reason: expect.stringContaining(`${path} is a link that`),
    })
    expect(git(root, 'log', '--format=%s')).toBe('Begin')
  })

  it('is not a link inside of the repository', async () => {
    const root = makeProject(TASK)
    const { ended } = await attempt(root, ({ cwd }) => {
      mkdirSync(join(cwd, 'deep'))
      symlinkSync('../README.md', join(cwd, 'deep/link'))
    })
    expect(ended).toMatchObject({ outcome: 'done' })
    expect(read(root, 'deep/link')).toBe('# shop\n')
  })

  it('is not there for gates: a folder that ignores all that is in it', async () => {
    const root = makeProject(TASK)
    const gates = [gateOf('test')]
    const gate: Harness['gate'] = (_, cwd) => existsSync(join(cwd, 'made/needed.js'))
    const deed: Deed = ({ cwd }) => put(cwd, { 'made/needed.js': '', 'made/.gitignore': '*\n', work: '' })
    expect((await attempt(root, deed, { options: { gates }, gate })).ended).toMatchObject({
      outcome: 'gate-failed',
    })
    expect(filesAt(root, 'refs/ralph/attempts/T-1/1')).toContain('work')
    const fine: Deed = ({ cwd }) => (
      rmSync(join(cwd, 'made'), { recursive: true, force: true }),
      put(cwd, { 'made/needed.js': '' })
    )
    expect((await attempt(root, fine, { options: { gates }, gate })).ended).toMatchObject({ outcome: 'done' })
  })

  it.each([
    ['with a commit', true],
    ['without one', false],
  ])('is left out: a repository that an agent makes inside, %s', async (_, isCommitted) => {
    const root = makeProject(TASK)
    const { events, ended } = await attempt(root, ({ cwd }) => {
      put(cwd, { work: '', 'vendor/a.txt': 'a\n' })
      git(join(cwd, 'vendor'), 'init', '-q')
      if (!isCommitted) return
      git(join(cwd, 'vendor'), 'add', '-A')
      commitIn(join(cwd, 'vendor'), 'Inside')
    })
    expect(ended).toMatchObject({ outcome: 'done' })
    expect(those(events, 'interference').map(({ interference }) => interference)).toEqual([
      { kind: 'nested-repository', paths: [expect.stringMatching(/^vendor\/?$/)] },
    ])
    expect(filesAt(root, 'HEAD').filter((path) => path.startsWith('vendor'))).toEqual([])
    expect(filesAt(root, 'HEAD')).toContain('work')
  })

  it.each([true, false])(
    'but the files of a tracked folder that is made one stay (a commit: %s)',
    async (isCommitted) => {
      const root = makeProject(
        { ...TASK, 'T-2': taskText('T-2') },
        { 'lib/a.txt': 'a\n', 'lib/b.txt': 'b\n' },
      )
      const seen: boolean[] = []
      const make = (cwd: string): void => {
        git(join(cwd, 'lib'), 'init', '-q')
        if (!isCommitted) return
        git(join(cwd, 'lib'), 'add', '-A')
        commitIn(join(cwd, 'lib'), 'Inside')
      }
      const events = await runAll({
        root,
        options: { gates: [gateOf('test')] },
        deed: ({ cwd, task }) => {
          seen.push(existsSync(join(cwd, 'lib/.git')))
          put(cwd, { [`lib/${task.id}.txt`]: '' })
          make(cwd)
        },
        gate: (_, cwd) => {
          seen.push(existsSync(join(cwd, 'lib/.git')))
          make(cwd)
          return true
        },
      })
      expect(seen).toEqual([false, false, false, false])
      expect(filesAt(root, 'HEAD').filter((path) => path.startsWith('lib'))).toEqual([
        'lib/T-1.txt',
        'lib/T-2.txt',
        'lib/a.txt',
        'lib/b.txt',
      ])
      expect(those(events, 'interference').map(({ interference }) => interference)).toEqual(
        ['T-1', 'T-2'].map(() => ({ kind: 'nested-repository', paths: ['lib'] })),
      )
    },
  )

  it.each([
    ['another repository', () => makeRepository()],
    ['a file', () => 'README.md'],
  ])('nothing is removed behind a link to %s that stands for a tracked folder', async (_, target) => {
    const root = makeProject(TASK, { 'lib/a.txt': 'a\n' })
    const to = target()
    const { ended } = await attempt(root, ({ cwd }) => {
      rmSync(join(cwd, 'lib'), { recursive: true })
      symlinkSync(to, join(cwd, 'lib'))
    })
    expect(ended).toMatchObject({ outcome: to === 'README.md' ? 'done' : 'gate-failed' })
    expect(to === 'README.md' || existsSync(join(to, '.git'))).toBe(true)
  })
})

describe('what an agent does with git', () => {
  it('is only its own change where it worked on another commit than its base', async () => {
    const root = makeProject(TASK)
    put(root, { 'later.txt': 'later\n' })
    git(root, 'add', '-A')
    git(root, 'commit', '-qm', 'Later')
    const { events, ended } = await attempt(root, ({ cwd }) => {
      git(cwd, 'reset', '-q', '--hard', 'HEAD~1')
      expect(existsSync(join(cwd, 'later.txt'))).toBe(false)
      put(cwd, { work: 'mine\n' })
      git(cwd, 'add', '-A')
      commitIn(cwd, 'Mine')
    })
    expect(ended).toMatchObject({ outcome: 'done' })
    expect(read(root, 'later.txt')).toBe('later\n')
    expect(git(root, 'show', '--name-only', '--format=', 'HEAD').split('\n')).toEqual([
      'docs/tasks/T-1.md',
      'work',
    ])
    const kinds = those(events, 'interference').map(({ interference }) => interference.kind)
    expect(kinds).toEqual(['commits', 'other-base'])
  })

  it('moves nothing in the checkout, whatever it does to branches, settings and hooks', async () => {
    const root = makeProject(TASK)
    git(root, 'branch', 'topic')
    const refs = (): string => git(root, 'for-each-ref', 'refs/heads/topic', 'refs/tags', 'refs/stash')
    const [before, config] = [refs(), read(root, '.git/config')]
    const { ended } = await attempt(root, ({ cwd }) => {
      git(cwd, 'config', 'core.hooksPath', 'evil')
      git(cwd, 'branch', '-D', '-q', 'topic')
      git(cwd, 'tag', 'v1')
      git(cwd, 'checkout', '-q', '-b', 'elsewhere')
      put(cwd, { work: '' })
    })
    expect(ended).toMatchObject({ outcome: 'done' })
    expect([refs(), read(root, '.git/config')]).toEqual([before, config])
    expect(git(root, 'log', '-1', '--format=%s', 'main')).toBe('T-1: Do T-1')
  })

  it('stays to be looked at: the commits of the attempt before', async () => {
    const root = makeProject(TASK)
    let made = ''
    await runAll({
      root,
      options: { retries: 1 },
      deed: ({ cwd, task }) => {
        put(cwd, { work: `${task.attempt}` })
        if (task.attempt > 1) {
          const kept = `${root}.own/1/kept/before-T-1-2.git`
          expect(git(root, '--git-dir', kept, 'log', '-1', '--format=%s', made)).toBe('Half')
          return undefined
        }
        git(cwd, 'add', '-A')
        commitIn(cwd, 'Half')
        made = git(cwd, 'rev-parse', 'HEAD')
        return { end: { kind: 'no-marker' } }
      },
    })
    expect(made).not.toBe('')
    expect(git(root, 'log', '--format=%s')).toBe('T-1: Do T-1\nBegin')
  })
})

it('a mode that an agent changes lands, also where the checkout does not look at modes', async () => {
  const root = makeProject(TASK, { 'run.sh': '#!/bin/sh\n' })
  git(root, 'config', 'core.fileMode', 'false')
  const { ended } = await attempt(root, ({ cwd }) => chmodSync(join(cwd, 'run.sh'), 0o755))
  expect(ended).toMatchObject({ outcome: 'done' })
  expect(git(root, 'ls-tree', 'HEAD', 'run.sh')).toMatch(/^100755/)
  expect(git(root, 'status', '--porcelain')).toBe('')
})

describe('the clean room', () => {
  const gates = [gateOf('test')]

  it('has what is to be committed, and neither what git ignores nor what the checkout has', async () => {
    const root = makeProject(TASK, { '.gitignore': '.ralph/\n*.log\n' })
    put(root, { 'mine.txt': 'mine\n', 'mine.log': '' })
    const paths = ['work', 'agent.log', 'mine.txt', 'mine.log']
    const found: Record<string, readonly string[]> = {}
    const look = (cwd: string): readonly string[] => paths.filter((path) => existsSync(join(cwd, path)))
    await attempt(
      root,
      ({ cwd }) => {
        put(cwd, { work: '', 'agent.log': '' })
        found['agent'] = look(cwd)
      },
      { options: { gates }, gate: (_, cwd) => (found['gate'] = look(cwd)).length > 0 },
    )
    expect(found).toEqual({ agent: ['work', 'agent.log'], gate: ['work'] })
  })

  it.each([
    ['attempt', { 'T-1': taskText('T-1') }, false],
    ['task, which have passed', { 'T-1': taskText('T-1'), 'T-2': taskText('T-2') }, true],
  ])('has nothing that the gates of another %s left', async (_, tasks, passes) => {
    const root = makeProject(tasks, { '.gitignore': '.ralph/\n*.log\n' })
    const found: boolean[] = []
    const gate: Harness['gate'] = (_, cwd) => {
      found.push(existsSync(join(cwd, 'left.log')) || existsSync(join(cwd, 'left.txt')))
      put(cwd, { 'left.log': '', 'left.txt': '' })
      return passes || found.length > 1
    }
    await runAll({
      root,
      options: { gates },
      deed: ({ cwd, task }) => put(cwd, { work: `${task.id} ${task.attempt}` }),
      gate,
    })
    expect(found).toEqual([false, false])
    expect(filesAt(root, 'HEAD')).not.toContain('left.txt')
  })

  it('has the bytes of a clone where a gate left attributes that nobody tracks', async () => {
    const root = makeProject({ ...TASK, 'T-2': taskText('T-2') }, { 'a.txt': 'a\n', 'old/gone.txt': '' })
    const seen: (string | null)[] = []
    await runAll({
      root,
      options: { gates },
      deed: ({ cwd, task }) => put(cwd, { 'a.txt': `${task.id}\n` }),
      gate: (_, cwd) => {
        seen.push(read(cwd, 'a.txt'))
        put(cwd, { '.gitattributes': '*.txt text eol=crlf\n' })
        return true
      },
    })
    expect(new Set(seen)).toEqual(new Set(['T-1\n', 'T-2\n']))
  })

  it('has none of the files that go with a change of the attributes', async () => {
    const root = makeProject(TASK, { 'a.txt': 'a\n', 'old/gone.txt': '' })
    const there: boolean[] = []
    const harness: Harness = {
      root,
      options: { gates, baseline: 'warn', maxTasks: 1 },
      deed: ({ cwd }) => {
        put(cwd, { '.gitattributes': '*.txt text\n' })
        rmSync(join(cwd, 'old'), { recursive: true })
      },
      gate: (_, cwd) => there.push(existsSync(join(cwd, 'old/gone.txt'))) > 0,
    }
    await runAll({
      ...harness,
      deed: () => ({ end: { kind: 'crashed', reason: 'boom' } }),
      options: { ...harness.options, retries: 0, onFailure: 'stop' },
    })
    await runAll(harness)
    // Twice before the first task, and then on its work.
    expect(there).toEqual([true, true, false])
  })

  it('shows the branch to gates that ask git for it, each time', async () => {
    const root = makeProject(TASK)
    const branches: string[] = []
    const gate: Harness['gate'] = (_, cwd) => branches.push(git(cwd, 'rev-parse', '--abbrev-ref', 'HEAD')) > 0
    const deed: Deed = ({ cwd }) => {
      put(cwd, { work: '' })
      put(root, { mine: '' })
      git(root, 'add', '-A')
      git(root, 'commit', '-qm', 'Mine')
    }
    await attempt(root, deed, { options: { gates }, gate })
    expect(branches).toEqual(['main', 'main'])
  })
})

describe('a repository', () => {
  it('may name its objects by SHA-256', async () => {
    const root = makeFolder()
    git(root, 'init', '-q', '-b', 'main', '--object-format=sha256')
    git(root, 'config', 'user.name', 'Ada')
    git(root, 'config', 'user.email', 'ada@example.com')
    put(root, { 'docs/tasks/T-1.md': taskText('T-1'), '.gitignore': '.ralph/\n' })
    git(root, 'add', '-A')
    git(root, 'commit', '-qm', 'Begin')
    let seen = ''
    const { ended } = await attempt(root, ({ cwd }) => {
      put(cwd, { work: '' })
      git(cwd, 'add', '-A')
      commitIn(cwd, 'Mine')
      seen = git(cwd, 'rev-parse', 'HEAD~1')
    })
    expect(ended).toMatchObject({ outcome: 'done' })
    expect(seen).toBe(git(root, 'rev-parse', 'HEAD~1'))
    expect(seen).toHaveLength(64)
    expect(git(root, 'status', '--porcelain')).toBe('')
  })

  it('has the worktree follow that has the branch, whichever it is', async () => {
    const root = makeProject(TASK)
    git(root, 'checkout', '-q', '-b', 'side')
    const linked = join(makeFolder(), 'shop')
    git(root, 'worktree', 'add', '-q', linked, 'main')
    await attempt(root, ({ cwd }) => put(cwd, { work: '' }), { options: { branch: 'main' } })
    expect(git(root, 'log', '-1', '--format=%s', 'main')).toBe('T-1: Do T-1')
    expect([existsSync(join(linked, 'work')), existsSync(join(root, 'work'))]).toEqual([true, false])
    for (const each of [root, linked]) expect(git(each, 'status', '--porcelain')).toBe('')
  })

  it('may itself be a linked worktree', async () => {
    const main = makeProject(TASK)
    const linked = join(makeFolder(), 'shop')
    git(main, 'worktree', 'add', '-q', '-b', 'side', linked)
    await attempt(linked, ({ cwd }) => put(cwd, { work: '' }))
    expect(git(linked, 'log', '-1', '--format=%s')).toBe('T-1: Do T-1')
    expect(git(main, 'log', '-1', '--format=%s')).toBe('Begin')
    for (const each of [main, linked]) expect(git(each, 'status', '--porcelain')).toBe('')
  })

  it('has a detached HEAD move, and its files too', async () => {
    const root = makeProject(TASK)
    git(root, 'checkout', '-q', '--detach')
    await attempt(root, ({ cwd }) => put(cwd, { work: '' }))
    expect(git(root, 'log', '-1', '--format=%s', 'HEAD')).toBe('T-1: Do T-1')
    expect(git(root, 'log', '-1', '--format=%s', 'main')).toBe('Begin')
    expect(existsSync(join(root, 'work'))).toBe(true)
    expect(git(root, 'status', '--porcelain')).toBe('')
  })
})

describe('a rebase under way', () => {
  /** A rebase of main that stops at its first commit. */
  function rebase(root: string): void {
    git(root, 'checkout', '-q', '-b', 'other', 'HEAD')
    put(root, { 'list.txt': 'theirs\n' })
    git(root, 'commit', '-qam', 'Theirs')
    git(root, 'checkout', '-q', 'main')
    put(root, { 'list.txt': 'mine\n' })
    git(root, 'commit', '-qam', 'Mine')
    expect(() => git(root, 'rebase', '-q', 'other')).toThrow('rebase')
  }

  it.each([
    ['in the checkout', false],
    ['in another worktree', true],
  ])('holds the landing, which the next run makes up for: %s', async (_, isLinked) => {
    const root = makeProject(TASK, { 'list.txt': 'a\n' })
    let at = root
    if (isLinked) {
      git(root, 'checkout', '-q', '-b', 'side')
      at = join(makeFolder(), 'shop')
      git(root, 'worktree', 'add', '-q', at, 'main')
    }
    const { events } = await attempt(root, ({ cwd }) => (put(cwd, { work: '' }), rebase(at)), {
      options: { branch: 'main' },
    })
    expect(those(events, 'landing-finished').map(({ result }) => result)).toEqual(['held'])
    expect(those(events, 'run-finished')[0]?.reason).toContain('a rebase of main is under way')
    expect(git(root, 'log', '-1', '--format=%s', 'main')).toBe('Mine')
    git(at, 'rebase', '--abort')
    await attempt(root, () => expect.unreachable(), { options: { branch: 'main' } })
    expect(git(root, 'log', '-2', '--format=%s', 'main')).toBe('T-1: Do T-1\nMine')
    expect(git(at, 'status', '--porcelain')).toBe('')
  })
})
