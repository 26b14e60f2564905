import { appendFileSync, chmodSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Control } from '../../src/engine/control.ts'
import type { Sealer } from '../../src/git/seal/sealer.ts'
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
  works,
} from './harness.ts'
import { agentOf, doneBy, gateOf, type Said } from './ports.ts'

const crashed = (reason: string): Said => ({
  end: { kind: 'crashed', reason },
  toolCalls: 0,
})

describe('a loop', () => {
  it('does every task in order, one commit each, code and task file together', async () => {
    const root = makeProject({
      'T-001': taskText('T-001', { depends: 'T-002' }),
      'T-002': taskText('T-002'),
      'T-003': taskText('T-003', { depends: 'T-001' }),
    })
    const events = await runAll({ root, deed: works })
    expect(log(root)).toBe('T-003: Do T-003\nT-001: Do T-001\nT-002: Do T-002\nBegin')
    expect(changedIn(root)).toEqual(['docs/tasks/T-003.md', 'src/T-003.ts'])
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
    expect([read(root, '.ralph/run.json'), read(root, '.ralph/lock')]).toEqual([null, null])
  })

  it('does one task without --loop, and at most --max-tasks with it', async () => {
    const root = makeProject(3)
    await runAll({ root, deed: works, options: { loop: false } })
    expect(log(root)).toBe('T-1: Do T-1\nBegin')
    const events = await runAll({ root, deed: works, options: { maxTasks: 1 } })
    expect(log(root)).toBe('T-2: Do T-2\nT-1: Do T-1\nBegin')
    expect(those(events, 'run-finished')).toMatchObject([{ end: 'done' }])
  })

  it('says why a task that was named cannot be done', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2', { depends: 'T-1, T-9' }) })
    const events = await runAll({ root, options: { loop: false, task: 'T-2' } })
    const reason = 'T-2 is not eligible: needs T-1 (TODO); needs T-9, which does not exist'
    expect(those(events, 'run-finished')).toMatchObject([{ end: 'nothing-eligible', reason }])
  })

  it('writes what it has measured before the words of the agent', async () => {
    const task = taskText('T-1').replace('## Description', '- **Touches**: src/\n\n## Description')
    const root = makeProject({ 'T-1': `${task}\n## Acceptance Criteria\n- [ ] It adds\n- [ ] It is fast\n` })
    await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, { 'src/a.ts': 'a\n', 'lib/b.ts': 'b\nb\n' })
        return { message: 'All done.\n\n- [x] It adds' }
      },
      options: { checkCriteria: true },
    })
    expect(git(root, 'log', '-1', '--format=%b')).toMatch(
      /^2 files \+3 −0 · criteria: 1 of 2 \(fake\) · 1 file outside of Touches\n\nfake writes:\n\nAll done\.\n/,
    )
    expect([trailer(root, 'Criteria'), trailer(root, 'Outside-Touches')]).toEqual([
      '1 of 2 (fake)',
      'lib/b.ts',
    ])
    expect(git(root, 'show', 'HEAD:docs/tasks/T-1.md')).toContain(
      '## Completion Notes\nfake writes:\n\nAll done.',
    )
  })

  it('writes the numbers into trailers and the notes into the body', async () => {
    const root = makeProject({ 'T-1': taskText('T-1', { milestone: '1 — Auth' }) })
    const tokens = { inputTokens: 412_000, outputTokens: 9_000, cachedTokens: 380_000 }
    const events = await runAll({
      root,
      deed: async (request) => {
        await works(request)
        return { message: '# What\n\nAll of it.', usage: { ...tokens, turns: 8, costUsd: 0.53 } }
      },
      options: { progress: 'docs/log/PROGRESS.md' },
    })
    const message = git(root, 'log', '-1', '--format=%B')
    expect(message).toContain(
      'T-1: Do T-1\n\n1 file +1 −0\n\nfake writes:\n\n# What\n\nAll of it.\n\nTask: T-1\nAgent: fake\nTier: Light\nAttempts: 1\nTurns: 8\n',
    )
    expect(message).toContain('Tokens: 412k in (380k cached), 9k out\nCost: $0.53')
    const text = git(root, 'show', 'HEAD:docs/tasks/T-1.md')
    expect(text).toMatch(/Completed\*\*: \d{4}-\d\d-\d\d \d\d:\d\d \(\ds duration\)/)
    expect(text).toContain('**Cost**: $0.53')
    expect(git(root, 'show', 'HEAD:docs/log/PROGRESS.md')).toBe(
      '# Progress\n\n## T-1: Do T-1\n\n### What\n\nAll of it.',
    )
    expect(those(events, 'milestone-completed')).toMatchObject([{ milestone: '1 — Auth', tasks: 1 }])
  })
})

describe('a failed attempt', () => {
  it('is tried again with the tree as it was left, and kept', async () => {
    const root = makeProject()
    const seen: (string | null)[] = []
    const events = await runAll({
      root,
      deed: ({ cwd, task }) => {
        seen.push(read(cwd, 'half'))
        put(cwd, { half: `${task.attempt}` })
      },
      gate: (_, cwd) => read(cwd, 'half') === '2',
    })
    expect(seen).toEqual([null, '1'])
    const ends = those(events, 'attempt-finished').map(({ outcome, ref, reason }) => [outcome, ref, reason])
    expect(ends).toEqual([
      ['gate-failed', 'refs/ralph/attempts/T-1/1', 'test: exit code 1: error: it does not work'],
      ['done', null, 'the agent says that it is done'],
    ])
    const kept = 'refs/ralph/attempts/T-1/1'
    expect(git(root, 'show', `${kept}:half`)).toBe('1')
    expect(git(root, 'log', '-1', '--format=%B', kept)).toContain('error: it does not work')
    expect(log(root)).toBe('T-1: Do T-1\nBegin')
    expect(trailer(root, 'Attempts')).toBe('2')
  })

  it('that fails too often blocks the task in its own commit, and its work is in no later tree', async () => {
    const root = makeProject(2)
    let tries = 0
    const events = await runAll({
      root,
      deed: async (request) => {
        await works(request)
        if (request.task.id === 'T-1') put(request.cwd, { junk: `${++tries}`, 'README.md': 'spoilt' })
      },
      options: { retries: 1 },
      gate: (_, cwd) => read(cwd, 'junk') === null || { verdict: 'failed', fingerprint: `${tries}` },
    })
    expect(tries).toBe(2)
    const reason = '2 attempts: test: exit code 1: error: it does not work'
    expect(log(root)).toBe(`T-2: Do T-2\nT-1: Block: ${reason}\nBegin`)
    expect(read(root, 'docs/tasks/T-1.md')).toContain(`## Blocked\n${reason}\n\n2 attempts failed`)
    expect([read(root, 'junk'), read(root, 'README.md')]).toEqual([null, '# shop\n'])
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/2:junk')).toBe('2')
    expect(those(events, 'run-finished')).toMatchObject([{ completed: ['T-2'], blocked: ['T-1'] }])
    expect(status(root)).toBe('')
  })

  it('ends the run, and blocks none, where the agent does nothing at two tasks in a row, in the same way', async () => {
    const root = makeProject(3)
    const events = await runAll({ root, deed: () => crashed('no such file: agent.sh') })
    expect(those(events, 'attempt-started').map(({ id }) => id)).toEqual(['T-1', 'T-1', 'T-2'])
    const reason = 'the agent did nothing at T-2, nor at T-1: no such file: agent.sh'
    expect(those(events, 'run-finished')).toMatchObject([{ end: 'stopped', blocked: [], reason }])
    for (const id of ['T-1', 'T-2']) expect(read(root, `docs/tasks/${id}.md`)).toBe(taskText(id))
    expect(status(root)).toBe('')
  })

  it('is left to another agent where the first does nothing at two tasks in a row', async () => {
    const root = makeProject(3)
    const events = await runAll({
      root,
      ports: doneBy(
        agentOf(() => crashed('no'), 'first'),
        agentOf(works, 'second'),
      ),
    })
    expect(those(events, 'attempt-started').map(({ id, agent }) => `${id} ${agent}`)).toEqual([
      'T-1 first',
      'T-1 first',
      'T-2 first',
      'T-2 second',
      'T-1 second',
      'T-3 second',
    ])
    expect(those(events, 'run-finished')).toMatchObject([{ end: 'done', blocked: [], failed: [] }])
  })

  it.each([
    ['in another way', ['T-1', 'T-2', 'T-3']],
    ['with a task done in between', ['T-1', 'T-3']],
  ])('ends no run where the agent fails at once %s', async (how, blocked) => {
    const events = await runAll({
      root: makeProject(3),
      deed: (request) => {
        const { id } = request.task
        return blocked.includes(id) ? crashed(how === 'in another way' ? `no ${id}` : 'no') : works(request)
      },
    })
    expect(those(events, 'run-finished')).toMatchObject([{ blocked }])
  })

  it('leaves the task TODO with --on-failure stop, and ends the run', async () => {
    const root = makeProject(2)
    const events = await runAll({ root, options: { onFailure: 'stop', retries: 0 } })
    expect(log(root)).toBe('Begin')
    expect(those(events, 'run-finished')).toMatchObject([{ end: 'failed', failed: ['T-1'], completed: [] }])
    expect(those(events, 'task-given-up')).toMatchObject([{ id: 'T-1' }])
  })

  it('is asked about, and a person may try again, skip the task or abort the run', async () => {
    const answers = ['retry', 'skip', 'abort'] as const
    const asked: string[] = []
    const events = await runAll({
      root: makeProject(2),
      options: { onFailure: 'ask', retries: 0 },
      ports: { ask: async ({ id }) => answers[asked.push(id) - 1] ?? 'abort' },
    })
    expect(asked).toEqual(['T-1', 'T-1', 'T-2'])
    expect(those(events, 'run-finished')).toMatchObject([{ end: 'failed', failed: ['T-1', 'T-2'] }])
  })

  it('with a question is tried again with the answer, and its next prompt has both', async () => {
    const root = makeProject()
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
    expect(log(root)).toBe('T-1: Do T-1\nT-1: Answer: To T-1 asks: Which licence?: MIT\nBegin')
    expect(those(events, 'run-finished')).toMatchObject([{ completed: ['T-1'], blocked: [] }])
    expect(status(root)).toBe('')
  })

  it('is blocked where nobody answers in time', async () => {
    const root = makeProject()
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
      deed: () => crashed('it fell over'),
    })
    expect(takenBack).toBe(true)
    expect(those(events, 'warning')).toMatchObject([{ message: 'nobody has answered about T-1 in 0s' }])
    expect(log(root)).toBe('T-1: Block: one attempt, and no more: it fell over\nBegin')
  })

  it('takes its question back where the run is stopped meanwhile', async () => {
    const root = makeProject()
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
      deed: () => crashed('it fell over'),
    })
    expect(those(events, 'run-finished')).toMatchObject([{ end: 'interrupted', blocked: [] }])
    expect(status(root)).toBe('')
  })

  it('takes back nothing that a person commits before they answer', async () => {
    const root = makeProject(2)
    const events = await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, { made: 'by the agent' })
        return crashed('boom')
      },
      options: { retries: 0, onFailure: 'ask' },
      ports: {
        ask: async () => {
          git(root, 'commit', '-q', '--allow-empty', '-m', 'Mine')
          return 'block'
        },
      },
    })
    expect(those(events, 'run-finished')[0]?.blocked).toContain('T-1')
    expect(log(root)).toMatch(/T-1: Block: one attempt, and no more: boom\nMine\nBegin$/)
    expect(read(root, 'made')).toBeNull()
  })
})

describe('done', () => {
  it('is not said without a marker', async () => {
    const root = makeProject()
    const events = await runAll({
      root,
      deed: async (request) => {
        await works(request)
        return { end: { kind: 'no-marker' } }
      },
      options: { retries: 0 },
    })
    expect(those(events, 'attempt-finished')).toMatchObject([{ outcome: 'no-marker' }])
    expect(read(root, 'src/T-1.ts')).toBeNull()
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:src/T-1.ts')).toBe('export {}')
  })

  it('is not what the agent writes into task files', async () => {
    const root = makeProject(2)
    const events = await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, {
          'docs/tasks/T-1.md': taskText('T-1').replace('TODO', 'DONE'),
          'docs/tasks/T-1-copy.md': 'x',
        })
        rmSync(join(cwd, 'docs/tasks/T-2.md'), { force: true })
      },
      options: { retries: 0, maxTasks: 1 },
    })
    expect(those(events, 'attempt-finished')).toMatchObject([{ outcome: 'no-change' }])
    expect(interferences(events)).toEqual([
      { kind: 'task-files', paths: ['docs/tasks/T-1-copy.md', 'docs/tasks/T-1.md', 'docs/tasks/T-2.md'] },
    ])
    expect(read(root, 'docs/tasks/T-1.md')).toContain('BLOCKED')
    expect(read(root, 'docs/tasks/T-2.md')).toBe(taskText('T-2'))
    expect(read(root, 'docs/tasks/T-1-copy.md')).toBeNull()
    expect(status(root)).toBe('')
  })

  it.each<[string, (root: string) => void]>([
    [
      'ignores them',
      (root) => (git(root, 'rm', '-rq', '--cached', 'docs'), put(root, { '.gitignore': 'docs/\n' })),
    ],
    [
      'puts a link in their place',
      (root) => (git(root, 'mv', 'docs', 'papers'), symlinkSync('papers', join(root, 'docs'))),
    ],
  ])(
    'is written into the task file where the agent hides the task files from git: it %s',
    async (_, hide) => {
      const root = makeProject()
      await runAll({ root, deed: (request) => (hide(request.cwd), works(request)) })
      expect(git(root, 'show', 'HEAD:docs/tasks/T-1.md')).toContain('**Status**: DONE')
      expect(git(root, 'show', 'HEAD:src/T-1.ts')).toBe('export {}')
    },
  )

  it('keeps what a person commits to the task file while the gates run', async () => {
    const root = makeProject()
    await runAll({
      root,
      deed: works,
      gate: () => {
        if (!read(root, 'docs/tasks/T-1.md')!.includes('Mine.'))
          commit(root, 'A comment', { 'docs/tasks/T-1.md': `${taskText('T-1')}\n## Comments\nMine.\n` })
        return true
      },
    })
    const text = git(root, 'show', 'HEAD:docs/tasks/T-1.md')
    expect(text).toContain('**Status**: DONE')
    expect(text).toContain('## Comments\nMine.')
  })
})

describe('the work of an agent', () => {
  it.each(['taken out of .gitignore', 'added by force'])(
    'has no file in it that was copied and is ignored, where that is %s',
    async (how) => {
      const root = makeProject(1, { '.gitignore': '.env\n.ralph/\n' })
      put(root, { '.env': 'KEY=secret' })
      const isDone = how === 'added by force'
      await runAll({
        root,
        own: { copy: ['.env'] },
        deed: ({ cwd }) => {
          expect(read(cwd, '.env')).toBe('KEY=secret')
          appendFileSync(join(cwd, '.env'), 'NEW=1\n')
          put(cwd, { made: 'work', ...(isDone ? {} : { '.gitignore': 'dist/\n' }) })
          if (isDone) git(cwd, 'add', '-f', '.')
          return isDone ? {} : crashed('boom')
        },
        options: { retries: 0, loop: false },
      })
      expect(read(root, '.env')).toBe('KEY=secret')
      const kept = git(root, 'for-each-ref', '--format=%(refname)', 'refs/ralph').split('\n').filter(Boolean)
      for (const ref of ['HEAD', ...kept])
        expect(git(root, 'ls-tree', '-r', '--name-only', ref)).not.toMatch(/^\.env$|^\.ralph/m)
    },
  )

  it.skipIf(process.platform === 'win32')('has a file in it that nobody may read', async () => {
    const root = makeProject()
    await runAll({
      root,
      deed: ({ cwd }) => {
        put(cwd, { 'locked.txt': 'x' })
        chmodSync(join(cwd, 'locked.txt'), 0)
      },
    })
    expect(git(root, 'show', 'HEAD:locked.txt')).toBe('x')
  })

  it('is committed and recorded also outside of what a sparse checkout has', async () => {
    const root = makeProject(2, { 'far/f.txt': 'f', 'src/s.txt': 's' })
    git(root, 'sparse-checkout', 'init', '--cone')
    git(root, 'sparse-checkout', 'set', 'src', 'docs')
    await runAll({
      root,
      deed: ({ cwd, task }) => {
        put(cwd, { [`far/${task.id}.txt`]: task.id })
        if (task.id === 'T-2') return crashed('boom')
      },
      options: { retries: 0 },
    })
    expect(git(root, 'show', 'HEAD~1:far/T-1.txt')).toBe('T-1')
    expect(git(root, 'show', 'refs/ralph/attempts/T-2/1:far/T-2.txt')).toBe('T-2')
    expect(git(root, 'show', 'HEAD:far/f.txt')).toBe('f')
  })

  it('is not done where the gates remove what it was to produce', async () => {
    const root = makeProject({ 'T-1': taskText('T-1', { rest: '\n## Produces\n- `src/T-1.ts`\n' }) })
    const events = await runAll({
      root,
      deed: works,
      options: { retries: 0 },
      gate: (_, cwd) => {
        rmSync(join(cwd, 'src'), { recursive: true, force: true })
        return true
      },
    })
    const reason = 'the gates remove what was made: src/T-1.ts'
    expect(those(events, 'attempt-finished')).toMatchObject([{ outcome: 'gate-failed', reason }])
    expect(read(root, 'docs/tasks/T-1.md')).toContain('- **Status**: BLOCKED')
  })
})

it('a commit hook that refuses is a failed gate, and the next attempt finds the task file as it was', async () => {
  const root = makeProject()
  const script = '[ -f good ] || { echo "not good" >&2; exit 1; }'
  put(root, { '.git/hooks/pre-commit': `#!/bin/sh\n${script}\n` })
  const seen: (string | null)[] = []
  const events = await runAll({
    root,
    deed: ({ cwd, task }) => {
      seen.push(read(cwd, 'docs/tasks/T-1.md'))
      put(cwd, task.attempt === 1 ? { bad: '' } : { good: '' })
    },
  })
  expect(seen).toEqual([taskText('T-1'), taskText('T-1')])
  expect(those(events, 'attempt-finished')).toMatchObject([
    { outcome: 'gate-failed', reason: 'a git hook refused the commit', detail: 'not good' },
    { outcome: 'done' },
  ])
  expect(interferences(events)).toEqual([])
  expect([log(root), status(root)]).toEqual(['T-1: Do T-1\nBegin', ''])
})

describe('the end of a run', () => {
  it('comes with its budget, after the task that used it up', async () => {
    const events = await runAll({
      root: makeProject(3),
      deed: async (request) => {
        await works(request)
        return { usage: { costUsd: 0.6 } }
      },
      options: { budget: 1 },
    })
    expect(those(events, 'run-finished')).toMatchObject([
      { end: 'budget', completed: ['T-1', 'T-2'], cost: 1.2 },
    ])
  })

  it('comes with its tokens, of an agent that reports no cost', async () => {
    const limits: (number | null)[] = []
    const events = await runAll({
      root: makeProject(3),
      deed: async (request) => {
        await works(request)
        limits.push(request.limits.tokens)
        return { usage: { inputTokens: 500_000, cachedTokens: 300_000, outputTokens: 100_000 } }
      },
      options: { maxTokens: 500_000, maxTokensPerTask: 400_000 },
    })
    expect(limits).toEqual([400_000, 200_000])
    const reason = 'the run has used 600k tokens, its limit is 500k tokens'
    expect(those(events, 'run-finished')).toMatchObject([
      { end: 'budget', completed: ['T-1', 'T-2'], reason },
    ])
  })

  it('comes without another attempt where it is stopped while it is paused', async () => {
    const root = makeProject(2)
    const control = new Control()
    const events = await runAll({
      root,
      deed: (request) => {
        control.pause()
        return works(request)
      },
      hear: (event) => {
        if (event.type === 'task-completed') setImmediate(() => control.stop('after-attempt'))
      },
      ports: { control },
    })
    expect(those(events, 'task-started').map(({ id }) => id)).toEqual(['T-1'])
    expect(those(events, 'run-finished')).toMatchObject([{ completed: ['T-1'], end: 'done' }])
  })

  it('by an interruption keeps what was there, and the next run goes on', async () => {
    const root = makeProject()
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
    expect(status(root)).toBe('')
    expect(git(root, 'show', 'refs/ralph/attempts/T-1/1:half')).toBe('done')
    await runAll({ root, deed: works })
    expect(log(root)).toBe('T-1: Do T-1\nBegin')
  })
})

describe('the baseline', () => {
  it('is not held against a task: where its gates fail just as before, the run ends at once', async () => {
    const root = makeProject(2)
    const first = await runAll({ root, deed: works, options: { baseline: 'warn' }, gate: () => false })
    expect(those(first, 'baseline-finished')).toMatchObject([{ results: [{ verdict: 'failed' }] }])
    expect(those(first, 'attempt-finished')).toHaveLength(1)
    const reason =
      'the gates fail exactly as they did before the run began: test: exit code 1: error: it does not work'
    expect(those(first, 'run-finished')).toMatchObject([{ end: 'stopped', reason }])
    expect(status(root)).toBe('')
    const second = await runAll({ root, deed: works, options: { baseline: 'stop' }, gate: () => false })
    expect(those(second, 'attempt-started')).toEqual([])
    expect(those(second, 'run-finished')).toMatchObject([{ end: 'stopped' }])
  })

  it('ends a run whose gate cannot run, and is asked again by the next one', async () => {
    const root = makeProject()
    const reason = 'its command was not found (exit code 127)'
    const missing = () => ({ verdict: 'not-runnable' as const, reason })
    const first = await runAll({ root, deed: works, options: { baseline: 'warn' }, gate: missing })
    expect(those(first, 'attempt-started')).toEqual([])
    expect(those(first, 'run-finished')).toMatchObject([
      { end: 'stopped', reason: expect.stringContaining(`test (run test): ${reason}`) },
    ])
    const second = await runAll({ root, deed: works, options: { baseline: 'warn' }, gate: () => true })
    expect(those(second, 'task-completed')).toHaveLength(1)
  })

  it('lets a gate fail to run that is not required', async () => {
    const events = await runAll({
      root: makeProject(),
      deed: works,
      options: { gates: [gateOf('lint', { required: false }), gateOf('test')], baseline: 'warn' },
      gate: ({ name }) => (name === 'lint' ? { verdict: 'not-runnable' } : true),
    })
    expect(those(events, 'task-completed')).toHaveLength(1)
  })

  it.each([
    ['was green has to stay green', { ifGreen: true as const }, false, 'gate-failed'],
    ['was red is only reported', { ifGreen: true as const }, true, 'done'],
    ['need not pass, as a person wrote, need not pass when it was green', {}, false, 'done'],
  ])('a linter that %s', async (_, more, isRedBefore, outcome) => {
    const root = makeProject()
    const events = await runAll({
      root,
      deed: works,
      options: {
        gates: [gateOf('lint', { required: false, ...more }), gateOf('test')],
        baseline: 'warn',
        retries: 0,
      },
      gate: ({ name }, cwd) => name === 'test' || (!isRedBefore && read(cwd, 'src/T-1.ts') === null),
    })
    expect(those(events, 'attempt-finished')).toMatchObject([{ outcome }])
  })

  it('names the files that a gate changes before anything has begun', async () => {
    const root = makeProject(1, { 'src/old.ts': 'let a  = 1\n', 'src/new.ts': 'let b = 1\n' })
    const events = await runAll({
      root,
      deed: works,
      options: { baseline: 'warn' },
      gate: (_, cwd) => {
        put(cwd, { 'src/old.ts': 'let a = 1\n', 'report.txt': 'new files are in no tree' })
        return true
      },
    })
    expect(those(events, 'warning').map(({ message }) => message)).toEqual([
      expect.stringContaining('the gates change the untouched code: src/old.ts.'),
    ])
  })
})

describe('a gate that lacks a program', () => {
  it('ends the run at the first attempt, which does not count', async () => {
    const root = makeProject()
    const reason = 'vitest was not found (exit code 127)'
    const missing = () => ({ verdict: 'not-runnable' as const, reason, missing: 'vitest' })
    const events = await runAll({ root, deed: works, gate: missing })
    const ref = 'refs/ralph/attempts/T-1/1'
    expect(those(events, 'attempt-finished')).toMatchObject([
      { outcome: 'gate-missing', reason: `a gate cannot run: test: ${reason}`, ref },
    ])
    expect(those(events, 'run-finished')).toMatchObject([
      { end: 'stopped', reason: expect.stringContaining(reason) },
    ])
    expect(read(root, 'docs/tasks/T-1.md')).toBe(taskText('T-1'))
    const next = await runAll({ root, deed: works, gate: () => true })
    expect(those(next, 'attempt-started')).toMatchObject([{ counted: 1, most: 4 }])
  })

  it.each([
    ['the work names it', 'vitest', { Makefile: 'test:\n\tvitest\n' }],
    ['it is the project’s own', './check.sh', {}],
  ])('is the agent’s to repair where %s', async (_, missing, files) => {
    let count = 0
    const events = await runAll({
      root: makeProject(),
      deed: ({ cwd }) => put(cwd, { ...files, again: String(count) }),
      gate: () => count++ > 0 || { verdict: 'not-runnable', reason: 'r', missing },
    })
    expect(those(events, 'attempt-finished').map(({ outcome }) => outcome)).toEqual(['gate-failed', 'done'])
  })
})

describe('sealing', () => {
  const sealer = (sealed: string[]): Sealer => ({
    prefix: async () => 'abc1234',
    trailer: (prefix) => ({ key: 'Seal', value: prefix }),
    async sealed(made, onProgress) {
      onProgress(1, 3)
      sealed.push(made)
      return made
    },
  })

  it('names the commit in its file and its message, and says how far it is', async () => {
    const root = makeProject()
    const sealed: string[] = []
    const events = await runAll({ root, deed: works, ports: { sealer: sealer(sealed) } })
    expect(trailer(root, 'Seal')).toBe('abc1234')
    expect(git(root, 'show', 'HEAD:docs/tasks/T-1.md')).toContain('**Commit**: abc1234')
    expect(sealed).toEqual([git(root, 'rev-parse', 'HEAD')])
    expect(those(events, 'sealing')).toMatchObject([{ seconds: 1, expectedSeconds: 3 }])
  })

  it('that is interrupted is finished by the next run', async () => {
    const root = makeProject(2)
    const control = new Control()
    const interrupted: Sealer = {
      ...sealer([]),
      sealed: async () => {
        control.stop('clean')
        return null
      },
    }
    await runAll({ root, deed: works, ports: { sealer: interrupted, control } })
    expect(log(root)).toBe('Begin')
    const events = await runAll({ root, deed: works, ports: { sealer: sealer([]) } })
    expect(those(events, 'attempt-started').map(({ id }) => id)).toEqual(['T-2'])
    expect(those(events, 'sealing')[0]).toMatchObject({ id: 'T-1', seconds: 1, expectedSeconds: 3 })
    expect(log(root)).toBe('T-2: Do T-2\nT-1: Do T-1\nBegin')
  })
})
