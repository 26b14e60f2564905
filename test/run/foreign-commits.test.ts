import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Checkpoint } from '../../src/engine/checkpoint.ts'
import { UNKNOWN_USAGE } from '../../src/base/usage.ts'
import { commit, git, put } from '../repository.ts'
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
import { ownFolder, type Deed, type Harness } from './ports.ts'

const gate = (): boolean => true
const hook = (root: string, script: string, name = 'pre-commit'): void =>
  put(root, { [`.git/hooks/${name}`]: `#!/bin/sh\n${script}\n` })
const writes: Deed = ({ cwd }) => put(cwd, { work: '' })

/** Runs until a checkpoint, as before a `kill -9`: the note of the run stays. */
async function killed(at: Checkpoint, harness: Harness, occurrence = 1): Promise<void> {
  let count = 0
  const checkpoint = (name: Checkpoint): void => {
    if (name === at && ++count === occurrence) throw new Error('killed')
  }
  await expect(runAll({ ...harness, ports: { checkpoint } })).rejects.toThrow('killed')
}

describe('commits that an agent makes or goes to', () => {
  it.each([
    ['reset', 'reset -q --hard upstream'],
    ['merge', 'merge -q --ff-only feature'],
    ['switch', 'checkout -q -B main upstream'],
  ])('are none of the branch, which loses nothing: %s', async (how, command) => {
    const root = makeProject()
    git(root, 'branch', 'upstream')
    const local = commit(root, 'Mine', { local: 'unpushed\n' })
    git(root, 'switch', '-q', '-c', 'feature')
    commit(root, 'Feature', { feature: 'unfinished\n' })
    git(root, 'switch', '-q', 'upstream')
    commit(root, 'Upstream', { up: 'up\n' })
    git(root, 'switch', '-q', 'main')
    const events = await runAll({
      root,
      deed: ({ cwd }) => {
        git(cwd, ...command.split(' '))
        put(cwd, { work: '' })
      },
    })
    expect(git(root, 'rev-parse', 'main~1')).toBe(local)
    expect(log(root)).toBe('T-1: Do T-1\nMine\nBegin')
    expect(read(root, 'local')).toBe('unpushed\n')
    if (how !== 'merge') expect(changedIn(root)).toEqual(['docs/tasks/T-1.md', 'work'])
    expect(interferences(events).map(({ kind }) => kind)).toEqual(['other-base'])
  })

  it('beside a person’s do not hide what the agent did to a task file', async () => {
    const root = makeProject(2)
    const events = await runAll({
      root,
      options: { maxTasks: 1 },
      deed: ({ cwd }) => {
        commit(cwd, 'Of the agent', { 'docs/tasks/T-2.md': taskText('T-2').replace('TODO', 'DONE'), x: '' })
        commit(root, 'Mine', { mine: '' })
      },
    })
    expect(log(root)).toBe('T-1: Do T-1\nMine\nBegin')
    expect(read(root, 'docs/tasks/T-2.md')).toBe(taskText('T-2'))
    expect(interferences(events)).toEqual([
      { kind: 'commits', commits: [expect.any(String)] },
      { kind: 'task-files', paths: ['docs/tasks/T-2.md'] },
    ])
  })
})

describe('what a hook makes of the commit', () => {
  it('may be a new file, which is then tracked like any other', async () => {
    const root = makeProject(2)
    hook(root, '[ -e VERSION ] || { echo 1 > VERSION; git add VERSION; }')
    const seen: (string | null)[] = []
    await runAll({
      root,
      deed: ({ cwd, task }) => {
        put(cwd, { [task.id]: '' })
        if (task.id === 'T-2') put(cwd, { VERSION: '2\n' })
      },
      gate: (_, cwd) => (seen.push(read(cwd, 'VERSION')), true),
    })
    expect(seen).toEqual([null, '1\n', '2\n'])
    expect(git(root, 'show', 'HEAD~1:VERSION')).toBe('1')
    expect(git(root, 'show', 'HEAD:VERSION')).toBe('2')
    expect(status(root)).toBe('')
  })

  it('may be a prefix of the subject, also where a person commits at that moment', async () => {
    const root = makeProject()
    hook(root, 'sed -i "1s/^/[X] /" "$1"', 'commit-msg')
    let count = 0
    await runAll({
      root,
      deed: writes,
      gate,
      ports: {
        checkpoint: (name) => {
          if (name === 'committed' && count++ === 0) commit(root, 'Mine', { mine: 'm' })
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
    const root = makeProject(2)
    await killed('published', { root, deed: writes })
    commit(root, 'Mine', { mine: '' })
    const events = await runAll({ root, deed: ({ cwd }) => put(cwd, { more: '' }) })
    expect(those(events, 'run-finished')).toMatchObject([{ completed: ['T-2'] }])
    expect(log(root)).toBe('T-2: Do T-2\nMine\nT-1: Do T-1\nBegin')
    expect(git(root, 'for-each-ref', 'refs/ralph/candidates')).toBe('')
  })

  it('lands its candidate on a commit that only says that it is the task’s', async () => {
    const root = makeProject()
    await killed('candidate-kept', { root, deed: writes })
    commit(root, 'T-1: by hand\n\nTask: T-1', { byHand: '' })
    await runAll({ root, deed: () => expect.fail('the work is there') })
    expect(log(root)).toBe('T-1: Do T-1\nT-1: by hand\nBegin')
  })

  it('lets the gates see a candidate before it lands, for anybody may have put it there', async () => {
    const root = makeProject()
    const base = git(root, 'rev-parse', 'HEAD')
    const message = `T-1: attempt 1: done\n\nTask: T-1\nAttempt: 1\nOutcome: done\nBase: ${base}\nGates: test`
    git(root, 'update-ref', 'refs/ralph/candidates/T-1/1-abcdef01', commit(root, message, { forged: '' }))
    git(root, 'reset', '-q', '--hard', base)
    let checked = 0
    await runAll({ root, options: { retries: 0 }, gate: () => (checked++, false) })
    expect(checked).toBeGreaterThan(0)
    expect(read(root, 'docs/tasks/T-1.md')).not.toContain('DONE')
  })

  it('lands the candidate that passed, and not the one that was refused before it', async () => {
    const root = makeProject()
    hook(root, 'grep -q bad work || exit 0; echo worse >> work; git add work')
    const harness: Harness = {
      root,
      options: { retries: 1 },
      deed: ({ cwd, task }) =>
        put(cwd, { w: `W-${task.attempt}`, work: task.attempt === 1 ? 'bad\n' : 'good\n' }),
      gate: (_, cwd) => !read(cwd, 'work')!.includes('worse'),
    }
    await killed('candidate-kept', harness, 2)
    await runAll({ ...harness, deed: () => expect.fail('the work is there') })
    expect(log(root)).toBe('T-1: Do T-1\nBegin')
    expect(git(root, 'show', 'HEAD:w')).toBe('W-2')
  })

  it('keeps what was in a slot whose index cannot be read', async () => {
    const root = makeProject()
    await killed('agent-ended', { root, deed: ({ cwd }) => put(cwd, { work: 'kept' }) })
    writeFileSync(join(ownFolder(root), '1/work.index'), '')
    await runAll({ root, deed: ({ cwd }) => put(cwd, { work: 'again' }) })
    expect(log(root)).toBe('T-1: Do T-1\nBegin')
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:work')).toBe('kept')
    expect(git(root, 'show', 'HEAD:work')).toBe('again')
  })

  const SPENT = { turns: 3, costUsd: 0.5 }
  /** A run that died while its agent worked, having spent half a dollar. */
  const died = (root: string): Promise<void> =>
    killed('agent-ended', {
      root,
      deed: ({ cwd }) => {
        put(cwd, { half: 'done' })
        return { events: [{ type: 'usage', usage: { ...UNKNOWN_USAGE, ...SPENT } }], usage: SPENT }
      },
    })

  it('says what it has kept, and counts what that has cost', async () => {
    const root = makeProject()
    await died(root)
    const events = await runAll({ root, deed: writes, options: { budget: 100 } })
    expect(those(events, 'recovered').map(({ message }) => message)).toEqual([
      'T-1: the last run died during attempt 1: 1 changed file is kept under refs/ralph/attempts/T-1/1',
    ])
    expect(those(events, 'attempt-started')).toMatchObject([{ attempt: 2, counted: 1 }])
    expect(those(events, 'run-finished')).toMatchObject([{ cost: 0.5 }])
    expect(trailer(root, 'Turns')).toBe('3')
    expect(read(root, 'half')).toBeNull()
  })

  it('works on the branch that a person has switched to since', async () => {
    const root = makeProject()
    await died(root)
    git(root, 'checkout', '-q', '-b', 'another')
    await runAll({ root, deed: writes })
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:half')).toBe('done')
    expect([log(root, 'another'), log(root, 'main')]).toEqual(['T-1: Do T-1\nBegin', 'Begin'])
  })

  it('does the task anew where its slot is gone', async () => {
    const root = makeProject()
    await died(root)
    rmSync(ownFolder(root), { recursive: true })
    const events = await runAll({ root, deed: writes })
    expect(those(events, 'recovered').map(({ message }) => message)).toEqual([
      'T-1: the last run died during attempt 1, and its slot is gone',
    ])
    expect(log(root)).toBe('T-1: Do T-1\nBegin')
  })
})

describe('a task file', () => {
  it('that a person has taken away by a commit is not made anew, empty', async () => {
    const root = makeProject()
    await runAll({
      root,
      options: { retries: 0, onFailure: 'stop' },
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
    const root = makeProject()
    await runAll({
      root,
      options: { retries: 1 },
      deed: ({ cwd, task }) => {
        put(cwd, { work: '' })
        if (task.attempt > 1) return
        const text = taskText('T-1').replace('Do it.', 'Do it like this.')
        commit(root, 'Mine', { 'docs/tasks/T-1.md': text })
        return { end: { kind: 'crashed', reason: 'x' } }
      },
    })
    expect(git(root, 'show', 'HEAD:docs/tasks/T-1.md')).toContain('Do it like this.')
  })
})

it('what gates have left in the clean room is in no way of a person who commits it', async () => {
  const root = makeProject(2)
  const seen: (string | null)[] = []
  await runAll({
    root,
    gate: (_, cwd) => {
      seen.push(read(cwd, 'a.snap'))
      put(cwd, { 'a.snap': 'of a gate\n' })
      return true
    },
    deed: ({ cwd, task }) => {
      put(cwd, { [task.id]: '' })
      if (task.id === 'T-2') commit(root, 'Mine', { 'a.snap': 'mine\n' })
    },
  })
  // Twice for the second task: on its base, and with the commit on which it lands.
  expect(seen.slice(0, 3)).toEqual([null, null, 'mine\n'])
  expect(log(root).split('\n').slice(1)).toEqual(['Mine', 'T-1: Do T-1', 'Begin'])
})
