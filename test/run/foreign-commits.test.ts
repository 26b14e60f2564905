import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Checkpoint } from '../../src/engine/workspace/checkpoint.ts'
import { asPerson } from '../git/bare-git.ts'
import { git, put } from '../git/repository.ts'
import { makeProject, read, runAll, taskText, those } from './harness.ts'
import { gateOf } from './ports.ts'

const tasks = { 'T-1': taskText('T-1') }
const two = { ...tasks, 'T-2': taskText('T-2') }
const gates = [gateOf('test')]
const commit = (root: string, files: Readonly<Record<string, string>>): void => {
  put(root, files)
  git(root, 'add', ...Object.keys(files))
  git(root, 'commit', '-q', '--no-verify', '-m', 'Mine')
}
const hook = (root: string, script: string): void =>
  writeFileSync(join(root, '.git/hooks/pre-commit'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
const log = (root: string): string => git(root, 'log', '--format=%s')
/** As after a `kill -9`: the note of the run stays. */
const die = (at: Checkpoint) => (name: Checkpoint) => {
  if (name === at) throw new Error('killed')
}
const killed = async (harness: Parameters<typeof runAll>[0]): Promise<void> => {
  await expect(runAll(harness)).rejects.toThrow('killed')
}

describe('commits that an agent only goes to', () => {
  it.each([
    ['reset', ['reset', '-q', '--hard', 'upstream']],
    ['merge', ['merge', '-q', '--ff-only', 'feature']],
    ['switch', ['checkout', '-q', '-B', 'main', 'upstream']],
  ])('are no commits of a person: %s', async (_, command) => {
    const root = makeProject(tasks)
    git(root, 'branch', 'upstream')
    commit(root, { local: 'unpushed\n' })
    const local = git(root, 'rev-parse', 'main')
    git(root, 'switch', '-q', '-c', 'feature')
    commit(root, { feature: 'unfinished\n' })
    git(root, 'switch', '-q', 'upstream')
    commit(root, { up: 'up\n' })
    git(root, 'switch', '-q', 'main')
    await runAll({
      root,
      options: { gates },
      deed: ({ cwd }) => {
        git(cwd, ...command)
        put(cwd, { work: '' })
      },
    })
    expect(git(root, 'rev-parse', 'main~1')).toBe(local)
    expect(log(root)).toBe('T-1: Do T-1\nMine\nBegin')
  })

  it('and a commit of the agent below a person’s does not hide what it did to a task file', async () => {
    const root = makeProject(two)
    const events = await runAll({
      root,
      options: { gates, maxTasks: 1 },
      deed: ({ cwd }) => {
        put(cwd, { work: '' })
        commit(cwd, { 'docs/tasks/T-2.md': taskText('T-2').replace('TODO', 'DONE'), x: '' })
        asPerson(() => commit(cwd, { mine: '' }))
      },
    })
    expect(read(root, 'docs/tasks/T-2.md')).toBe(taskText('T-2'))
    expect(those(events, 'interference').map(({ interference }) => interference)).toContainEqual({
      kind: 'task-files',
      paths: ['docs/tasks/T-2.md'],
    })
  })

  it('a person’s, made while the agent’s own are undone, stays', async () => {
    const root = makeProject(tasks)
    let mine = ''
    await runAll({
      root,
      options: { gates },
      deed: ({ cwd }) => commit(cwd, { work: '' }),
      ports: {
        checkpoint: (name) => {
          if (name !== 'attempt-kept' || mine !== '') return
          commit(root, { mine: 'm' })
          mine = git(root, 'rev-parse', 'HEAD')
        },
      },
    })
    expect(git(root, 'merge-base', mine, 'main')).toBe(mine)
    expect(git(root, 'show', 'HEAD:mine')).toBe('m')
  })
})

describe('what a hook makes of the commit', () => {
  it('is not taken where the gates change it again', async () => {
    const root = makeProject(tasks)
    hook(root, 'echo hook > work; git add work')
    await runAll({
      root,
      options: { gates: [gateOf('format'), gateOf('test')], retries: 0, onFailure: 'stop' },
      deed: ({ cwd }) => put(cwd, { work: 'ugly\n' }),
      gate: ({ name }, cwd) =>
        name === 'format' ? (put(cwd, { work: 'nice\n' }), true) : read(cwd, 'work') === 'nice\n',
    })
    expect(log(root)).toBe('Begin')
  })

  it('that is undone leaves the task TODO, also for those that need it', async () => {
    const root = makeProject({ ...tasks, 'T-2': taskText('T-2', { depends: 'T-1' }) })
    hook(root, 'echo worse > work; git add work')
    const done: string[] = []
    await runAll({
      root,
      options: { gates, retries: 0, onFailure: 'ask' },
      ports: { ask: async () => 'skip' },
      deed: ({ cwd, task }) => {
        done.push(task.id)
        put(cwd, { [task.id]: '', work: 'fine' })
      },
      gate: (_, cwd) => read(cwd, 'work') !== 'worse\n',
    })
    expect(done).toEqual(['T-1'])
  })

  it('may be a new file, which is then tracked like any other', async () => {
    const root = makeProject(two)
    hook(root, '[ -e .git/once ] && exit 0; touch .git/once; echo 1 > VERSION; git add VERSION')
    await runAll({
      root,
      options: { gates },
      deed: ({ cwd, task }) => {
        put(cwd, { [task.id]: '' })
        if (task.id === 'T-2') put(cwd, { VERSION: '2\n' })
      },
    })
    expect(git(root, 'show', 'HEAD:VERSION')).toBe('2')
    expect(git(root, 'status', '--porcelain')).toBe('')
  })

  it('and a prefix that one puts before the subject does not lose what a person has just committed', async () => {
    const root = makeProject(tasks)
    writeFileSync(join(root, '.git/hooks/commit-msg'), '#!/bin/sh\nsed -i "1s/^/[X] /" "$1"\n', {
      mode: 0o755,
    })
    let count = 0
    await runAll({
      root,
      options: { gates },
      deed: ({ cwd }) => put(cwd, { work: '' }),
      ports: {
        checkpoint: (name) =>
          void (name === 'file-completed' && count++ === 0 && commit(root, { mine: 'm' })),
      },
    })
    expect(log(root)).toContain('Mine')
    expect(git(root, 'show', 'HEAD:mine')).toBe('m')
    expect(git(root, 'show', 'HEAD:work')).toBe('')
  })
})

describe('the next run after a kill', () => {
  it('does not take a person’s commit with a hook’s change that it undoes', async () => {
    const root = makeProject(tasks)
    hook(root, 'echo hook > work; git add work')
    await killed({
      root,
      options: { gates },
      ports: { checkpoint: die('committed') },
      deed: ({ cwd }) => {
        put(cwd, { work: '' })
        asPerson(() => commit(cwd, { mine: 'm' }))
      },
    })
    rmSync(join(root, '.git/hooks/pre-commit'))
    await runAll({ root, options: { gates }, deed: ({ cwd }) => put(cwd, { work: '' }) })
    expect(log(root)).toBe('T-1: Do T-1\nMine\nBegin')
  })

  it('goes on where somebody has committed on top of the task’s commit', async () => {
    const root = makeProject(two)
    await killed({
      root,
      options: { gates },
      ports: { checkpoint: die('committed') },
      deed: ({ cwd }) => put(cwd, { work: '' }),
    })
    commit(root, { mine: '' })
    const events = await runAll({ root, options: { gates }, deed: ({ cwd }) => put(cwd, { more: '' }) })
    expect(those(events, 'run-finished')).toMatchObject([{ completed: ['T-2'] }])
    expect(log(root)).toBe('T-2: Do T-2\nMine\nT-1: Do T-1\nBegin')
  })

  it('leaves a commit that only says that it is the task’s', async () => {
    const root = makeProject(tasks)
    await killed({
      root,
      options: { gates },
      ports: { checkpoint: die('candidate-kept') },
      deed: ({ cwd }) => put(cwd, { work: '' }),
    })
    rmSync(join(root, 'work'))
    put(root, { byHand: '' })
    git(root, 'add', 'byHand')
    git(root, 'commit', '-qm', 'T-1: by hand\n\nTask: T-1')
    await runAll({ root, options: { gates }, deed: ({ cwd }) => put(cwd, { more: '' }) })
    expect(log(root)).toContain('T-1: by hand')
  })

  it('lets the gates see a candidate before it lands, for anybody may have put it there', async () => {
    const root = makeProject(two)
    const base = git(root, 'rev-parse', 'HEAD')
    const deed = (): void => put(root, { forged: '' })
    await killed({ root, options: { gates }, ports: { checkpoint: die('settings-restored') }, deed })
    git(root, 'add', 'forged')
    const tree = git(root, 'write-tree')
    const message = `T-2: attempt 1: done\n\nTask: T-2\nAttempt: 1\nOutcome: done\nBase: ${base}\nGates: test`
    const made = git(root, 'commit-tree', tree, '-p', base, '-m', message)
    git(root, 'update-ref', 'refs/ralph/candidates/T-2/1-abcdef01', made)
    let checked = 0
    await runAll({
      root,
      options: { gates, maxTasks: 1, retries: 0 },
      deed: () => undefined,
      gate: () => (checked++, false),
    })
    expect(checked).toBeGreaterThan(0)
    expect(read(root, 'docs/tasks/T-2.md')).not.toContain('DONE')
  })

  it('lands the candidate that passed, and not the one that was refused before it', async () => {
    const root = makeProject(tasks)
    hook(root, 'grep -q bad work || exit 0; echo worse >> work; git add work')
    let count = 0
    const harness = {
      root,
      options: { gates, retries: 1 },
      deed: ({ cwd, task }: { task: { attempt: number } }) =>
        put(cwd, { w: `W-${task.attempt}`, work: task.attempt === 1 ? 'bad\n' : 'good\n' }),
      gate: (_, cwd) => !read(cwd, 'work')!.includes('worse'),
    }
    const checkpoint = (name: Checkpoint): void => {
      if (name === 'candidate-kept' && ++count === 2) throw new Error('killed')
    }
    await killed({ ...harness, ports: { checkpoint } })
    await runAll(harness)
    expect(log(root)).toBe('T-1: Do T-1\nBegin')
    expect(git(root, 'show', 'HEAD:w')).toBe('W-2')
  })

  it('makes an index anew that cannot be read', async () => {
    const root = makeProject(tasks)
    await killed({ root, ports: { checkpoint: die('agent-ended') }, deed: ({ cwd }) => put(cwd, { work: 'kept' }) })
    writeFileSync(join(root, '.git/ralph-index'), '')
    await runAll({ root, deed: ({ cwd }) => put(cwd, { work: 'again' }) })
    expect(log(root)).toBe('T-1: Do T-1\nBegin')
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:work')).toBe('kept')
  })
})

describe('a task file', () => {
  it('that a person has taken away by a commit is not made anew, empty', async () => {
    const root = makeProject(tasks)
    await runAll({
      root,
      options: { gates, retries: 0, onFailure: 'stop' },
      deed: ({ cwd }) => {
        put(cwd, { work: '' })
        asPerson(() => {
          git(cwd, 'mv', 'docs/tasks/T-1.md', 'docs/tasks/T-1-login.md')
          git(cwd, 'commit', '-qm', 'Rename')
        })
      },
    })
    expect(existsSync(join(root, 'docs/tasks/T-1.md'))).toBe(false)
    expect(log(root)).toBe('Rename\nBegin')
  })

  it('that a person has changed meanwhile keeps that where the task is tried again', async () => {
    const root = makeProject(tasks)
    let attempts = 0
    await runAll({
      root,
      options: { gates, retries: 1 },
      deed: ({ cwd }) => {
        if (attempts++ > 0) return put(cwd, { work: '' })
        asPerson(() =>
          commit(cwd, { 'docs/tasks/T-1.md': taskText('T-1').replace('Do it.', 'Do it like this.') }),
        )
        put(cwd, { half: '' })
        return { end: { kind: 'crashed', reason: 'x' } }
      },
    })
    expect(git(root, 'show', 'HEAD:docs/tasks/T-1.md')).toContain('Do it like this.')
  })
})

describe("ralph's own index", () => {
  it('is not believed where somebody has written it', async () => {
    const root = makeProject(tasks, { 'gate.sh': 'strict\n' })
    await runAll({
      root,
      options: { gates },
      deed: ({ cwd }) => {
        put(cwd, {
          '.git/flags.sh': 'GIT_INDEX_FILE=.git/ralph-index git update-index --skip-worktree gate.sh\n',
        })
        git(cwd, '-c', 'alias.flags=!sh .git/flags.sh', 'flags')
        put(cwd, { work: '', 'gate.sh': 'lenient\n' })
      },
    })
    expect(git(root, 'show', 'HEAD:gate.sh')).toBe('lenient')
  })

  it('holds what a person commits of what gates have left', async () => {
    const root = makeProject(two)
    await runAll({
      root,
      options: { gates },
      gate: (_, cwd) => (existsSync(join(cwd, 'a.snap')) || put(cwd, { 'a.snap': 's\n' }), true),
      deed: ({ cwd, task }) => {
        put(cwd, { [task.id]: '' })
        if (task.id === 'T-2') asPerson(() => commit(cwd, { 'a.snap': 's\n' }))
      },
    })
    expect(git(root, 'ls-tree', '--name-only', 'HEAD', 'a.snap')).toBe('a.snap')
  })
})
