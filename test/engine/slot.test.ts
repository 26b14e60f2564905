import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commit, git, makeFolder, makeRepository, put } from '../repository.ts'
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
} from '../run/harness.ts'
import { type Deed, type Harness } from '../run/ports.ts'

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
    const root = makeProject()
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
      gate: (_, cwd) => found.push(read(cwd, 'lib/lib.txt')) > 0,
    })
    expect(found).toEqual(['one\n', 'one\n'])
    expect(status(root)).toBe('')
  })

  it('has nothing that the agents and gates of another task left', async () => {
    const { root } = project()
    put(root, { 'docs/tasks/T-2.md': taskText('T-2') })
    commit(root, 'Another')
    const found: boolean[] = []
    const look = (cwd: string): void => {
      found.push(existsSync(join(cwd, 'lib/left.txt')))
      put(cwd, { 'lib/left.txt': '', 'lib/.gitignore': '*\n' })
    }
    await runAll({
      root,
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
    expect(changedIn(root)).toEqual(['docs/tasks/T-1.md', 'lib'])
  })
})

describe('what is in no clone', () => {
  it('is refused, or left out: links that lead out, and repositories inside', async () => {
    const root = makeProject(5)
    const nested = (cwd: string): void => {
      put(cwd, { work: '', 'vendor/a.txt': 'a\n' })
      git(join(cwd, 'vendor'), 'init', '-q')
    }
    const deeds: Readonly<Record<string, (cwd: string) => void>> = {
      'T-1': (cwd) => symlinkSync('/etc/hostname', join(cwd, 'link')),
      'T-2': (cwd) => symlinkSync('../../outside', join(cwd, 'deep/link')),
      'T-3': (cwd) => symlinkSync('../README.md', join(cwd, 'deep/link')),
      'T-4': nested,
      'T-5': (cwd) => {
        nested(cwd)
        put(cwd, { work: 'more' })
        git(join(cwd, 'vendor'), 'add', '-A')
        commitIn(join(cwd, 'vendor'), 'Inside')
      },
    }
    const events = await runAll({
      root,
      options: { retries: 0 },
      deed: ({ cwd, task }) => {
        mkdirSync(join(cwd, 'deep'), { recursive: true })
        deeds[task.id]!(cwd)
      },
    })
    expect(those(events, 'run-finished')).toMatchObject([
      { completed: ['T-3', 'T-4', 'T-5'], blocked: ['T-1', 'T-2'] },
    ])
    expect(those(events, 'attempt-finished').slice(0, 2)).toMatchObject(
      ['link', 'deep/link'].map((path) => ({
        outcome: 'gate-failed',
        reason: expect.stringContaining(`${path} is a link that`) as string,
      })),
    )
    expect(read(root, 'deep/link')).toBe('# shop\n')
    expect(interferences(events)).toEqual(
      ['T-4', 'T-5'].map(() => ({
        kind: 'nested-repository',
        paths: [expect.stringMatching(/^vendor\/?$/)],
      })),
    )
    for (const commit of ['HEAD~1', 'HEAD']) {
      expect(filesAt(root, commit)).toContain('work')
      expect(filesAt(root, commit)).not.toContainEqual(expect.stringMatching(/^vendor/))
    }
  })

  it('is not there for gates: a folder that ignores all that is in it', async () => {
    const root = makeProject()
    const gate: Harness['gate'] = (_, cwd) => existsSync(join(cwd, 'made/needed.js'))
    const deed: Deed = ({ cwd }) => put(cwd, { 'made/needed.js': '', 'made/.gitignore': '*\n', work: '' })
    expect((await attempt(root, deed, { gate })).ended).toMatchObject({
      outcome: 'gate-failed',
    })
    expect(filesAt(root, 'refs/ralph/attempts/T-1/1')).toContain('work')
    const fine: Deed = ({ cwd }) => (
      rmSync(join(cwd, 'made'), { recursive: true, force: true }),
      put(cwd, { 'made/needed.js': '' })
    )
    expect((await attempt(root, fine, { gate })).ended).toMatchObject({ outcome: 'done' })
  })

  it('but the files of a tracked folder that is made one stay', async () => {
    const root = makeProject(2, { 'lib/a.txt': 'a\n', 'lib/b.txt': 'b\n' })
    const seen: boolean[] = []
    const make = (cwd: string): void => {
      seen.push(existsSync(join(cwd, 'lib/.git')))
      git(join(cwd, 'lib'), 'init', '-q')
      git(join(cwd, 'lib'), 'add', '-A')
      commitIn(join(cwd, 'lib'), 'Inside')
    }
    const events = await runAll({
      root,
      deed: ({ cwd, task }) => {
        put(cwd, { [`lib/${task.id}.txt`]: '' })
        make(cwd)
      },
      gate: (_, cwd) => (make(cwd), true),
    })
    expect(seen).toEqual([false, false, false, false])
    const found = filesAt(root, 'HEAD').filter((path) => path.startsWith('lib'))
    expect(found).toEqual(['lib/T-1.txt', 'lib/T-2.txt', 'lib/a.txt', 'lib/b.txt'])
    expect(interferences(events)).toEqual(
      ['T-1', 'T-2'].map(() => ({ kind: 'nested-repository', paths: ['lib'] })),
    )
  })

  it.each([
    ['another repository', () => makeRepository()],
    ['a file', () => 'README.md'],
  ])('nothing is removed behind a link to %s that stands for a tracked folder', async (_, target) => {
    const root = makeProject(1, { 'lib/a.txt': 'a\n' })
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
  it('stays to be looked at: the commits of the attempt before', async () => {
    const root = makeProject()
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
    expect(log(root)).toBe('T-1: Do T-1\nBegin')
  })
})

it('a mode that an agent changes lands, also where the checkout does not look at modes', async () => {
  const root = makeProject(1, { 'run.sh': 'exit 0\n' })
  git(root, 'config', 'core.fileMode', 'false')
  const { ended } = await attempt(root, ({ cwd }) => chmodSync(join(cwd, 'run.sh'), 0o755))
  expect(ended).toMatchObject({ outcome: 'done' })
  expect(git(root, 'ls-tree', 'HEAD', 'run.sh')).toMatch(/^100755/)
  expect(status(root)).toBe('')
})

describe('the clean room', () => {
  it('has what is to be committed, and neither what git ignores nor what the checkout has', async () => {
    const root = makeProject(1, { '.gitignore': '.ralph/\n*.log\n' })
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
      { gate: (_, cwd) => (found['gate'] = look(cwd)).length > 0 },
    )
    expect(found).toEqual({ agent: ['work', 'agent.log'], gate: ['work'] })
  })

  it.each([
    ['attempt', 1, false],
    ['task, which have passed', 2, true],
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
      deed: ({ cwd, task }) => put(cwd, { work: `${task.id} ${task.attempt}` }),
      gate,
    })
    expect(found).toEqual([false, false])
    expect(filesAt(root, 'HEAD')).not.toContain('left.txt')
  })

  it('has the bytes of a clone where a gate left attributes that nobody tracks', async () => {
    const root = makeProject(2, { 'a.txt': 'a\n', 'old/gone.txt': '' })
    const seen: (string | null)[] = []
    await runAll({
      root,
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
    const root = makeProject(1, { 'a.txt': 'a\n', 'old/gone.txt': '' })
    const there: boolean[] = []
    const harness: Harness = {
      root,
      options: { baseline: 'warn', maxTasks: 1 },
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
    const root = makeProject()
    const branches: string[] = []
    const gate: Harness['gate'] = (_, cwd) => branches.push(git(cwd, 'rev-parse', '--abbrev-ref', 'HEAD')) > 0
    const deed: Deed = ({ cwd }) => {
      put(cwd, { work: '' })
      put(root, { mine: '' })
      git(root, 'add', '-A')
      git(root, 'commit', '-qm', 'Mine')
    }
    await attempt(root, deed, { gate })
    expect(branches).toEqual(['main', 'main'])
  })
})

describe('a repository', () => {
  it('may name its objects by SHA-256', async () => {
    const root = makeRepository({ 'docs/tasks/T-1.md': taskText('T-1'), '.gitignore': '.ralph/\n' }, 'sha256')
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
    expect(status(root)).toBe('')
  })

  it('has the worktree follow that has the branch, whichever it is', async () => {
    const root = makeProject()
    git(root, 'checkout', '-q', '-b', 'side')
    const linked = join(makeFolder(), 'shop')
    git(root, 'worktree', 'add', '-q', linked, 'main')
    await attempt(root, ({ cwd }) => put(cwd, { work: '' }), { options: { branch: 'main' } })
    expect(git(root, 'log', '-1', '--format=%s', 'main')).toBe('T-1: Do T-1')
    expect([existsSync(join(linked, 'work')), existsSync(join(root, 'work'))]).toEqual([true, false])
    for (const each of [root, linked]) expect(status(each)).toBe('')
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
    const root = makeProject(1, { 'list.txt': 'a\n' })
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
    expect(status(at)).toBe('')
  })
})
