import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Checkpoint } from '../../src/engine/checkpoint.ts'
import { git, put } from '../git/repository.ts'
import { makeProject, read, runAll, taskText, those } from './harness.ts'
import { gateOf, ownFolder, type Harness } from './ports.ts'

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
const killed = async (harness: Harness): Promise<void> => {
  await expect(runAll(harness)).rejects.toThrow('killed')
}

describe('commits that an agent makes or goes to', () => {
  const makeWithBranches = (): string => {
    const root = makeProject(tasks)
    git(root, 'branch', 'upstream')
    commit(root, { local: 'unpushed\n' })
    git(root, 'switch', '-q', '-c', 'feature')
    commit(root, { feature: 'unfinished\n' })
    git(root, 'switch', '-q', 'upstream')
    commit(root, { up: 'up\n' })
    git(root, 'switch', '-q', 'main')
    return root
  }
  const go = (root: string, command: readonly string[]) =>
    runAll({
      root,
      options: { gates },
      deed: ({ cwd }) => {
        git(cwd, ...command)
        put(cwd, { work: '' })
      },
    })
  const RESET = ['reset', '-q', '--hard', 'upstream']
  const SWITCH = ['checkout', '-q', '-B', 'main', 'upstream']

  it.each([
    ['reset', RESET],
    ['merge', ['merge', '-q', '--ff-only', 'feature']],
    ['switch', SWITCH],
  ])('are none of the branch, which loses nothing: %s', async (_, command) => {
    const root = makeWithBranches()
    const local = git(root, 'rev-parse', 'main')
    const events = await go(root, command)
    expect(git(root, 'rev-parse', 'main~1')).toBe(local)
    expect(log(root)).toBe('T-1: Do T-1\nMine\nBegin')
    expect(read(root, 'local')).toBe('unpushed\n')
    expect(those(events, 'interference').map(({ interference }) => interference.kind)).toEqual(['other-base'])
  })

  it.each([
    ['reset', RESET],
    ['switch', SWITCH],
  ])('bring none of their files: %s', async (_, command) => {
    const root = makeWithBranches()
    await go(root, command)
    expect(git(root, 'show', '--format=', '--name-only').split('\n')).toEqual(['docs/tasks/T-1.md', 'work'])
  })

  it('beside a person’s do not hide what the agent did to a task file', async () => {
    const root = makeProject(two)
    const events = await runAll({
      root,
      options: { gates, maxTasks: 1 },
      deed: ({ cwd }) => {
        put(cwd, { work: '' })
        commit(cwd, { 'docs/tasks/T-2.md': taskText('T-2').replace('TODO', 'DONE'), x: '' })
        commit(root, { mine: '' })
      },
    })
    expect(log(root)).toBe('T-1: Do T-1\nMine\nBegin')
    expect(read(root, 'docs/tasks/T-2.md')).toBe(taskText('T-2'))
    expect(those(events, 'interference').map(({ interference }) => interference)).toEqual([
      { kind: 'commits', commits: [expect.any(String)] },
      { kind: 'task-files', paths: ['docs/tasks/T-2.md'] },
    ])
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

  it('leaves the task TODO where it does not pass, also for those that need it', async () => {
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
    hook(root, '[ -e VERSION ] || { echo 1 > VERSION; git add VERSION; }')
    const seen: (string | null)[] = []
    await runAll({
      root,
      options: { gates },
      deed: ({ cwd, task }) => {
        put(cwd, { [task.id]: '' })
        if (task.id === 'T-2') put(cwd, { VERSION: '2\n' })
      },
      gate: (_, cwd) => (seen.push(read(cwd, 'VERSION')), true),
    })
    expect(seen).toEqual([null, '1\n', '2\n'])
    expect(git(root, 'show', 'HEAD~1:VERSION')).toBe('1')
    expect(git(root, 'show', 'HEAD:VERSION')).toBe('2')
    expect(git(root, 'status', '--porcelain')).toBe('')
  })

  it('may be a prefix of the subject, also where a person commits at that moment', async () => {
    const root = makeProject(tasks)
    const script = '#!/bin/sh\nsed -i "1s/^/[X] /" "$1"\n'
    writeFileSync(join(root, '.git/hooks/commit-msg'), script, { mode: 0o755 })
    let count = 0
    await runAll({
      root,
      options: { gates },
      deed: ({ cwd }) => put(cwd, { work: '' }),
      ports: {
        checkpoint: (name) => {
          if (name === 'committed' && count++ === 0) commit(root, { mine: 'm' })
        },
      },
    })
    expect(log(root)).toBe('[X] T-1: Do T-1\nMine\nBegin')
    expect(git(root, 'show', 'HEAD:mine')).toBe('m')
    expect(git(root, 'show', 'HEAD:work')).toBe('')
  })
})

describe('the next run after a kill', () => {
  it('goes on where somebody has committed on top of the task’s commit', async () => {
    const root = makeProject(two)
    await killed({
      root,
      options: { gates },
      ports: { checkpoint: die('published') },
      deed: ({ cwd }) => put(cwd, { work: '' }),
    })
    commit(root, { mine: '' })
    const events = await runAll({ root, options: { gates }, deed: ({ cwd }) => put(cwd, { more: '' }) })
    expect(those(events, 'run-finished')).toMatchObject([{ completed: ['T-2'] }])
    expect(log(root)).toBe('T-2: Do T-2\nMine\nT-1: Do T-1\nBegin')
    expect(git(root, 'for-each-ref', 'refs/ralph/candidates')).toBe('')
  })

  it('leaves a commit that only says that it is the task’s, and lands its own on top', async () => {
    const root = makeProject(tasks)
    await killed({
      root,
      options: { gates },
      ports: { checkpoint: die('candidate-kept') },
      deed: ({ cwd }) => put(cwd, { work: '' }),
    })
    put(root, { byHand: '' })
    git(root, 'add', 'byHand')
    git(root, 'commit', '-qm', 'T-1: by hand\n\nTask: T-1')
    await runAll({ root, options: { gates }, deed: () => expect.fail('the work is there') })
    expect(log(root)).toBe('T-1: Do T-1\nT-1: by hand\nBegin')
  })

  it('lets the gates see a candidate before it lands, for anybody may have put it there', async () => {
    const root = makeProject(tasks)
    const base = git(root, 'rev-parse', 'HEAD')
    put(root, { forged: '' })
    git(root, 'add', 'forged')
    const tree = git(root, 'write-tree')
    const message = `T-1: attempt 1: done\n\nTask: T-1\nAttempt: 1\nOutcome: done\nBase: ${base}\nGates: test`
    const made = git(root, 'commit-tree', tree, '-p', base, '-m', message)
    git(root, 'update-ref', 'refs/ralph/candidates/T-1/1-abcdef01', made)
    git(root, 'rm', '-q', '-f', 'forged')
    let checked = 0
    await runAll({
      root,
      options: { gates, retries: 0 },
      deed: () => undefined,
      gate: () => (checked++, false),
    })
    expect(checked).toBeGreaterThan(0)
    expect(read(root, 'docs/tasks/T-1.md')).not.toContain('DONE')
  })

  it('lands the candidate that passed, and not the one that was refused before it', async () => {
    const root = makeProject(tasks)
    hook(root, 'grep -q bad work || exit 0; echo worse >> work; git add work')
    let count = 0
    const harness: Harness = {
      root,
      options: { gates, retries: 1 },
      deed: ({ cwd, task }) =>
        put(cwd, { w: `W-${task.attempt}`, work: task.attempt === 1 ? 'bad\n' : 'good\n' }),
      gate: (_, cwd) => !read(cwd, 'work')!.includes('worse'),
    }
    const checkpoint = (name: Checkpoint): void => {
      if (name === 'candidate-kept' && ++count === 2) throw new Error('killed')
    }
    await killed({ ...harness, ports: { checkpoint } })
    await runAll({ ...harness, deed: () => expect.fail('the work is there') })
    expect(log(root)).toBe('T-1: Do T-1\nBegin')
    expect(git(root, 'show', 'HEAD:w')).toBe('W-2')
  })

  it('keeps what was in a slot whose index cannot be read', async () => {
    const root = makeProject(tasks)
    const deed: Harness['deed'] = ({ cwd }) => put(cwd, { work: 'kept' })
    await killed({ root, ports: { checkpoint: die('agent-ended') }, deed })
    writeFileSync(join(ownFolder(root), '1/work.index'), '')
    await runAll({ root, deed: ({ cwd }) => put(cwd, { work: 'again' }) })
    expect(log(root)).toBe('T-1: Do T-1\nBegin')
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:work')).toBe('kept')
    expect(git(root, 'show', 'HEAD:work')).toBe('again')
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
        git(root, 'mv', 'docs/tasks/T-1.md', 'docs/tasks/T-1-login.md')
        git(root, 'commit', '-qm', 'Rename')
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
        commit(root, { 'docs/tasks/T-1.md': taskText('T-1').replace('Do it.', 'Do it like this.') })
        put(cwd, { half: '' })
        return { end: { kind: 'crashed', reason: 'x' } }
      },
    })
    expect(git(root, 'show', 'HEAD:docs/tasks/T-1.md')).toContain('Do it like this.')
  })
})

it('what gates have left in the clean room is in no way of a person who commits it', async () => {
  const root = makeProject(two)
  const seen: (string | null)[] = []
  await runAll({
    root,
    options: { gates },
    gate: (_, cwd) => {
      seen.push(read(cwd, 'a.snap'))
      put(cwd, { 'a.snap': 'of a gate\n' })
      return true
    },
    deed: ({ cwd, task }) => {
      put(cwd, { [task.id]: '' })
      if (task.id === 'T-2') commit(root, { 'a.snap': 'mine\n' })
    },
  })
  // Twice for the second task: on its base, and with the commit on which it lands.
  expect(seen.slice(0, 3)).toEqual([null, null, 'mine\n'])
  expect(log(root).split('\n').slice(1)).toEqual(['Mine', 'T-1: Do T-1', 'Begin'])
})
