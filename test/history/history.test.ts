import { describe, expect, it } from 'vitest'
import { listRecords } from '../../src/git/record.ts'
import { openGit } from '../../src/git/door.ts'
import { readCompletions } from '../../src/history/completions.ts'
import { statsOf } from '../../src/history/stats.ts'
import { readFacts } from '../../src/backlog/read.ts'
import { layOut } from '../../src/screen/layout.ts'
import { logView } from '../../src/screen/log-view.ts'
import { ENV, git, put } from '../repository.ts'
import { makeProject, read, runAll, taskText } from '../run/harness.ts'
import { by } from '../cli/ralph.ts'
import { gateOf, type Deed } from '../run/ports.ts'

async function told(root: string) {
  const door = openGit({ cwd: root, env: ENV })
  const attempts = await listRecords(door)
  return { completions: await readCompletions(door), attempts }
}

describe('what git alone tells', () => {
  it('is what happened: notes, numbers, attempts', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2'), 'T-3': taskText('T-3') })
    const usage = { turns: 4, inputTokens: 1200, cachedTokens: 1000, outputTokens: 300, costUsd: 0.1 }
    await runAll({
      root,
      deed: ({ task, cwd }) => {
        put(cwd, { [task.id]: `${task.attempt}` })
        if (task.id === 'T-2') return { end: { kind: 'blocked', reason: 'needs a key' }, usage }
        return { message: `Did ${task.id}.\n\nTask: T-9`, usage }
      },
      options: { gates: [gateOf('test')], retries: 1 },
      gate: () => git(root, 'for-each-ref', 'refs/ralph/attempts/T-1').length > 0,
    })
    const { completions, attempts } = await told(root)
    expect(
      completions.map(({ id, title, attempts: tried, reverted }) => [id, title, tried, reverted]),
    ).toEqual([
      ['T-3', 'Do T-3', 1, false],
      ['T-1', 'Do T-1', 2, false],
    ])
    expect(completions[0]).toMatchObject({
      notes: 'Did T-3.\n\nTask: T-9',
      agent: 'fake',
      tier: 'Light',
      usage,
    })
    expect(attempts).toMatchObject([
      {
        task: 'T-1',
        number: 1,
        outcome: 'gate-failed',
        counted: 1,
        most: 2,
        final: false,
        usage,
        changed: ['T-1'],
      },
      { task: 'T-2', number: 1, outcome: 'blocked', reason: 'needs a key', final: true },
    ])
    expect(attempts[0]?.detail).toContain('error: it does not work')
    const stats = statsOf(completions, attempts, ({ tier }) => tier ?? '')
    expect(stats.total).toMatchObject({ tasks: 2, attempts: 3, usage: { turns: 12 } })
    expect(stats.total.usage.costUsd).toBeCloseTo(0.3)
    expect(stats.groups.map(({ name, tasks }) => [name, tasks])).toEqual([['Light', 2]])
    expect(stats.lost).toMatchObject({ attempts: 1, usage })
  })

  it('counts each attempt once: with the completion that follows it, however often the task was given up', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    const usage = { turns: 4, inputTokens: 1200, cachedTokens: 1000, outputTokens: 300, costUsd: 0.1 }
    let attempts = 0
    const runIt = async (passes: boolean) => {
      const deed: Deed = ({ cwd }) => {
        put(cwd, { made: String(++attempts) })
        return { usage }
      }
      await runAll({ root, deed, options: { gates: [gateOf('test')], retries: 1 }, gate: () => passes })
    }
    const counted = async () => {
      const { completions, attempts: kept } = await told(root)
      const { total, lost } = statsOf(completions, kept, () => '')
      expect(total.attempts + lost.attempts).toBe(attempts)
      expect((total.usage.turns ?? 0) + (lost.usage.turns ?? 0)).toBe(4 * (total.attempts + lost.attempts))
      return [completions.map(({ attempts: tried, usage: { turns } }) => [tried, turns]), lost.attempts]
    }
    await runIt(false)
    expect(await counted()).toEqual([[], 2])
    expect((await by(root, 'retry', '1')).code).toBe(0)
    await runIt(true)
    expect(await counted()).toEqual([[[3, 12]], 0])
    expect((await by(root, 'reopen', '1')).code).toBe(0)
    expect(await counted()).toEqual([[[3, 12]], 0])
    await runIt(true)
    expect(await counted()).toEqual([
      [
        [1, 4],
        [3, 12],
      ],
      0,
    ])
  })

  it('knows what was reverted with the merge that had brought it', async () => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2'), 'T-3': taskText('T-3') })
    const only = { loop: false }
    const deed: Deed = ({ task, cwd }) => put(cwd, { [task.id]: '' })
    await runAll({ root, deed, options: only })
    git(root, 'checkout', '-q', '-b', 'feature')
    await runAll({ root, deed, options: only })
    git(root, 'revert', '--no-edit', 'HEAD')
    git(root, 'revert', '--no-edit', 'HEAD')
    git(root, 'checkout', '-q', 'main')
    await runAll({ root, deed, options: { ...only, task: 'T-3' } })
    git(root, 'merge', '-q', '--no-ff', '--no-edit', 'feature')
    const reverted = async () =>
      (await told(root)).completions.filter((one) => one.reverted).map(({ id }) => id)
    expect(await reverted()).toEqual([])
    git(root, 'revert', '--no-edit', '--mainline=1', 'HEAD')
    expect(await reverted()).toEqual(['T-2'])
    git(root, 'revert', '--no-edit', 'HEAD')
    expect(await reverted()).toEqual([])
  })

  it('knows what a person says was reverted, with fewer digits', async () => {
    const root = makeProject({ 'T-1': taskText('T-1') })
    await runAll({ root, deed: ({ task, cwd }) => put(cwd, { [task.id]: '' }) })
    const short = git(root, 'rev-parse', '--short=8', 'HEAD')
    git(root, 'commit', '-q', '--allow-empty', '-m', `Take it back\n\nThis reverts commit ${short}.`)
    expect((await told(root)).completions).toMatchObject([{ id: 'T-1', reverted: true }])
  })

  it('counts of the commits that people make for a task the one that turned its file DONE', async () => {
    const root = makeProject({ 'T-01': taskText('T-01'), 'T-2': taskText('T-2') })
    const done = (id: string) => read(root, `docs/tasks/${id}.md`)?.replace('TODO', 'DONE') ?? ''
    const commit = (message: string, files: Record<string, string>): void => {
      put(root, files)
      git(root, 'add', '--all')
      git(root, 'commit', '-q', '-m', message)
    }
    commit('Prepare it\n\nTask: T-01', { a: '1' })
    commit('Do it by hand\n\nTask: T-1', { a: '2', 'docs/tasks/T-01.md': done('T-01') })
    commit('Mend it\n\nTask: T-01', { a: '3' })
    commit('Reword its task\n\nTask: T-01', { 'docs/tasks/T-01.md': `${done('T-01')}\nMore.\n` })
    commit('Do what another tool calls a task\n\nTask: SHOP-12', { 'docs/tasks/T-2.md': done('T-2') })
    const { completions } = await told(root)
    expect(completions.map(({ id, title }) => [id, title])).toEqual([['T-01', 'Do it by hand']])
    const lines = layOut(logView(completions, 0), { columns: 80, colour: false })
    const shown = [...lines].join('')
    expect(shown.split('\n').slice(2)).toEqual([
      expect.stringMatching(/^T-01 {2}Do it by hand {2}not by ralph +\w{7}$/),
      '',
    ])
  })

  describe('of tasks whose files alone name their commits', () => {
    const commit = (root: string, message: string, files: Record<string, string>): string => {
      put(root, files)
      git(root, 'add', '--all')
      git(root, 'commit', '-q', '-m', message)
      return git(root, 'rev-parse', 'HEAD')
    }
    const doneText = (id: string, sha: string): string =>
      taskText(id).replace(
        'TODO',
        `DONE\n- **Completed**: 2025-01-15 14:30 (8m duration)\n- **Commit**: ${sha}`,
      )
    const withTasks = async (root: string, query: { readonly revisions?: readonly string[] } = {}) => {
      const tasks = readFacts({ root }, { facts: ['title', 'commit', 'completed', 'cost'] })
      return readCompletions(openGit({ cwd: root, env: ENV }), {
        ...query,
        tasks: tasks.then((all) => all.tasks),
      })
    }

    it('counts those in this history, and no others', async () => {
      const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2'), 'T-3': taskText('T-3') })
      const one = commit(root, 'feat: one\n\nHow it works.', { one: '1' })
      commit(root, 'docs', {
        'docs/tasks/T-1.md': doneText('T-1', one.slice(0, 7)),
        'docs/tasks/T-2.md': doneText('T-2', 'abcdef1'),
        'docs/tasks/T-3.md': doneText('T-3', 'see #7'),
      })
      const found = await withTasks(root)
      expect(found).toMatchObject([
        { id: 'T-1', commit: one, title: 'Do T-1', notes: 'How it works.', byRalph: false, seconds: 480 },
      ])
      const stats = statsOf(found, [], ({ agent }) => agent ?? '')
      expect(stats.total).toMatchObject({ tasks: 1, notByRalph: 1, attempts: 0, unchecked: 0 })
      expect(await withTasks(root, { revisions: ['HEAD', `^${one}`] })).toEqual([])
    })

    it('has the words of a commit that several name for none, and marks what was reverted', async () => {
      const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2') })
      const all = commit(root, 'feat: all\n\nBoth.', { one: '1' })
      commit(root, 'docs', {
        'docs/tasks/T-1.md': doneText('T-1', all),
        'docs/tasks/T-2.md': doneText('T-2', all),
      })
      git(root, 'revert', '--no-edit', all)
      expect((await withTasks(root)).map(({ id, notes, reverted }) => [id, notes, reverted])).toEqual([
        ['T-1', '', true],
        ['T-2', '', true],
      ])
    })

    it('leaves to ralph what ralph completed', async () => {
      const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2') })
      await runAll({ root, deed: ({ task, cwd }) => put(cwd, { [task.id]: '' }) })
      const before = git(root, 'rev-parse', 'HEAD~2')
      const file = 'docs/tasks/T-1.md'
      commit(root, 'Say another', { [file]: doneText('T-1', before) })
      expect((await withTasks(root)).map(({ id, byRalph }) => [id, byRalph])).toEqual([
        ['T-2', true],
        ['T-1', true],
      ])
    })
  })

  it.each([
    ['as git merge --squash says it', null],
    ['as a forge lists it', (log: string) => `Squash (#7)\n\n${log.replaceAll(/^T-/gm, '* T-')}`],
  ])('still has every task of a squash, %s', async (_, messageOf) => {
    const root = makeProject({ 'T-1': taskText('T-1'), 'T-2': taskText('T-2') })
    git(root, 'checkout', '-q', '-b', 'feature')
    await runAll({
      root,
      deed: ({ task, cwd }) => {
        put(cwd, { [task.id]: '' })
        return { message: `Did ${task.id}.\n\nAnd more:\n\nTask: T-9\nTier: Heavy` }
      },
    })
    const before = (await told(root)).completions
    const message = messageOf?.(git(root, 'log', '-2', '--reverse', '--format=%B'))
    git(root, 'checkout', '-q', 'main')
    git(root, 'merge', '-q', '--squash', 'feature')
    git(root, 'commit', '-q', '--cleanup=whitespace', ...(message ? ['-m', message] : ['--no-edit']))
    const { completions } = await told(root)
    const commit = git(root, 'rev-parse', 'HEAD')
    const committedAt = completions[0]?.committedAt
    expect(completions).toHaveLength(2)
    for (const one of before)
      expect(completions).toContainEqual({ ...one, commit, committedAt, author: 'Ada' })
  })
})
