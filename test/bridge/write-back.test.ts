import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findBacklog, originTexts, readForeign } from '../../src/authoring/bridges/formats.ts'
import { openSources } from '../../src/authoring/bridges/source.ts'
import { treeOfTexts } from '../../src/authoring/bridges/tree.ts'
import type { Status } from '../../src/backlog/model.ts'
import { originText, type OriginReport } from '../../src/backlog/origin.ts'
import { SAMPLES, type Sample } from './samples.ts'

function reportOf(status: Status, more: Partial<OriginReport> = {}): OriginReport {
  return { status, reason: '', at: new Date('2026-02-03T04:05:06Z'), failed: [], ...more }
}

type Files = ReadonlyMap<string, string>

const filesOf = ({ files }: Sample): Files => new Map(Object.entries(files))

function read({ format, path }: Sample, files: Files) {
  return readForeign({ format, path }, treeOfTexts(files), { independent: false })
}

function write(
  { format, path }: Sample,
  files: Files,
  key: string,
  status: Status,
  more: Partial<OriginReport> = { reason: 'no key' },
): Files {
  const task = { origin: originText({ path, key }).slice(1, -1) }
  const bridge = { path, as: format, sync: true }
  const texts = originTexts([bridge], treeOfTexts(files), { task, report: reportOf(status, more) })
  return new Map([...files, ...texts])
}

/** What stands in two texts between the first and the last place where they differ. */
function difference(before: string, after: string): readonly [string, string] {
  let start = 0
  while (start < before.length && before[start] === after[start]) start++
  let [one, other] = [before.length, after.length]
  while (one > start && other > start && before[one - 1] === after[other - 1]) {
    one--
    other--
  }
  return [before.slice(start, one), after.slice(start, other)]
}

describe.each(SAMPLES)('$format in $path', (sample) => {
  test('is told by what is in it', () => {
    const found = findBacklog(sample.path, openSources(treeOfTexts(filesOf(sample))))
    expect(found).toEqual({ format: sample.format, path: sample.path })
  })

  test('is read without a mistake, in its order', () => {
    const { drafts, mistakes } = read(sample, filesOf(sample))
    expect(mistakes.filter(({ severity }) => severity === 'error')).toEqual([])
    expect(drafts.map(({ key }) => key)).toEqual(sample.keys)
    expect(drafts.map(({ status }) => status)).toEqual(sample.keys.map(() => 'TODO'))
  })

  test('only how the tasks stand is different after any writing', () => {
    const step = fc.tuple(fc.constantFrom(...sample.keys), fc.constantFrom('TODO', 'DONE', 'BLOCKED'))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), (steps) => {
        let files = filesOf(sample)
        const statuses = new Map<string, Status>()
        for (const [key, status] of steps) {
          files = write(sample, files, key, status)
          const { drafts, mistakes } = read(sample, files)
          expect(mistakes.filter(({ severity }) => severity === 'error')).toEqual([])
          const there = drafts.find((draft) => draft.key === key)!.status
          // Not every form has a word for a blocked task: then it says what it said before.
          if (status !== 'BLOCKED') expect(there).toBe(status)
          else expect(['BLOCKED', statuses.get(key) ?? 'TODO', 'TODO']).toContain(there)
          statuses.set(key, there)
        }
        const plain = (all: Files) =>
          read(sample, all).drafts.map(({ key, title, depends, description, criteria, hints, tags }) => [
            key,
            title,
            depends,
            description,
            criteria,
            hints,
            tags,
          ])
        expect(plain(files)).toEqual(plain(filesOf(sample)))
        expect(read(sample, files).drafts.map(({ key, status }) => [key, status])).toEqual(
          sample.keys.map((key) => [key, statuses.get(key) ?? 'TODO']),
        )
      }),
      { numRuns: Number(process.env['RALPH_PROPERTY_RUNS'] ?? 40) },
    )
  })

  test('back to where it was is byte for byte what it was, but for what says when', () => {
    for (const key of sample.keys) {
      const once = write(sample, filesOf(sample), key, 'TODO')
      const twice = write(sample, write(sample, once, key, 'DONE'), key, 'TODO')
      expect(twice).toEqual(once)
    }
  })

  test('a word is all that is written', () => {
    const key = sample.keys[0]!
    const once = write(sample, filesOf(sample), key, 'TODO')
    const done = write(sample, once, key, 'DONE')
    const changed = [...done].filter(([file, text]) => text !== once.get(file))
    expect(changed.length).toBeGreaterThan(0)
    for (const [file, text] of changed) {
      const [before, after] = difference(once.get(file)!, text)
      // What the milestone says may stand further up.
      expect(after.length - before.length).toBeLessThan(20)
      expect(text.split(/\r\n|\n/).length).toBe(once.get(file)!.split(/\r\n|\n/).length)
    }
  })
})

test('specs are in progress with their first task, and completed with their last', () => {
  const [sample] = SAMPLES
  const specs = (files: Files): unknown =>
    [...files.get('implementation.json')!.matchAll(/"priority": \d, "status": "(\w+)"/g)].map(
      ([, status]) => status,
    )
  const first = write(sample!, filesOf(sample!), 'avatars-1', 'DONE')
  expect(specs(first)).toEqual(['in_progress', 'in_progress'])
  const text = first.get('implementation.json')!
  expect(text).toContain('"updatedAt": "2026-02-03T04:05:06Z", "updatedBy": "ralph"')
  expect(specs(write(sample!, first, 'avatars-2', 'DONE'))).toEqual(['completed', 'in_progress'])
  const blocked = write(sample!, first, 'avatars-2', 'BLOCKED').get('implementation.json')
  expect(blocked).toContain('"status":"blocked"')
  expect(blocked).toContain('"blockedReason": "no key"')
})

test('a parent is completed with its children, in another file too', () => {
  const sample = SAMPLES.find(({ path }) => path.includes('add-roots'))!
  const main = (files: Files): string => /"id": "1".*?"status": "(\w+)"/.exec(files.get(sample.path)!)![1]!
  const first = write(sample, filesOf(sample), '1.1', 'DONE')
  expect(main(first)).toBe('in_progress')
  expect(main(write(sample, first, '1.2', 'DONE'))).toBe('completed')
  const tasks = SAMPLES.find(({ format }) => format === 'task-master')!
  const both = write(tasks, write(tasks, filesOf(tasks), '2.1', 'DONE'), '2.2', 'DONE')
  expect(both.get(tasks.path)).toMatch(/"With a password", "status": "done"/)
})

test('a box in a list is checked with those in it, but for the optional ones', () => {
  const sample = SAMPLES.find(({ path }) => path.includes('period'))!
  const changed = (files: Files): readonly string[] => {
    const before = sample.files[sample.path]!.split('\n')
    return files
      .get(sample.path)!
      .split('\n')
      .filter((line, at) => line !== before[at])
  }
  const first = write(sample, filesOf(sample), '1.1', 'DONE')
  expect(changed(first)).toEqual(['- [x] 1. Add a period', '  - [x] 1.1 Draw the picker'])
  expect(changed(write(sample, first, '1.1', 'TODO'))).toEqual([])
  expect(changed(write(sample, filesOf(sample), '1.2', 'DONE'))).toEqual(['  - [x]* 1.2 Test the picker'])
  expect(changed(write(sample, filesOf(sample), '2', 'DONE'))).toEqual(['- [x] 2. Use it'])
  const list = {
    format: 'checklist',
    path: 'A.md',
    keys: ['a'],
    files: { 'A.md': '- [-] A\n- [✔️]* B\n' },
  } as const
  expect(write(list, filesOf(list), 'a', 'TODO')).toEqual(filesOf(list))
  const done = write(list, filesOf(list), 'a', 'DONE')
  expect(write(list, done, 'b', 'TODO').get('A.md')).toBe('- [x] A\n- [ ]* B\n')
})

test('the time of a change is kept where Backlog.md has one', () => {
  const text = "---\nid: T-1\nstatus: To Do\nupdated_date: '2026-01-01 10:00'\n---\n"
  const file = 'backlog/tasks/t-1 - A.md'
  const sample = { format: 'backlog-md', path: 'backlog', keys: ['T-1'], files: { [file]: text } } as const
  expect(write(sample, filesOf(sample), 'T-1', 'DONE').get(file)).toBe(
    "---\nid: T-1\nstatus: Done\nupdated_date: '2026-02-03 04:05'\n---\n",
  )
  expect(write(sample, filesOf(sample), 'T-1', 'TODO').get(file)).toBe(text)
})

test('a failed attempt is a comment, beside those that there are', () => {
  const sample = SAMPLES.find(({ format }) => format === 'db')!
  const failed = [{ number: 1, reason: 'the gate "test" failed', at: new Date('2026-02-03T04:00:00Z') }]
  for (const key of sample.keys) {
    const texts = write(sample, filesOf(sample), key, 'DONE', { failed })
    const after = read(sample, texts).drafts.find((draft) => draft.key === key)!
    expect(after.comments).toHaveLength(key === '2' ? 1 : 0)
    expect(after.attempts).toEqual([
      {
        author: 'agent',
        created: '2026-02-03T04:00:00Z',
        task: '',
        body: 'Attempt 1 failed: the gate "test" failed',
      },
    ])
  }
})

describe('what is not synced is not written', () => {
  const [sample] = SAMPLES
  const tree = treeOfTexts(filesOf(sample!))
  const bridge = { path: 'implementation.json', as: 'implementation', sync: true } as const
  const report = reportOf('DONE')
  const origin = originText({ path: bridge.path, key: 'login-1' }).slice(1, -1)
  test.each([
    ['a task from elsewhere', [bridge], { origin: 'prd.json#login-1' }, 0],
    ['a task from nowhere', [bridge], { origin: null }, 0],
    ['a bridge without sync', [{ ...bridge, sync: false }], { origin }, 0],
    ['a task that is gone there', [bridge], { origin: 'implementation.json#login-9' }, 0],
    ['a task that is there', [bridge], { origin }, 1],
  ])('%s', (_, bridges, task, files) => {
    expect(originTexts(bridges, tree, { task, report }).size).toBe(files)
  })

  test('a file that is broken', () => {
    const broken = treeOfTexts(
      new Map([['implementation.json', '{ "specs": [ { "tasks": [ {"id":"login-1"} ']]),
    )
    expect(originTexts([bridge], broken, { task: { origin }, report }).size).toBe(0)
  })
})
