import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { RunOptions } from '../../src/engine/ports.ts'
import { gateRunner } from '../../src/engine/gates/run.ts'
import { startProcess } from '../../src/process/start.ts'
import { put } from '../repository.ts'
import { makeProject, runAll, taskText, those, trailer } from '../run/harness.ts'
import { gateOf, OPTIONS, type Deed } from '../run/ports.ts'

const SUM = 'export const sum = (a, b) => a + b\n'
const BROKEN = 'export const sum = (a, b) => a - b\n'
const testOf = (title: string, body: string, call = 'test'): string =>
  `import { test } from 'node:test'\nimport assert from 'node:assert'\nimport { sum } from '../sum.js'\n\n` +
  `${call}('${title}', () => {\n  ${body}\n})\n`
const ADDS = testOf('adds', 'assert.equal(sum(2, 3), 5)')
const FILES = { 'package.json': '{ "type": "module" }\n', 'sum.js': SUM, 'test/sum.test.js': ADDS }

/** Runs one task over a project whose gate is `node --test`, with one attempt if nothing else is said. */
async function runOver(
  deed: Deed,
  {
    options = {},
    task = {},
    files = {},
  }: {
    options?: Partial<RunOptions>
    task?: { title?: string; fields?: string }
    files?: Record<string, string>
  } = {},
) {
  const text = taskText('T-1')
    .replace('Do T-1', task.title ?? 'Do T-1')
    .replace('- **Depends**', `${task.fields ?? ''}- **Depends**`)
  const root = makeProject({ 'T-1': text }, { ...FILES, ...files })
  const events = await runAll({
    root,
    deed,
    options: {
      retries: 0,
      gates: [gateOf('test', { command: 'node --test' })],
      baseline: 'warn',
      ...options,
    },
    ports: { runGate: gateRunner(startProcess) },
  })
  const attempts = those(events, 'attempt-finished').map(({ outcome, reason }) => `${outcome}: ${reason}`)
  const isDone = those(events, 'task-completed').length > 0
  return {
    root,
    events,
    attempts,
    isDone,
    seen: those(events, 'witness'),
    runs: those(events, 'witness-started'),
  }
}

describe('an attempt that weakens the tests fails', () => {
  it.each<readonly [string, Deed, string]>([
    [
      'by removing the only file of tests',
      ({ cwd }) => (put(cwd, { 'sum.js': BROKEN }), rmSync(join(cwd, 'test/sum.test.js'))),
      'gate-failed: test ran no tests; before this change it ran 1',
    ],
    [
      'by removing one of the files',
      ({ cwd }) => (
        put(cwd, { 'sum.js': BROKEN, 'test/other.test.js': testOf('is there', '') }),
        rmSync(join(cwd, 'test/sum.test.js'))
      ),
      'tests-changed: test removed: test/sum.test.js: "adds"',
    ],
    [
      'by skipping one',
      ({ cwd }) =>
        put(cwd, {
          'test/other.test.js': testOf('is there', ''),
          'sum.js': BROKEN,
          'test/sum.test.js': ADDS.replace("test('adds'", "test.skip('adds'"),
        }),
      'tests-changed: test skipped: test/sum.test.js: "adds"',
    ],
    [
      'by having another one run alone',
      ({ cwd }) => put(cwd, { 'test/sum.test.js': `${ADDS}test.only('is there', () => undefined)\n` }),
      'tests-changed: test runs alone, and the others do not: test/sum.test.js: "is there"',
    ],
  ])('%s', async (_, deed, expected) => {
    const { attempts, isDone } = await runOver(deed)
    expect(attempts).toEqual([expected])
    expect(isDone).toBe(false)
  })

  it('and the next one is told which', async () => {
    const prompts: string[] = []
    const { isDone, attempts } = await runOver(
      ({ cwd, prompt }) => {
        prompts.push(prompt)
        if (prompts.length > 1) put(cwd, { 'sum.js': SUM, 'extra.js': '', 'test/sum.test.js': ADDS })
        else
          put(cwd, { 'sum.js': BROKEN, 'test/sum.test.js': ADDS.replace("test('adds'", "test.skip('adds'") })
      },
      { options: { retries: 1 } },
    )
    expect(attempts).toHaveLength(2)
    expect(isDone).toBe(true)
  })
})

describe('a test that is changed', () => {
  const changes: Deed = ({ cwd }) => {
    put(cwd, {
      'sum.js': 'export const sum = (a, b) => a + b + 1\n',
      'test/sum.test.js': ADDS.replace('5)', '6)'),
    })
    return { message: 'Done.\ntest "adds": the sum counts the carry now' }
  }

  it('is named in the commit, with the reason of the agent', async () => {
    const { root, events, isDone, seen, runs } = await runOver(changes)
    expect(isDone).toBe(true)
    expect(runs.map(({ tests }) => tests)).toEqual(['old'])
    const named = 'test/sum.test.js: "adds": changed: test "adds": the sum counts the carry now'
    expect(trailer(root, 'Tests-Changed')).toBe(named)
    expect(seen.flatMap(({ changed }) => changed)).toEqual([named])
    expect(those(events, 'task-completed')[0]?.testsChanged).toEqual([named])
  })

  it('has the agent asked for the reason, in its conversation', async () => {
    const asked: string[] = []
    const { root, isDone } = await runOver((request) => {
      if (request.resume) {
        asked.push(request.prompt)
        return { message: 'As the task wants it:\n"adds" counts a carry now.', session: 's-1' }
      }
      void changes(request)
      return { message: 'Done.', session: 's-1' }
    })
    expect(isDone).toBe(true)
    expect(asked).toEqual([expect.stringContaining('- test/sum.test.js: "adds": changed\n')])
    expect(trailer(root, 'Tests-Changed')).toBe(
      'test/sum.test.js: "adds": changed: "adds" counts a carry now.',
    )
  })

  it('is refused where the task keeps its tests, and where the configuration does', async () => {
    for (const more of [
      { task: { fields: '- **Tests**: keep\n' } },
      { options: { tests: { ...OPTIONS.tests, changed: 'refuse' } } },
    ] as const) {
      const { attempts } = await runOver(changes, more)
      expect(attempts[0]).toMatch(/^tests-changed: tests must stay as they are: test\/sum\.test\.js/)
    }
  })

  it('is no matter if only the place of its file changes', async () => {
    const { root, isDone, runs } = await runOver(({ cwd }) => {
      rmSync(join(cwd, 'test/sum.test.js'))
      rmSync(join(cwd, 'sum.js'))
      put(cwd, { 'lib/sum.js': SUM, 'test/unit/sum.test.js': ADDS.replace('../sum.js', '../../lib/sum.js') })
    })
    expect(isDone).toBe(true)
    expect(runs).toEqual([])
    expect(trailer(root, 'Tests-Changed')).toBe('')
  })
})

describe('a test may go', () => {
  const removes: Deed = ({ cwd }) => {
    put(cwd, { 'test/other.test.js': testOf('is there', ''), 'note.js': '' })
    rmSync(join(cwd, 'test/sum.test.js'))
  }

  it.each([
    ['where its task says that tests may change', { fields: '- **Tests**: may change\n' }],
    ['where its task is to remove something', { title: 'Remove the old sums' }],
  ])('%s, and is named', async (_, task) => {
    const { root, isDone } = await runOver(removes, { task })
    expect(isDone).toBe(true)
    expect(trailer(root, 'Tests-Changed')).toContain('test/sum.test.js: "adds": removed')
  })

  it('together with what it tests', async () => {
    const { root, isDone } = await runOver(
      ({ cwd }) => {
        rmSync(join(cwd, 'product.js'))
        rmSync(join(cwd, 'test/product.test.js'))
      },
      {
        files: {
          'product.js': 'export const productOf = (a, b) => a * b\n',
          'test/product.test.js': testOf('multiplies', 'productOf(2, 3)').replace(
            "{ sum } from '../sum.js'",
            "{ productOf } from '../product.js'",
          ),
        },
      },
    )
    expect(isDone).toBe(true)
    expect(trailer(root, 'Tests-Changed')).toBe(
      'test/product.test.js: "multiplies": removed, with what it tests',
    )
  })
})

describe('a new test', () => {
  const DOUBLE = testOf('doubles', 'assert.equal(sum.double(2), 4)')
  const doubles: Deed = ({ cwd }) =>
    put(cwd, { 'sum.js': `${SUM}sum.double = (a) => 2 * a\n`, 'test/double.test.js': DOUBLE })
  const idle: Deed = ({ cwd }) =>
    put(cwd, { 'sum.js': `${SUM}sum.double = (a) => 2 * a\n`, 'test/double.test.js': testOf('doubles', '') })

  it('fails without the change, and the commit says so', async () => {
    const { root, isDone } = await runOver(doubles)
    expect(isDone).toBe(true)
    expect(trailer(root, 'Witness')).toBe('1 new test fails without this change')
    expect(trailer(root, 'Gates')).toBe('test (2 tests)')
  })

  it('that passes without the change is said, and refused where tests are required', async () => {
    const { root, isDone } = await runOver(idle)
    expect(isDone).toBe(true)
    expect(trailer(root, 'Witness')).toBe('1 new test passes without this change, too')
    const { attempts } = await runOver(idle, { options: { tests: { ...OPTIONS.tests, new: 'require' } } })
    expect(attempts).toEqual(['no-tests: 1 new test passes without this change, too'])
  })

  it('stands for the word of an agent that ended without one', async () => {
    const silent =
      (deed: Deed): Deed =>
      async (request) => ({ ...(await deed(request)), end: { kind: 'no-marker' } })
    expect((await runOver(silent(doubles))).isDone).toBe(true)
    expect((await runOver(silent(idle))).isDone).toBe(false)
  })
})

it('a gate that does not say any more how many tests it ran is named', async () => {
  const { root } = await runOver(({ cwd }) => put(cwd, { 'quiet.js': '' }), {
    options: { gates: [gateOf('test', { command: 'test -e quiet.js || node --test' })] },
  })
  expect(trailer(root, 'Witness')).toBe('test ran 1 test before, and does not say how many now')
})

it('nothing runs again where no test has changed', async () => {
  const { root, isDone, runs } = await runOver(({ cwd }) => put(cwd, { 'other.js': '' }))
  expect([isDone, runs, trailer(root, 'Witness')]).toEqual([true, [], ''])
})

it('a project whose tests are not known is told so', async () => {
  const { root } = await runOver(({ cwd }) => put(cwd, { 'other.js': '' }), {
    files: { 'test/sum.test.js': '', 'check.js': '' },
    options: { tests: { ...OPTIONS.tests, paths: ['*.check.js'] } },
  }).catch((error: unknown) => ({ root: String(error) }))
  expect(root).toContain('tests.paths matches no file of the last commit: *.check.js')
})

it('tests that take longer than their limit do not run again', async () => {
  const { root, runs } = await runOver(({ cwd }) => put(cwd, { 'test/more.test.js': testOf('more', '') }), {
    options: { tests: { ...OPTIONS.tests, limitSeconds: 0 } },
  })
  expect([runs, trailer(root, 'Witness')]).toEqual([[], 'off (the tests take longer than tests.limit)'])
})
