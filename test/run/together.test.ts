import { EventEmitter, once } from 'node:events'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../src/engine/events/event.ts'
import { Control } from '../../src/engine/control.ts'
import type { WritePrompt } from '../../src/engine/ports.ts'
import { commit, git, put } from '../repository.ts'
import { log, makeProject, read, runAll, status, taskText, those } from './harness.ts'
import { gateResult, ownFolder, type Deed, type Harness } from './ports.ts'

const touching = (id: string, path: string): string =>
  taskText(id).replace('- **Depends**', `- **Touches**: ${path}\n- **Depends**`)
const subjects = (root: string): readonly string[] => log(root).split('\n').toReversed().slice(1)
const records = (root: string): readonly string[] =>
  git(root, 'for-each-ref', '--format=%(refname:lstrip=3)', 'refs/ralph/attempts').split('\n').filter(Boolean)
const landings = (events: readonly RunEvent[]): readonly string[] =>
  those(events, 'landing-finished').map(({ id, result }) => `${id} ${result}`)

/** An agent that writes a file of its own task. */
const writes: Deed = ({ task, cwd }) => put(cwd, { [`src/${task.id}.txt`]: `${task.id}\n` })

/** Holds agents back until so many of them are at work: they have begun from one base then. */
function meeting(count: number): () => Promise<void> {
  const waiting: (() => void)[] = []
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve)
      if (waiting.length === count) for (const go of waiting) go()
      if (waiting.length > count) resolve()
    })
}

function together(root: string, more: Partial<Harness> = {}, jobs = 2): Promise<readonly RunEvent[]> {
  return runAll({ root, ...more, options: { jobs, ...more.options } })
}

/** Runs jobs that all begin from one base; each ends when one landing of the task before it, or of the first, is over. */
function inTurn(
  root: string,
  deed: Deed,
  { after, ...more }: Partial<Harness> & { readonly after?: 'first' } = {},
  jobs = 2,
): Promise<readonly RunEvent[]> {
  const meet = meeting(jobs)
  const landed = new Set<string>()
  const landings = new EventEmitter()
  return together(
    root,
    {
      ...more,
      hear: (event) => event.type === 'landing-finished' && landings.emit(event.id, landed.add(event.id)),
      deed: async (request) => {
        const { attempt, id } = request.task
        if (attempt === 1) await meet()
        await deed(request)
        const number = Number(id.slice(2))
        const before = `T-${after === 'first' ? 1 : number - 1}`
        if (number > 1 && !landed.has(before)) await once(landings, before)
      },
    },
    jobs,
  )
}

/** Everything that holds after a run that has done all of it. */
function expectInOrder(root: string, count: number): void {
  expect(git(root, 'rev-list', '--count', '--merges', 'HEAD')).toBe('0')
  expect(new Set(subjects(root)).size).toBe(count)
  expect(status(root)).toBe('')
  expect(git(root, 'fsck', '--strict', '--no-dangling')).toBe('')
  expect(git(root, 'for-each-ref', 'refs/ralph/candidates')).toBe('')
  expect(read(root, '.ralph/run.json')).toBeNull()
}

it('lets many jobs at once wait for its end, without a warning of Node', async () => {
  const warnings: Error[] = []
  const hear = (warning: Error): void => void warnings.push(warning)
  process.on('warning', hear)
  const { signal, killSignal, stopping } = new Control()
  for (const one of [signal, killSignal, stopping])
    for (let job = 0; job < 20; job++) one.addEventListener('abort', () => undefined)
  await new Promise(setImmediate)
  process.off('warning', hear)
  expect(warnings).toEqual([])
})

describe('several jobs at once', () => {
  it('each work in a slot outside of the checkout, and land one commit each', async () => {
    const ids = ['T-1', 'T-2', 'T-3', 'T-4']
    const root = makeProject(4)
    const meet = meeting(3)
    const seen: (readonly [string, string | undefined])[] = []
    const events = await together(
      root,
      {
        deed: async (request) => {
          seen.push([request.cwd, request.env['RALPH_WORKSPACE']])
          await meet()
          await writes(request)
        },
      },
      3,
    )
    expect(those(events, 'run-finished')[0]).toMatchObject({ end: 'done', held: [] })
    expectInOrder(root, 4)
    for (const id of ids) {
      expect(read(root, `src/${id}.txt`)).toBe(`${id}\n`)
      expect(read(root, `docs/tasks/${id}.md`)).toContain('**Status**: DONE')
    }
    // The fourth may have another: a task keeps its slot until it has landed.
    expect(
      seen
        .slice(0, 3)
        .map(([, number]) => number)
        .toSorted((one, other) => Number(one) - Number(other)),
    ).toEqual(['1', '2', '3'])
    for (const [path, number] of seen) expect(path).toContain(`${root}.own/${number}/work/`)
    const slots = new Map(those(events, 'agent-started').map(({ id, workspace }) => [id, workspace]))
    expect(slots.get('T-3')).toBe(3)
    for (const { id, workspace } of those(events, 'landing-started')) expect(workspace).toBe(slots.get(id))
  })

  it('begin a task when what it needs has landed, and those that touch the same one after the other', async () => {
    const root = makeProject({
      'T-1': touching('T-1', 'src/'),
      'T-2': touching('T-2', 'src/a.txt'),
      'T-3': taskText('T-3', { depends: 'T-1' }),
      'T-4': taskText('T-4'),
    })
    const at = new Map<string, readonly string[]>()
    const underWay = new Set<string>()
    await together(
      root,
      {
        deed: async (request) => {
          const { id } = request.task
          underWay.add(id)
          at.set(
            id,
            [...underWay].filter((other) => other !== id),
          )
          if (id === 'T-3') expect(existsSync(join(request.cwd, 'src/T-1.txt'))).toBe(true)
          await writes(request)
          await new Promise((resolve) => setImmediate(resolve))
          underWay.delete(id)
        },
      },
      4,
    )
    expectInOrder(root, 4)
    expect(at.get('T-2')).not.toContain('T-1')
  })

  it('check again what came together, and leave what came alone as it was checked', async () => {
    let gates = 0
    const events = await inTurn(makeProject(2), writes, { gate: () => ++gates > 0 })
    expect(landings(events)).toEqual(['T-1 landed', 'T-2 landed'])
    // Once for each attempt, and once for the second landing.
    expect(gates).toBe(3)
  })

  it('give a task that conflicts another attempt on what has landed, with the hunks', async () => {
    const root = makeProject(2, { 'list.txt': 'a\nb\nc\n' })
    const prompts: string[] = []
    const prompt: WritePrompt = async ({ task, attempts }) => {
      prompts.push(...attempts.map(({ outcome, detail }) => `${task.id} ${outcome} ${detail}`))
      return { text: '', estimate: 0, warnings: [], resources: [] }
    }
    const change: Deed = ({ task, cwd }) =>
      put(cwd, { 'list.txt': read(cwd, 'list.txt')!.replace('b', `b ${task.id}`) })
    const events = await inTurn(root, change, { ports: { prompt } })
    expect(landings(events)).toEqual(['T-1 landed', 'T-2 conflict', 'T-2 landed'])
    expect(read(root, 'list.txt')).toBe('a\nb T-2 T-1\nc\n')
    expectInOrder(root, 2)
    expect(records(root)).toEqual(['T-2/1'])
    expect(git(root, 'show', 'refs/ralph/attempts/T-2/1:list.txt')).toBe('a\nb T-2\nc')
    expect(prompts).toEqual([expect.stringContaining('T-1: Do T-1')])
    expect(prompts[0]).toContain('<<<<<<< what has landed\nb T-1\n=======\nb T-2\n>>>>>>> the attempt')
  })

  it('take a rename with a change, and see a file that one moved and the other removed', async () => {
    const root = makeProject(3, { 'old.txt': 'one\ntwo\nthree\nfour\nfive\n' })
    const deeds: Readonly<Record<string, (cwd: string) => void>> = {
      'T-1': (cwd) => git(cwd, 'mv', 'old.txt', 'new.txt'),
      'T-2': (cwd) => put(cwd, { 'old.txt': 'one\ntwo\nthree\nfour\nFIVE\n' }),
      'T-3': (cwd) => rmSync(join(cwd, existsSync(join(cwd, 'old.txt')) ? 'old.txt' : 'new.txt')),
    }
    const events = await inTurn(root, ({ task, cwd }) => deeds[task.id]!(cwd), {}, 3)
    expect(landings(events)).toEqual(['T-1 landed', 'T-2 landed', 'T-3 conflict', 'T-3 landed'])
    expect(git(root, 'show', 'HEAD~1:new.txt')).toBe('one\ntwo\nthree\nfour\nFIVE')
    expectInOrder(root, 3)
  })

  it('wait for each other once the last ones have all met in one file', async () => {
    const root = makeProject(9, { 'list.txt': 'start\n' })
    const append: Deed = ({ task, cwd }) => put(cwd, { 'list.txt': `${read(cwd, 'list.txt')}${task.id}\n` })
    await inTurn(root, append, { after: 'first' }, 3)
    expectInOrder(root, 9)
    // Two met T-1, and a few more had begun by then. Without the expectation all eight lose an attempt.
    expect(records(root).length).toBeLessThan(6)
    expect(new Set(records(root).map((name) => name.split('/')[1]))).toEqual(new Set(['1']))
  })

  it('see what passes alone and fails together, and have it done again', async () => {
    const root = makeProject(2)
    const change: Deed = ({ task, cwd }) =>
      put(cwd, { [`src/${task.id}`]: task.attempt === 1 ? 'old way' : 'new way' })
    const events = await inTurn(root, change, {
      // The two do not go together as they were first.
      gate: (_, cwd) => {
        const both = ['T-1', 'T-2'].map((id) => read(cwd, `src/${id}`))
        return both.includes(null) || both[1] === 'new way'
      },
    })
    expect(landings(events)).toEqual(['T-1 landed', 'T-2 conflict', 'T-2 landed'])
    const refused = those(events, 'attempt-finished').find(({ outcome }) => outcome === 'conflict')
    expect(refused?.reason).toContain('fail together with what has landed since')
    expect(refused?.detail).toContain('T-1: Do T-1')
    expectInOrder(root, 2)
  })

  it('do not both add a task of one number', async () => {
    const root = makeProject(2)
    const add: Deed = ({ task, cwd }) => {
      const id = existsSync(join(cwd, 'docs/tasks/T-10-one.md')) ? 'T-11' : 'T-10'
      put(cwd, { [`docs/tasks/${id}-${task.id === 'T-1' ? 'one' : 'two'}.md`]: taskText(id) })
    }
    const events = await inTurn(root, add, { options: { maxTasks: 2 } })
    expect(landings(events)).toEqual(['T-1 landed', 'T-2 conflict', 'T-2 landed'])
    const added = readdirSync(join(root, 'docs/tasks')).filter((name) => name.includes('-', 2))
    expect(added).toEqual(['T-10-one.md', 'T-11-two.md'])
    expectInOrder(root, 2)
  })

  it('share the budget, and end with it', async () => {
    const root = makeProject(4)
    const shares: (number | null)[] = []
    const events = await together(root, {
      options: { budget: 4 },
      deed: async (request) => {
        shares.push(request.limits.budgetUsd)
        await writes(request)
        return { usage: { costUsd: 2 } }
      },
    })
    expect(shares.slice(0, 2)).toEqual([2, 2])
    expect(those(events, 'run-finished')[0]).toMatchObject({ end: 'budget', cost: 4 })
    expect(subjects(root)).toHaveLength(2)
  })

  it('end in order when they are asked to, and keep what each has done', async () => {
    const root = makeProject(2)
    const control = new Control()
    const meet = meeting(2)
    const events = await together(root, {
      ports: { control },
      deed: async (request) => {
        await writes(request)
        await meet()
        control.stop('clean')
        return { end: { kind: 'interrupted' } }
      },
    })
    expect(those(events, 'run-finished')[0]).toMatchObject({ end: 'interrupted', completed: [] })
    expect(records(root)).toEqual(['T-1/1', 'T-2/1'])
    expect(subjects(root)).toEqual([])
    expect(status(root)).toBe('')
  })
})

describe('the person beside several jobs', () => {
  it('keeps what is not committed, commits meanwhile, and finds both', async () => {
    const root = makeProject(2, { 'mine.txt': 'before\n', 'other.txt': 'x\n', 'own.txt': '' })
    put(root, { 'mine.txt': 'mine\n', 'new.txt': 'mine too\n', 'own.txt': 'changed\n' })
    git(root, 'add', 'mine.txt')
    const events = await together(root, {
      deed: async (request) => {
        expect(read(request.cwd, 'mine.txt')).toBe('before\n')
        if (request.task.id === 'T-1') {
          put(root, { 'other.txt': 'y\n' })
          git(root, 'commit', '-qm', 'Mine', 'other.txt')
        }
        await writes(request)
      },
    })
    expect(those(events, 'run-finished')[0]).toMatchObject({ end: 'done' })
    expect(subjects(root).toSorted()).toEqual(['Mine', 'T-1: Do T-1', 'T-2: Do T-2'])
    expect(status(root).split('\n')).toEqual(['M  mine.txt', ' M own.txt', '?? new.txt'])
    expect(read(root, 'own.txt')).toBe('changed\n')
    expect(read(root, 'src/T-1.txt')).toBe('T-1\n')
    expect(read(root, 'other.txt')).toBe('y\n')
  })

  it('has a landing held that would touch a file of theirs, and landed once that is free', async () => {
    const root = makeProject(2, { '.gitignore': '.ralph/\n*.env\n' })
    put(root, { 'src/T-1.txt': 'mine\n', 'src/T-2.env': 'mine\n' })
    const deed: Deed = async (request) => {
      await writes(request)
      if (request.task.id === 'T-2') {
        put(request.cwd, { '.gitignore': '.ralph/\n', 'src/T-2.env': 'the agent\n' })
      }
    }
    const events = await together(root, { deed })
    const held = new Map(
      those(events, 'landing-finished').map(({ id, result, paths }) => [id, [result, paths]]),
    )
    expect(held.get('T-1')).toEqual(['held', ['src/T-1.txt']])
    expect(held.get('T-2')).toEqual(['held', ['src/T-2.env']])
    expect(new Set(those(events, 'run-finished')[0]?.held)).toEqual(new Set(['T-1', 'T-2']))
    expect(those(events, 'run-finished')[0]?.end).toBe('held')
    expect(subjects(root)).toEqual([])
    expect(read(root, 'src/T-1.txt')).toBe('mine\n')
    rmSync(join(root, 'src'), { recursive: true })
    const again = await together(root, { deed: () => expect.unreachable() })
    expect(those(again, 'run-finished')[0]).toMatchObject({ end: 'done' })
    expect(landings(again)).toEqual(['T-1 landed', 'T-2 landed'])
    expectInOrder(root, 2)
  })

  it('runs no gate again for what cannot land', async () => {
    const root = makeProject(2)
    put(root, { 'src/T-2.txt': 'mine\n' })
    const events = await inTurn(root, writes, { gate: () => true })
    expect(landings(events)).toEqual(expect.arrayContaining(['T-1 landed', 'T-2 held']))
    expect(those(events, 'gate-started').filter(({ id }) => id === 'T-2')).toHaveLength(1)
  })

  it('sees a held task land in the same run when they commit their own', async () => {
    const root = makeProject(2)
    put(root, { 'src/T-1.txt': 'mine\n' })
    const events = await together(
      root,
      {
        deed: async (request) => {
          await writes(request)
          if (request.task.id === 'T-2') rmSync(join(root, 'src'), { recursive: true })
        },
        options: { overlap: 'wait' },
      },
      1,
    )
    expect(landings(events)).toEqual(['T-1 held', 'T-1 landed', 'T-2 landed'])
    expectInOrder(root, 2)
  })

  it('may rewrite the branch: what began before that is done again on what there is', async () => {
    const root = makeProject(1, { 'mine.txt': 'one\n' })
    const events = await together(root, {
      deed: async (request) => {
        await writes(request)
        if (request.task.attempt > 1) return
        put(root, { 'mine.txt': 'two\n' })
        git(root, 'commit', '-q', '--all', '--amend', '-m', 'Rewritten')
      },
    })
    expect(landings(events)).toEqual(['T-1 conflict', 'T-1 landed'])
    expect(log(root).split('\n')).toEqual(['T-1: Do T-1', 'Rewritten'])
    expect(status(root)).toBe('')
  })

  it('has tasks landed on a branch that they name, which is made where it is missing', async () => {
    const root = makeProject(2)
    put(root, { 'mine.txt': 'mine\n' })
    await together(root, { deed: writes, options: { jobs: 2, branch: 'work/ralph' } })
    expect(git(root, 'rev-list', '--count', 'main..work/ralph')).toBe('2')
    expect(status(root)).toBe('?? mine.txt')
    await together(root, { deed: writes, options: { jobs: 2, branch: 'main' } })
    expect(subjects(root).toSorted()).toEqual(['T-1: Do T-1', 'T-2: Do T-2'])
    expect(status(root)).toBe('?? mine.txt')
  })
})

describe('a slot', () => {
  it('has the ignored files that it needs, the hooks of the checkout, its remotes and its identity', async () => {
    const root = makeProject(1, {
      '.gitignore': '.ralph/\n.env*\nhooks/\n',
      '.worktreeinclude': '.env.local\n',
    })
    put(root, {
      '.env': 'A=1\n',
      '.env.local': 'B=1\n',
      '.env.other': 'C=1\n',
      'hooks/pre-commit':
        '#!/bin/sh\ngit var GIT_COMMITTER_IDENT | cut -d" " -f1 >> "$(git rev-parse --show-toplevel)/../hook-ran"\n',
    })
    git(root, 'config', 'core.hooksPath', 'hooks')
    git(root, 'config', 'remote.origin.url', 'https://example.org/"shop".git')
    git(root, 'tag', 'v1')
    let found: object = {}
    await together(root, {
      own: { copy: ['.env'] },
      options: { jobs: 1 },
      deed: async (request) => {
        const { cwd } = request
        found = {
          env: read(cwd, '.env'),
          local: read(cwd, '.env.local'),
          other: read(cwd, '.env.other'),
          remote: git(cwd, 'remote', 'get-url', 'origin'),
          tags: git(cwd, 'describe', '--tags'),
          who: git(cwd, 'config', 'user.name'),
          status: status(cwd),
          branch: git(cwd, 'symbolic-ref', '--short', 'HEAD'),
        }
        await writes(request)
      },
    })
    expect(found).toEqual({
      env: 'A=1\n',
      local: 'B=1\n',
      other: null,
      remote: 'https://example.org/"shop".git',
      tags: 'v1',
      who: 'Ada',
      status: '',
      branch: 'main',
    })
    expect(subjects(root)).toEqual(['T-1: Do T-1'])
    expect(git(root, 'ls-tree', '-r', '--name-only', 'HEAD').split('\n')).not.toContain('.env')
    expect(read(ownFolder(root), '1/check/hook-ran')).toBe('Ada\n')
  })

  it('is made ready once, and again when a lock file has changed; what cannot be made ready ends the run before an agent works', async () => {
    const root = makeProject(2, {
      'package-lock.json': '{}\n',
      '.gitignore': '.ralph/\nnode_modules\n',
    })
    const prepared: string[] = []
    const ports: Harness['ports'] = {
      runInstall: async (gate, { cwd }) => {
        prepared.push(`${gate.command} in ${cwd.slice(ownFolder(root).length)}`)
        put(cwd, { 'node_modules/ready': '' })
        return gateResult(gate, true)
      },
    }
    const options = { maxTasks: 1 }
    const gate = (_: unknown, cwd: string): boolean => existsSync(join(cwd, 'node_modules/ready'))
    await together(root, { deed: writes, ports, options, gate }, 1)
    const sides = ['work', 'check'].map((side) => `npm ci in /1/${side}/${basename(root)}`)
    expect(prepared).toEqual(sides)
    await together(root, { deed: writes, ports, options, gate }, 1)
    expect(prepared).toHaveLength(2)
    expect(subjects(root)).toHaveLength(2)
    commit(root, 'More', { 'docs/tasks/T-3.md': taskText('T-3'), 'package-lock.json': '{ "a": 1 }\n' })
    const events = await together(root, {
      deed: () => expect.unreachable(),
      ports: {
        runInstall: async (gate) =>
          gateResult(gate, { verdict: 'failed', excerpt: `error: no network\n${'see the log\n'.repeat(9)}` }),
      },
    })
    expect(those(events, 'run-finished')[0]).toMatchObject({ end: 'stopped' })
    expect(those(events, 'run-finished')[0]?.reason).toContain('error: no network')
    expect(those(events, 'attempt-started')).toEqual([])
  })

  it('that somebody changed by hand is as it was before the next task, and one that is gone is made anew', async () => {
    const root = makeProject(3)
    await together(root, { deed: writes, options: { maxTasks: 1 } }, 1)
    const slot = join(ownFolder(root), '1')
    for (const side of ['work', 'check']) {
      const folder = join(slot, side, basename(root))
      put(folder, { 'by-hand.txt': 'by hand\n', 'README.md': 'by hand\n' })
      rmSync(join(folder, '.git'), { recursive: true, force: true })
    }
    const found: unknown[] = []
    const look = (cwd: string): void => {
      found.push([read(cwd, 'by-hand.txt'), read(cwd, 'README.md'), status(cwd)])
    }
    const deed: Deed = async (request) => (look(request.cwd), writes(request))
    const gate = (_: unknown, cwd: string): boolean => (look(cwd), true)
    await together(root, { deed, gate, options: { maxTasks: 1 } }, 1)
    expect(found).toEqual(Array.from({ length: 2 }, () => [null, '# shop\n', '']))
    rmSync(slot, { recursive: true })
    await together(root, { deed: writes }, 1)
    expect(subjects(root)).toHaveLength(3)
    expectInOrder(root, 3)
  })

  it('works for a repository that is removed and made anew at its place', async () => {
    const root = makeProject(2)
    await together(root, { deed: writes }, 1)
    rmSync(join(root, '.git'), { recursive: true })
    rmSync(join(root, 'src'), { recursive: true })
    for (const id of ['T-1', 'T-2']) put(root, { [`docs/tasks/${id}.md`]: taskText(id) })
    git(root, 'init', '-q', '-b', 'main')
    git(root, 'config', 'user.name', 'Ada')
    git(root, 'config', 'user.email', 'ada@example.com')
    commit(root, 'Begin anew')
    const events = await together(root, { deed: writes }, 1)
    expect(landings(events)).toEqual(['T-1 landed', 'T-2 landed'])
    expectInOrder(root, 2)
  })

  it('does not ask for what the checkout itself has given up since', async () => {
    const root = makeProject(2)
    git(root, 'checkout', '-q', '-b', 'side')
    git(root, 'commit', '-qm', 'A branch', '--allow-empty')
    git(root, 'checkout', '-q', 'main')
    await together(root, { deed: writes, options: { maxTasks: 1 } }, 1)
    git(root, 'branch', '-q', '-D', 'side')
    git(root, 'reflog', 'expire', '--expire=now', '--all')
    git(root, 'gc', '--quiet', '--prune=now')
    const events = await together(root, { deed: writes }, 1)
    expect(landings(events)).toEqual(['T-2 landed'])
    expectInOrder(root, 2)
  })
})
