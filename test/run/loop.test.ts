import { appendFileSync, chmodSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { git, put } from '../git/repository.ts'
import type { Gate } from '../../src/base/nouns.ts'
import { Control } from '../../src/engine/control.ts'
import type { Sealer } from '../../src/git/seal/sealer.ts'
import { makeProject, read, runAll, taskText, those } from './harness.ts'
import { agentOf, doneBy, gateOf } from './ports.ts'

const work = ({ cwd, task }: { cwd: string; task: { id: string } }): void =>
  put(cwd, { [`src/${task.id}.ts`]: 'export {}\n' })
const subjects = (root: string) => git(root, 'log', '--reverse', '--format=%s').split('\n').slice(1)
const status = (root: string) => git(root, 'status', '--porcelain')

describe('a loop', () => {
  it('does every task in order, one commit each, code and task file together', async () => {
    const root = makeProject({
      'T-001': taskText('T-001', { depends: 'T-002' }),
      'T-002': taskText('T-002'),
      'T-003': taskText('T-003', { depends: 'T-001' }),
    })
    const events = await runAll({ root, deed: work })
    expect(subjects(root)).toEqual(['T-002: Do T-002', 'T-001: Do T-001', 'T-003: Do T-003'])
    expect(git(root, 'show', '--format=', '--name-only', 'HEAD').split('\n')).toEqual([
      'docs/tasks/T-003.md',
      'src/T-003.ts',
    ])
    expect(read(root, 'docs/tasks/T-003.md')).toContain('**Status**: DONE')
    expect(status(root)).toBe('')
    expect(those(events, 'task-completed').map(({ id, files }) => [id, files])).toEqual([
      ['T-002', 2],
      ['T-001', 2],
      ['T-003', 2],
    ])
    expect(those(events, 'run-finished')).toMatchObject([
      { completed: ['T-002', 'T-001', 'T-003'], blocked: [], end: 'done', reason: 'every task is done' },
    ])
    expect(read(root, '.ralph/run.json')).toBeNull()
    expect(read(root, '.ralph/lock')).toBeNull()
  })

  it('does one task where no loop is asked for, and so many as are asked for', async () => {
    const tasks = { 'T-1': taskText('T-1'), 'T-2': taskText('T-2'), 'T-3': taskText('T-3') }
    const root = makeProject(tasks)
    await runAll({ root, deed: work, options: { loop: false } })
    expect(subjects(root)).toEqual(['T-1: Do T-1'])
    const events = await runAll({ root, deed: work, options: { maxTasks: 1 } })
    expect(subjects(root)).toEqual(['T-1: Do T-1', 'T-2: Do T-2'])
    expect(those(events, 'run-finished')).toMatchObject([{ end: 'done' }])
  })

  it('says why a task that was named cannot be done', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2', { depends: 'T-1, T-9' }) })
    const events = await runAll({ root, deed: work, options: { loop: false, task: 'T-2' } })
    expect(those(events, 'run-finished')).toMatchObject([
      {
        end: 'nothing-eligible',
        reason: 'T-2 is not eligible: needs T-1 (TODO); needs T-9, which does not exist',
      },
    ])
  })

  it('writes the numbers into trailers and the notes into the body', async () => {
    const root = makeProject({ 'T-1': taskText('T-1', { milestone: '1 — Auth' }) })
    const usage = {
      turns: 8,
      inputTokens: 412_000,
      outputTokens: 9_000,
      cachedTokens: 380_000,
      costUsd: 0.53,
    }
    const events = await runAll({
      root,
      deed: (request) => {
        work(request)
        return { message: '# What\n\nAll of it.', usage }
      },
      options: { progress: 'PROGRESS.md' },
    })
    const message = git(root, 'log', '-1', '--format=%B')
    expect(message).toContain(
      'T-1: Do T-1\n\n# What\n\nAll of it.\n\nTask: T-1\nAgent: fake\nTier: Light\nAttempts: 1\nTurns: 8\n',
    )
    expect(message).toContain('Tokens: 412k in (380k cached), 9k out\nCost: $0.53')
    expect(read(root, 'docs/tasks/T-1.md')).toMatch(
      /Completed\*\*: \d{4}-\d\d-\d\d \d\d:\d\d \(\ds duration\)/,
    )
    expect(read(root, 'docs/tasks/T-1.md')).toContain('**Cost**: $0.53')
    expect(read(root, 'PROGRESS.md')).toBe('# Progress\n\n## T-1: Do T-1\n\n### What\n\nAll of it.\n')
    expect(git(root, 'show', '--format=', '--name-only').split('\n')).toContain('PROGRESS.md')
    expect(those(events, 'milestone-completed')).toMatchObject([{ milestone: '1 — Auth', tasks: 1 }])
  })

  it('takes in tasks that an agent adds', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    await runAll({
      root,
      deed: (request) => {
        work(request)
        if (request.task.id === 'T-1') put(request.cwd, { 'docs/tasks/T-2.md': taskText('T-2') })
      },
    })
    expect(subjects(root)).toEqual(['T-1: Do T-1', 'T-2: Do T-2'])
  })
})

describe('a failed attempt', () => {
  it('is tried again with the tree as it was left, and kept', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    const seen: (string | null)[] = []
    const events = await runAll({
      root,
      deed: (request) => {
        seen.push(read(request.cwd, 'half'))
        put(request.cwd, { half: `${request.task.attempt}` })
      },
      options: { gates: [gateOf('test')] },
      gate: (_, cwd) => read(cwd, 'half') === '2',
    })
    expect(seen).toEqual([null, '1'])
    expect(
      those(events, 'attempt-finished').map(({ outcome, ref, reason }) => [outcome, ref, reason]),
    ).toEqual([
      ['gate-failed', 'refs/ralph/attempts/T-1/1', 'test: exit code 1: error: it does not work'],
      ['done', null, 'the agent says that it is done'],
    ])
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:half')).toBe('1')
    expect(git(root, 'log', '-1', '--format=%B', 'refs/ralph/attempts/T-1/1')).toContain(
      'error: it does not work',
    )
    expect(subjects(root)).toEqual(['T-1: Do T-1'])
    expect(git(root, 'log', '-1', '--format=%B')).toContain('Attempts: 2')
  })

  it('that fails too often blocks the task in a commit of its own, work kept and tree taken back', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2') })
    put(root, { '.ralph/mine': 'mine' })
    let tries = 0
    const events = await runAll({
      root,
      deed: (request) => {
        work(request)
        if (request.task.id === 'T-1') put(request.cwd, { junk: `${++tries}`, 'README.md': 'spoilt' })
      },
      options: { gates: [gateOf('test')], retries: 1 },
      gate: (_, cwd) => read(cwd, 'junk') === null || { verdict: 'failed', fingerprint: `${tries}` },
    })
    expect(tries).toBe(2)
    expect(subjects(root)).toEqual([
      'T-1: Block: 2 attempts: test: exit code 1: error: it does not work',
      'T-2: Do T-2',
    ])
    expect(read(root, 'docs/tasks/T-1.md')).toContain(
      '## Blocked\n2 attempts: test: exit code 1: error: it does not work\n\n2 attempts failed',
    )
    expect(read(root, 'junk')).toBeNull()
    expect(read(root, 'README.md')).toBe('# shop\n')
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/2:junk')).toBe('2')
    expect(those(events, 'run-finished')).toMatchObject([{ completed: ['T-2'], blocked: ['T-1'] }])
    expect(status(root)).toBe('')
  })

  it('ends where the agent fails at once at one task after the other, in the same way', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2'), 'T-3': taskText('T-3') })
    const events = await runAll({
      root,
      deed: () => ({ end: { kind: 'crashed', reason: 'no such file: agent.sh' } }),
      options: { loop: true },
    })
    expect(those(events, 'attempt-started').map(({ id }) => id)).toEqual(['T-1', 'T-1', 'T-2'])
    const reason = 'the agent ended at once at T-2, as at T-1: no such file: agent.sh'
    expect(those(events, 'run-finished')).toMatchObject([{ blocked: ['T-1'], reason }])
    expect(read(root, 'docs/tasks/T-2.md')).toBe(taskText('T-2'))
    expect(status(root)).toBe('')
  })

  it('goes on where it fails at once in another way, or has done a task in between', async () => {
    for (const isOther of [true, false]) {
      const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2'), 'T-3': taskText('T-3') })
      const events = await runAll({
        root,
        deed: (request) => {
          if (!isOther && request.task.id === 'T-2') return work(request)
          return { end: { kind: 'crashed', reason: isOther ? `no ${request.task.id}` : 'no such file' } }
        },
        options: { loop: true },
      })
      const blocked = isOther ? ['T-1', 'T-2', 'T-3'] : ['T-1', 'T-3']
      expect(those(events, 'run-finished')).toMatchObject([{ blocked }])
    }
  })

  it.each([
    ['the same failure three times', 3],
    ['twice the agent ended at once without changing anything', 2],
  ])('ends early: %s', async (reason, attempts) => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    let count = 0
    const events = await runAll({
      root,
      deed: ({ cwd }) => {
        count++
        if (attempts === 3) put(cwd, { count: `${count}` })
        return { end: { kind: 'crashed', reason: attempts === 3 ? 'exit code 1' : `exit code ${count}` } }
      },
      options: { retries: 9 },
    })
    expect(count).toBe(attempts)
    expect(those(events, 'task-blocked')[0]?.reason).toContain(reason)
  })

  it('leaves the task where that is asked for, and stops', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2') })
    const events = await runAll({ root, options: { onFailure: 'stop', retries: 0 } })
    expect(subjects(root)).toEqual([])
    expect(those(events, 'run-finished')).toMatchObject([{ end: 'failed', failed: ['T-1'], completed: [] }])
    expect(those(events, 'task-given-up')).toMatchObject([{ id: 'T-1' }])
  })

  it('asks a person, who may try again, skip or abort', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2') })
    const answers = ['retry', 'skip', 'abort'] as const
    const asked: string[] = []
    const events = await runAll({
      root,
      options: { onFailure: 'ask', retries: 0 },
      deed: (request) => put(request.cwd, { n: `${asked.length} ${request.task.id}` }),
      ports: {
        ask: async ({ id }) => {
          asked.push(id)
          return answers[asked.length - 1] ?? 'abort'
        },
      },
      gate: () => false,
    })
    expect(asked).toEqual([])
    expect(those(events, 'run-finished')).toMatchObject([{ completed: ['T-1', 'T-2'] }])
    const other = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2') })
    const more = await runAll({
      root: other,
      options: { onFailure: 'ask', retries: 0 },
      ports: {
        ask: async ({ id }) => {
          asked.push(id)
          return answers[asked.length - 1] ?? 'abort'
        },
      },
    })
    expect(asked).toEqual(['T-1', 'T-1', 'T-2'])
    expect(those(more, 'run-finished')).toMatchObject([{ end: 'failed', failed: ['T-1', 'T-2'] }])
  })

  it('whose agent asks goes on with the answer, and its next prompt has both', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    const prompts: string[] = []
    const events = await runAll({
      root,
      options: { onFailure: 'ask' },
      ports: { ask: async ({ text }) => `To ${text}: MIT` },
      deed: ({ cwd, prompt }) => {
        prompts.push(prompt)
        put(cwd, { LICENSE: 'draft' })
        return prompts.length === 1 ? { end: { kind: 'blocked', reason: 'Which licence?' } } : {}
      },
    })
    expect(those(events, 'question')).toMatchObject([{ text: 'T-1 asks: Which licence?' }])
    expect(those(events, 'answered')).toMatchObject([{ answer: 'To T-1 asks: Which licence?: MIT' }])
    expect(prompts[1]).toContain(
      '## Previous Attempts\nWhich licence?\n\n**Answer**: To T-1 asks: Which licence?: MIT',
    )
    expect(subjects(root)).toEqual(['T-1: Answer: To T-1 asks: Which licence?: MIT', 'T-1: Do T-1'])
    expect(those(events, 'run-finished')).toMatchObject([{ completed: ['T-1'], blocked: [] }])
    expect(status(root)).toBe('')
  })

  it('whose agent asks is answered from elsewhere as well', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    const control = new Control()
    let attempts = 0
    const events = await runAll({
      root,
      options: { onFailure: 'ask' },
      ports: {
        control,
        ask: () => {
          queueMicrotask(() => control.answer('T-1', 'MIT'))
          return new Promise(() => undefined)
        },
      },
      deed: (request) => {
        if (++attempts === 1) return { end: { kind: 'blocked', reason: 'Which?' } }
        return work(request)
      },
    })
    expect(those(events, 'answered')).toMatchObject([{ answer: 'MIT' }])
    expect(those(events, 'run-finished')).toMatchObject([{ completed: ['T-1'] }])
  })

  it('is blocked where nobody answers in time', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    let takenBack = false
    const events = await runAll({
      root,
      options: { onFailure: 'ask', askSeconds: 0.01, retries: 0 },
      ports: {
        ask: (_, signal) => {
          signal.addEventListener('abort', () => (takenBack = true))
          return new Promise(() => undefined)
        },
      },
      deed: () => ({ end: { kind: 'crashed', reason: 'it fell over' } }),
    })
    expect(takenBack).toBe(true)
    expect(those(events, 'warning')).toMatchObject([{ message: 'nobody has answered about T-1 in 0s' }])
    expect(subjects(root)).toEqual(['T-1: Block: one attempt, and no more: it fell over'])
  })

  it('takes its question back where the run is stopped meanwhile', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    const control = new Control()
    const events = await runAll({
      root,
      options: { onFailure: 'ask', retries: 0 },
      ports: {
        control,
        ask: (_, signal) => {
          queueMicrotask(() => control.stop('clean'))
          return new Promise((resolve) => signal.addEventListener('abort', () => resolve('abort')))
        },
      },
      deed: () => ({ end: { kind: 'crashed', reason: 'it fell over' } }),
    })
    expect(those(events, 'run-finished')).toMatchObject([{ end: 'interrupted', blocked: [] }])
    expect(status(root)).toBe('')
  })

  it('in which the agent is blocked blocks the task at once', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    await runAll({ root, deed: () => ({ end: { kind: 'blocked', reason: 'needs STRIPE_KEY' } }) })
    expect(subjects(root)).toEqual(['T-1: Block: needs STRIPE_KEY'])
  })
})

describe('done', () => {
  it.each([
    ['no-change', () => undefined, ''],
    ['missing-output', (root: string) => put(root, { other: '' }), '\n## Produces\n- `src/form.ts`\n'],
    ['missing-output', (root: string) => put(root, { other: '' }), '\n## Produces\n- `../README.md`\n'],
  ])('is not believed: %s', async (outcome, deed, rest) => {
    const root = makeProject({ 'T-1': taskText('T-1', { rest }) })
    const events = await runAll({ root, deed: ({ cwd }) => deed(cwd), options: { retries: 0 } })
    expect(those(events, 'attempt-finished')).toMatchObject([{ outcome }])
    expect(read(root, 'docs/tasks/T-1.md')).toContain('BLOCKED')
  })

  it('without a change is believed where Produces says none', async () => {
    const root = makeProject({ 'T-1': taskText('T-1', { rest: '\n## Produces\nnone\n' }) })
    await runAll({ root })
    expect(subjects(root)).toEqual(['T-1: Do T-1'])
  })

  it('without a marker is not done', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    const events = await runAll({
      root,
      deed: (request) => {
        work(request)
        return { end: { kind: 'no-marker' } }
      },
      options: { retries: 0 },
    })
    expect(those(events, 'attempt-finished')).toMatchObject([{ outcome: 'no-marker' }])
    expect(read(root, 'src/T-1.ts')).toBeNull()
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:src/T-1.ts')).toBe('export {}')
  })

  it('is not what the agent writes into its own task file', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2') })
    const events = await runAll({
      root,
      deed: ({ cwd }) => {
        const file = join(cwd, 'docs/tasks/T-1.md')
        writeFileSync(file, taskText('T-1').replace('TODO', 'DONE'))
        rmSync(join(cwd, 'docs/tasks/T-2.md'), { force: true })
        put(cwd, { 'docs/tasks/T-1-copy.md': 'x' })
      },
      options: { retries: 0, maxTasks: 1 },
    })
    expect(those(events, 'attempt-finished')).toMatchObject([{ outcome: 'no-change' }])
    expect(those(events, 'interference').map(({ interference }) => interference)).toEqual([
      { kind: 'task-files', paths: ['docs/tasks/T-1-copy.md', 'docs/tasks/T-1.md', 'docs/tasks/T-2.md'] },
    ])
    expect(read(root, 'docs/tasks/T-1.md')).toContain('BLOCKED')
    expect(read(root, 'docs/tasks/T-2.md')).toBe(taskText('T-2'))
    expect(read(root, 'docs/tasks/T-1-copy.md')).toBeNull()
    expect(status(root)).toBe('')
  })

  it('by way of a changed gate is told in the commit', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') }, { 'check.sh': 'exit 1\n' })
    await runAll({
      root,
      deed: ({ cwd }) => put(cwd, { 'check.sh': 'exit 0\n', work: '' }),
      options: { gates: [gateOf('check', { command: 'sh ./check.sh' })] },
    })
    expect(git(root, 'log', '-1', '--format=%(trailers:key=Gates-Changed,valueonly)')).toBe('check.sh')
  })
})

/** A project with one task, and a commit that no agent has made. */
function withYesterday(): { root: string; base: string } {
  const root = makeProject({ 'T-1': taskText('T-1') })
  put(root, { earlier: 'work of yesterday' })
  git(root, 'add', '-A')
  git(root, 'commit', '-qm', 'Yesterday')
  return { root, base: git(root, 'rev-parse', 'HEAD') }
}

describe('what an agent does to git', () => {
  it('commits are folded into the one, and kept', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    const base = git(root, 'rev-parse', 'HEAD')
    const events = await runAll({
      root,
      deed: (request) => {
        work(request)
        git(request.cwd, 'add', '-A')
        git(request.cwd, 'commit', '-qm', 'T-1: mine\n\nTask: T-1')
        put(request.cwd, { later: '' })
      },
    })
    expect(subjects(root)).toEqual(['T-1: Do T-1'])
    expect(git(root, 'rev-parse', 'HEAD~1')).toBe(base)
    expect(git(root, 'show', '--format=', '--name-only').split('\n')).toEqual([
      'docs/tasks/T-1.md',
      'later',
      'src/T-1.ts',
    ])
    expect(those(events, 'interference')).toMatchObject([{ interference: { kind: 'commits' } }])
  })

  it('another branch is left again, and what a reset took away is put back', async () => {
    const { root, base } = withYesterday()
    const events = await runAll({
      root,
      deed: (request) => {
        git(request.cwd, 'reset', '-q', '--hard', 'HEAD~1')
        git(request.cwd, 'checkout', '-q', '-b', 'mine')
        work(request)
        git(request.cwd, 'config', 'user.name', 'Mallory')
        put(request.cwd, { '.git/hooks/pre-commit': '#!/bin/sh\nexit 0\n' })
      },
    })
    expect(git(root, 'rev-parse', 'HEAD~1')).toBe(base)
    expect(git(root, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main')
    expect(read(root, 'earlier')).toBe('work of yesterday')
    expect(git(root, 'log', '-1', '--format=%an')).toBe('Ada')
    expect(read(root, '.git/hooks/pre-commit')).toBeNull()
    expect(those(events, 'interference').map(({ interference }) => interference.kind)).toEqual(['other-base'])
  })

  it.each(['--hard', '--mixed', '--soft'])(
    'no commit is lost where it resets %s behind the base',
    async (how) => {
      for (const outcome of ['done', 'failed'] as const) {
        const { root, base } = withYesterday()
        const events = await runAll({
          root,
          deed: (request) => {
            git(request.cwd, 'reset', '-q', how, 'HEAD~1')
            work(request)
            if (outcome === 'failed') return { end: { kind: 'crashed', reason: 'boom' } }
          },
          options: { retries: 0, loop: false },
        })
        expect(git(root, 'rev-parse', 'HEAD~1')).toBe(base)
        expect([read(root, 'earlier'), status(root)]).toEqual(['work of yesterday', ''])
        expect(git(root, 'show', '--format=', '--name-only').split('\n')).toEqual(
          outcome === 'done' ? ['docs/tasks/T-1.md', 'src/T-1.ts'] : ['docs/tasks/T-1.md'],
        )
        const kinds = those(events, 'interference').map(({ interference }) => interference.kind)
        expect(kinds).toEqual(how === '--hard' ? ['other-base'] : [])
      }
    },
  )

  it.each([
    ['amends', ['commit -q --amend --no-edit']],
    ['goes back and commits anew', ['commit -qm one', 'reset -q --soft HEAD~2', 'commit -qm two']],
    ['begins a history of its own', ['checkout -q --orphan own', 'commit -qm own']],
  ])('work in commits is kept where it %s', async (_, commands) => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    put(root, { earlier: 'one\n' })
    git(root, 'add', '-A')
    git(root, 'commit', '-qm', 'Yesterday')
    await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, { earlier: 'one\ntwo\n', committed: 'work' })
        git(cwd, 'add', '-A')
        for (const command of commands) git(cwd, ...command.split(' '))
        put(cwd, { later: 'work' })
      },
    })
    expect(status(root)).toBe('')
    expect(git(root, 'show', '--format=', '--name-only').split('\n')).toEqual([
      'committed',
      'docs/tasks/T-1.md',
      'earlier',
      'later',
    ])
    expect(read(root, 'earlier')).toBe('one\ntwo\n')
  })

  it('a merge left unfinished does not become a merge commit', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') }, { a: '1\n' })
    git(root, 'checkout', '-q', '-b', 'other')
    put(root, { a: '2\n' })
    git(root, 'commit', '-qam', 'two')
    git(root, 'checkout', '-q', 'main')
    put(root, { a: '3\n' })
    git(root, 'commit', '-qam', 'three')
    await runAll({
      root,
      deed: ({ cwd }) => {
        expect(() => git(cwd, 'merge', 'other')).toThrow('Command failed')
      },
    })
    expect(git(root, 'log', '-1', '--format=%s %P').split(' ')).toHaveLength(4)
    expect(read(root, '.git/MERGE_HEAD')).toBeNull()
  })

  it('a repository made inside is left where it is', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    const events = await runAll({
      root,
      deed: (request) => {
        work(request)
        git(request.cwd, 'init', '-q', 'inner')
        put(request.cwd, { 'inner/file': 'mine' })
      },
    })
    expect(subjects(root)).toEqual(['T-1: Do T-1'])
    expect(those(events, 'interference')).toMatchObject([
      { interference: { kind: 'nested-repository', paths: ['inner'] } },
    ])
  })
})

describe('what git ignores in the checkout', () => {
  it.each([
    ['taken out of .gitignore', (cwd: string) => put(cwd, { '.gitignore': 'dist/\n' })],
    ['added by force', (cwd: string) => git(cwd, 'add', '-f', '.')],
  ])('is in no work folder, no commit and no record, where it was %s', async (_, expose) => {
    for (const outcome of ['done', 'failed'] as const) {
      const root = makeProject({ 'T-1': taskText('T-1') }, { '.gitignore': '.env\n.ralph/\n' })
      put(root, { '.env': 'KEY=secret' })
      await runAll({
        root,
        own: { copy: ['.env'] },
        deed: (request) => {
          expect(read(request.cwd, '.env')).toBe('KEY=secret')
          appendFileSync(join(request.cwd, '.env'), 'NEW=1\n')
          put(request.cwd, { made: 'work' })
          expose(request.cwd)
          if (outcome === 'done') return work(request)
          return { end: { kind: 'crashed', reason: 'boom' } }
        },
        options: { retries: 0, loop: false },
      })
      expect(read(root, '.env')).toBe('KEY=secret')
      const kept = git(root, 'for-each-ref', '--format=%(refname)', 'refs/ralph').split('\n').filter(Boolean)
      for (const ref of ['HEAD', ...kept])
        expect(git(root, 'ls-tree', '-r', '--name-only', ref)).not.toMatch(/^\.env$|^\.ralph/m)
    }
  })
})

describe('a file that git does not take in', () => {
  it.skipIf(process.platform === 'win32')('because nobody may read it, is opened', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, { 'locked.txt': 'x' })
        chmodSync(join(cwd, 'locked.txt'), 0)
      },
    })
    expect(subjects(root)).toEqual(['T-1: Do T-1'])
    expect(git(root, 'show', 'HEAD:locked.txt')).toBe('x')
  })
})

describe('what git is left with', () => {
  it('holds no repository that the agent made and added', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    const events = await runAll({
      root,
      deed: (request) => {
        const inner = join(request.cwd, 'vendor')
        put(inner, { 'x.js': 'x' })
        git(inner, 'init', '-q')
        git(inner, 'add', '-A')
        git(inner, '-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'x')
        git(request.cwd, 'add', '-A')
        return work(request)
      },
      options: { loop: false },
    })
    expect(git(root, 'ls-tree', '-r', 'HEAD')).not.toContain('vendor')
    expect(those(events, 'interference').map(({ interference }) => interference)).toContainEqual({
      kind: 'nested-repository',
      paths: ['vendor'],
    })
  })

  it('after a hook has refused is not laid at the next attempt, and the progress has its folder', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    const hook = '#!/bin/sh\n[ -f good ]\n'
    writeFileSync(join(root, '.git/hooks/pre-commit'), hook, { mode: 0o755 })
    let attempts = 0
    const events = await runAll({
      root,
      deed: (request) => {
        if (attempts++ > 0) put(request.cwd, { good: 'yes' })
        return work(request)
      },
      options: { progress: 'docs/log/progress.md' },
    })
    expect(those(events, 'interference')).toEqual([])
    expect(git(root, 'show', 'HEAD:docs/log/progress.md')).toContain('## T-1')
    expect(status(root)).toBe('')
  })
})

describe('work that the repository holds only a part of', () => {
  it('outside of what is checked out is committed, and recorded', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2') })
    put(root, { 'far/f.txt': 'f', 'src/s.txt': 's' })
    git(root, 'add', '-A')
    git(root, 'commit', '-qm', 'Folders')
    git(root, 'sparse-checkout', 'init', '--cone')
    git(root, 'sparse-checkout', 'set', 'src', 'docs')
    await runAll({
      root,
      deed: ({ cwd, task }) => {
        put(cwd, { [`far/${task.id}.txt`]: task.id })
        if (task.id === 'T-2') return { end: { kind: 'crashed', reason: 'boom' } }
      },
      options: { retries: 0 },
    })
    expect(git(root, 'show', 'HEAD~1:far/T-1.txt')).toBe('T-1')
    expect(git(root, 'show', 'refs/ralph/attempts/T-2/1:far/T-2.txt')).toBe('T-2')
    expect(git(root, 'show', 'HEAD:far/f.txt')).toBe('f')
  })
})

describe('task files that an agent hides from git', () => {
  it.each([
    [
      'by ignoring them',
      (root: string) => {
        git(root, 'rm', '-r', '-q', '--cached', 'docs')
        put(root, { '.gitignore': 'docs/\n' })
      },
    ],
    [
      'behind a link',
      (root: string) => {
        git(root, 'mv', 'docs', 'documentation')
        symlinkSync('documentation', join(root, 'docs'))
      },
    ],
  ])('%s are put back, and the task goes on', async (_, hide) => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    const events = await runAll({
      root,
      deed: (request) => {
        hide(request.cwd)
        return work(request)
      },
    })
    expect(those(events, 'task-completed')).toHaveLength(1)
    expect(git(root, 'show', 'HEAD:docs/tasks/T-1.md')).toContain('**Status**: DONE')
    expect(git(root, 'show', 'HEAD:src/T-1.ts')).toBe('export {}')
  })
})

describe('a person', () => {
  it('who commits to the task file while the gates run finds it in the commit', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    await runAll({
      root,
      deed: work,
      options: { gates: [gateOf('slow')] },
      gate: () => {
        if (!read(root, 'docs/tasks/T-1.md')!.includes('Mine.')) {
          appendFileSync(join(root, 'docs/tasks/T-1.md'), '\n## Comments\nMine.\n')
          git(root, 'commit', '-qam', 'A comment')
        }
        return true
      },
    })
    const text = git(root, 'show', 'HEAD:docs/tasks/T-1.md')
    expect(text).toContain('**Status**: DONE')
    expect(text).toContain('## Comments\nMine.')
  })
})

describe('gates that change the tree', () => {
  it('cannot make a task done that is not there any more', async () => {
    const root = makeProject({ 'T-1': taskText('T-1', { rest: '\n## Produces\n- `src/T-1.ts`\n' }) })
    const events = await runAll({
      root,
      deed: work,
      options: { retries: 0, gates: [gateOf('clean')] },
      gate: (_, cwd) => {
        rmSync(join(cwd, 'src'), { recursive: true, force: true })
        return true
      },
    })
    expect(those(events, 'attempt-finished')).toMatchObject([
      { outcome: 'gate-failed', reason: 'the gates remove what was made: src/T-1.ts' },
    ])
    expect(read(root, 'docs/tasks/T-1.md')).toContain('- **Status**: BLOCKED')
  })
})

describe('a person who is asked', () => {
  it('may commit before the answer: nothing of that is taken back', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2') })
    const events = await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, { made: 'by the agent' })
        return { end: { kind: 'crashed', reason: 'boom' } }
      },
      options: { retries: 0, onFailure: 'ask' },
      ports: {
        ask: async () => {
          put(root, { mine: 'mine' })
          git(root, 'add', 'mine')
          git(root, 'commit', '-q', '--allow-empty', '-m', 'Mine')
          return 'block'
        },
      },
    })
    expect(those(events, 'run-finished')[0]?.blocked).toContain('T-1')
    expect(subjects(root).slice(0, 2)).toEqual(['Mine', 'T-1: Block: one attempt, and no more: boom'])
    expect([read(root, 'mine'), read(root, 'made')]).toEqual(['mine', null])
  })
})

describe('git hooks', () => {
  function hooked(script: string): string {
    const root = makeProject({ 'T-1': taskText('T-1') })
    writeFileSync(join(root, '.git/hooks/pre-commit'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    return root
  }

  it('that refuse are a failed gate, and the task file is as it was', async () => {
    const root = hooked(
      '[ -f good ] || [ "$(git diff --cached --name-only)" = docs/tasks/T-1.md ] || { echo "not good" >&2; exit 1; }',
    )
    const seen: (string | null)[] = []
    const events = await runAll({
      root,
      deed: (request) => {
        seen.push(read(request.cwd, 'docs/tasks/T-1.md'))
        put(request.cwd, request.task.attempt === 1 ? { bad: '' } : { good: '' })
      },
    })
    expect(seen).toEqual([taskText('T-1'), taskText('T-1')])
    expect(those(events, 'attempt-finished')).toMatchObject([
      { outcome: 'gate-failed', detail: 'not good' },
      { outcome: 'done' },
    ])
    expect(subjects(root)).toEqual(['T-1: Do T-1'])
  })

  it('that refuse everything block the task, and its work is kept', async () => {
    const root = hooked('exit 1')
    const events = await runAll({ root, deed: work, options: { retries: 0 } })
    expect(those(events, 'run-finished')).toMatchObject([{ blocked: ['T-1'] }])
    expect(status(root)).toBe('')
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:src/T-1.ts')).toBe('export {}')
  })

  it('may add files', async () => {
    const root = hooked('echo made > made && git add made')
    await runAll({ root, deed: work })
    expect(git(root, 'show', '--format=', '--name-only').split('\n')).toContain('made')
  })
})

describe('limits', () => {
  it('a rate limit is waited for and does not count', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    let clock = Date.parse('2026-01-01T00:00:00Z')
    let calls = 0
    const events = await runAll({
      root,
      deed: (request) => {
        if (++calls <= 2)
          return { end: { kind: 'rate-limited', reason: 'limit', until: new Date(clock + 3_600_000) } }
        work(request)
        return {}
      },
      options: { retries: 0 },
      ports: {
        now: () => new Date(clock),
        sleep: async (milliseconds) => {
          clock += milliseconds
        },
      },
    })
    expect(calls).toBe(3)
    expect(those(events, 'waiting').map(({ until }) => until)).toEqual([
      '2026-01-01T01:00:00.000Z',
      '2026-01-01T02:00:00.000Z',
    ])
    expect(git(root, 'log', '-1', '--format=%(trailers:key=Attempts,valueonly)')).toBe('1')
    expect(git(root, 'for-each-ref', 'refs/ralph')).toBe('')
  })

  it('another agent goes on meanwhile', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    const until = new Date(Date.now() + 3_600_000)
    const events = await runAll({
      root,
      ports: doneBy(
        agentOf(() => ({ end: { kind: 'rate-limited', reason: 'limit', until } }), 'first'),
        agentOf(work, 'second'),
      ),
    })
    expect(those(events, 'attempt-started').map(({ agent }) => agent)).toEqual(['first', 'second'])
    expect(git(root, 'log', '-1', '--format=%(trailers:key=Agent,valueonly)')).toBe('second')
  })

  it('the budget ends the run, after the task that used it up', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2'), 'T-3': taskText('T-3') })
    const events = await runAll({
      root,
      deed: (request) => {
        work(request)
        return { usage: { costUsd: 0.6 } }
      },
      options: { budget: 1 },
    })
    expect(those(events, 'run-finished')).toMatchObject([
      { end: 'budget', completed: ['T-1', 'T-2'], cost: 1.2 },
    ])
  })

  it('an agent that is not let in stops the run at once, tree as it was', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2') })
    const events = await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, { half: '' })
        return { end: { kind: 'auth', reason: 'log in with fake login' } }
      },
    })
    expect(those(events, 'run-finished')).toMatchObject([
      { end: 'stopped', reason: 'log in with fake login' },
    ])
    expect(status(root)).toBe('')
  })

  it('a run that is stopped while it is paused begins no attempt more', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2') })
    const control = new Control()
    const events = await runAll({
      root,
      deed: (request) => {
        control.pause()
        work(request)
      },
      hear: ({ type, ...event }) => {
        if (type === 'task-started' && 'id' in event && event.id === 'T-2')
          setImmediate(() => control.stop('after-attempt'))
      },
      ports: { control },
    })
    expect(those(events, 'attempt-started').map(({ id }) => id)).toEqual(['T-1'])
    expect(those(events, 'run-finished')).toMatchObject([{ completed: ['T-1'], end: 'interrupted' }])
    expect(subjects(root)).toEqual(['T-1: Do T-1'])
  })

  it('an interrupted run keeps what was there and leaves a clean tree', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    const control = new Control()
    const events = await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, { half: 'done' })
        control.stop('clean')
        return { end: { kind: 'interrupted' } }
      },
      ports: { control },
    })
    expect(those(events, 'run-finished')).toMatchObject([{ end: 'interrupted' }])
    expect(those(events, 'stopping').map(({ how }) => how)).toEqual(['clean'])
    expect(JSON.parse(read(root, '.ralph/state.json') ?? '')).toMatchObject({
      phase: 'idle',
      task_statuses: { 'T-1': 'pending' },
    })
    expect(status(root)).toBe('')
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:half')).toBe('done')
    await runAll({ root, deed: work })
    expect(subjects(root)).toEqual(['T-1: Do T-1'])
  })
})

describe('the baseline', () => {
  it('is reported, and not laid at a task’s door', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2') })
    const options = { gates: [gateOf('test')], baseline: 'warn' as const, retries: 0 }
    const first = await runAll({ root, deed: work, options, gate: () => false })
    expect(those(first, 'baseline-finished')).toMatchObject([{ results: [{ verdict: 'failed' }] }])
    expect(those(first, 'run-finished')).toMatchObject([
      {
        end: 'stopped',
        reason:
          'the gates fail exactly as they did before the run began: test: exit code 1: error: it does not work',
      },
    ])
    expect(status(root)).toBe('')
    const second = await runAll({
      root,
      deed: work,
      options: { ...options, baseline: 'stop' },
      gate: () => false,
    })
    expect(those(second, 'attempt-started')).toEqual([])
    expect(those(second, 'run-finished')).toMatchObject([{ end: 'stopped' }])
  })

  it('pays for no second attempt where the gates fail just as they did before', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2') })
    const options = { gates: [gateOf('test')], baseline: 'warn' as const, retries: 3 }
    const events = await runAll({ root, deed: work, options, gate: () => false })
    expect(those(events, 'attempt-finished')).toHaveLength(1)
    expect(those(events, 'run-finished')).toMatchObject([{ end: 'stopped' }])
  })

  it.each(['warn', 'stop'] as const)(
    'ends a run whose gate cannot run (%s), and asks it again',
    async (baseline) => {
      const root = makeProject({ 'T-1': taskText('T-1') })
      const options = { gates: [gateOf('test')], baseline }
      const reason = 'its command was not found (exit code 127)'
      const missing = () => ({ verdict: 'not-runnable' as const, reason })
      const first = await runAll({ root, deed: work, options, gate: missing })
      expect(those(first, 'attempt-started')).toEqual([])
      expect(those(first, 'run-finished')).toMatchObject([
        { end: 'stopped', reason: expect.stringContaining(`test (run test): ${reason}`) },
      ])
      const second = await runAll({ root, deed: work, options, gate: () => true })
      expect(those(second, 'task-completed')).toHaveLength(1)
    },
  )

  it('ends a run at the first attempt where a gate lacks a program that the work does not speak of', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    const reason = 'vitest was not found (exit code 127)'
    const missing = () => ({ verdict: 'not-runnable' as const, reason, missing: 'vitest' })
    const options = { gates: [gateOf('test')], retries: 3 }
    const events = await runAll({ root, deed: work, options, gate: missing })
    expect(those(events, 'attempt-finished')).toMatchObject([
      {
        outcome: 'gate-missing',
        reason: `a gate cannot run: test: ${reason}`,
        ref: 'refs/ralph/attempts/T-1/1',
      },
    ])
    expect(those(events, 'run-finished')).toMatchObject([
      { end: 'stopped', reason: expect.stringContaining(reason) },
    ])
    expect(read(root, 'docs/tasks/T-1.md')).toBe(taskText('T-1'))
    const next = await runAll({ root, deed: work, options, gate: () => true })
    expect(those(next, 'attempt-started')).toMatchObject([{ counted: 1, most: 4 }])
  })

  it.each([
    ['the work names it', 'vitest', () => ({ Makefile: 'test:\n\tvitest\n' })],
    ['it is the project’s own', './check.sh', () => ({ work: '' })],
  ])('lets an agent mend it where %s', async (_, missing, files) => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    let count = 0
    const events = await runAll({
      root,
      deed: ({ cwd }) => put(cwd, { ...files(), again: String(count) }),
      options: { gates: [gateOf('test')] },
      gate: () => count++ > 0 || { verdict: 'not-runnable' as const, reason: 'r', missing },
    })
    expect(those(events, 'attempt-finished').map(({ outcome }) => outcome)).toEqual(['gate-failed', 'done'])
  })

  it('goes on where a gate that is not required cannot run, and where none is asked before', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2') })
    const missing = ({ name }: Gate) => (name === 'lint' ? { verdict: 'not-runnable' as const } : true)
    const gates = [gateOf('lint', { required: false }), gateOf('test')]
    const events = await runAll({
      root,
      deed: work,
      options: { gates, baseline: 'warn' },
      gate: missing,
    })
    expect(those(events, 'task-completed')).toHaveLength(2)
  })
})

describe('an agent that cleans everything away', () => {
  it('takes nothing of the run with it', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2') })
    await runAll({
      root,
      deed: (request) => {
        rmSync(join(request.cwd, '.ralph'), { recursive: true, force: true })
        work(request)
      },
    })
    expect(subjects(root)).toEqual(['T-1: Do T-1', 'T-2: Do T-2'])
    expect(git(root, 'ls-files', '.ralph')).toBe('')
    expect(status(root)).toBe('')
  })
})

describe('a change to what the gates are', () => {
  it.each([
    ['package.json', { 'package.json': '{"scripts":{"test":"true"}}' }, 'package.json'],
    ['package.json', { 'package.json': '{"scripts":{"test":"node t.js"},"dependencies":{"a":"1"}}' }, ''],
    ['ralph.config.json', { 'ralph.config.json': '{}' }, 'ralph.config.json'],
    ['Makefile', { Makefile: 'all:' }, ''],
  ])('%s is told where it decides something', async (_, files, told) => {
    const root = makeProject(
      { 'T-1': taskText('T-1') },
      { 'package.json': '{"scripts":{"test":"node t.js"}}' },
    )
    await runAll({
      root,
      deed: ({ cwd }) => put(cwd, { work: '', ...files }),
      options: { gates: [gateOf('test', { command: 'npm test' })] },
    })
    expect(git(root, 'log', '-1', '--format=%(trailers:key=Gates-Changed,valueonly)')).toBe(told)
  })
})

describe('sealing', () => {
  const sealer = (problem: string | null, sealed: string[]): Sealer => ({
    prefix: async () => 'abc1234',
    trailer: (prefix) => ({ key: 'Seal', value: prefix }),
    async sealed(commit, onProgress) {
      onProgress(1, 3)
      sealed.push(commit)
      return problem === null ? commit : null
    },
  })

  it('names the commit in its file and its message, and tells how far it is', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    const sealed: string[] = []
    const events = await runAll({ root, deed: work, ports: { sealer: sealer(null, sealed) } })
    expect(git(root, 'log', '-1', '--format=%(trailers:key=Seal,valueonly)')).toBe('abc1234')
    expect(git(root, 'show', 'HEAD:docs/tasks/T-1.md')).toContain('**Commit**: abc1234')
    expect(sealed).toEqual([git(root, 'rev-parse', 'HEAD')])
    expect(those(events, 'sealing')).toMatchObject([{ seconds: 1, expectedSeconds: 3 }])
  })

  it('is part of the time that a task took', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    let late = 0
    const slow = {
      ...sealer(null, []),
      sealed: async (commit: string) => {
        late = 600_000
        return commit
      },
    }
    const now = (): Date => new Date(Date.now() + late)
    const events = await runAll({ root, deed: work, ports: { sealer: slow, now } })
    expect(those(events, 'task-completed')[0]?.duration).toBeGreaterThan(599)
  })

  it('that is interrupted is finished by the next run', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2') })
    const control = new Control()
    const sealed: string[] = []
    const interrupted: Sealer = {
      ...sealer('interrupted', sealed),
      sealed: async () => {
        control.stop('clean')
        return null
      },
    }
    await runAll({ root, deed: work, ports: { sealer: interrupted, control } })
    expect(subjects(root)).toEqual([])
    const events = await runAll({ root, deed: work, ports: { sealer: sealer(null, sealed) } })
    expect(those(events, 'attempt-started').map(({ id }) => id)).toEqual(['T-2'])
    expect(those(events, 'sealing')[0]).toMatchObject({ id: 'T-1', seconds: 1, expectedSeconds: 3 })
    expect(subjects(root)).toEqual(['T-1: Do T-1', 'T-2: Do T-2'])
  })
})
