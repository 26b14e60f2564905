import { describe, expect, it, test } from 'vitest'
import { clashOf, compareNumbers, isPattern, taskIds, USUAL_IDS } from '../../src/backlog/ids.ts'
import { parseTask } from '../../src/backlog/parse.ts'
import { taskVocabulary } from '../../src/backlog/vocabulary.ts'

const several = taskIds(['T-{n}', 'TASK-{n}', '{n}'])

test.each([
  ['T-001.md', 'T-001', 1],
  ['t-1-slug.md', 'T-1', 1],
  ['T-001b.md', 'T-001b', '1b'],
  ['T-001B-slug.md', 'T-001B', '1b'],
  ['T-004.1.md', 'T-004.1', '4.1'],
  ['T-004.01a-slug.md', 'T-004.01a', '4.1a'],
  ['TASK-002.md', 'TASK-002', '2-1'],
  ['task-002.3.md', 'TASK-002.3', '2.3-1'],
  ['003-three.md', '003', '3-2'],
])('the file %s is the task %s', (name, id, number) => {
  expect(several.inFileName(name)).toBe(id)
  expect(several.numberOf(id)).toBe(number)
})

test.each(['T-.md', 'T-1bc.md', 'T-1b2.md', 'T-1_b.md', 'T-1.txt', 'XT-1.md', 'US-1.md', 'README.md'])(
  'the file %s is no task',
  (name) => {
    expect(several.inFileName(name)).toBeNull()
  },
)

test('their order is the number, the suffix, the place of the pattern', () => {
  const ordered = [
    'T-9',
    'T-10',
    'TASK-10',
    'T-10.2',
    'TASK-10.2',
    'T-10.10',
    'T-10a',
    'T-10b',
    '10b',
    'T-11',
  ]
  const numbers = ordered.map((id) => several.numberOf(id))
  expect(numbers.toReversed().sort(compareNumbers)).toEqual(numbers)
})

test.each([
  ['T-{n}', true],
  ['{n}', true],
  ['v2_story-{n}', true],
  ['T-', false],
  ['docs/T-{n}', false],
  ['T-{n}-x', false],
  ['T2{n}', false],
  ['T.{n}', false],
])('%s can be a pattern: %s', (pattern, isOne) => {
  expect(isPattern(pattern)).toBe(isOne)
})

test.each([
  [['T-{n}', 'TASK-{n}', '{n}'], null],
  [['T-{n}', 't-{n}'], 't-1.md'],
  [['A{n}', 'A1-{n}'], 'A1-1.md'],
])('of %j both match %s', (patterns, name) => {
  expect(clashOf(patterns)).toBe(name)
})

const task = (file: string, depends: string, ids = several, more = '') =>
  parseTask(
    {
      file,
      text: `# ${ids.inPath(file)}: It\n\n- **Status**: TODO\n- **Depends**: ${depends}\n${more}\n## Description\nx\n`,
    },
    taskVocabulary({}, ids),
  )

describe('in Depends', () => {
  it.each([
    ['T-001b, T-4.01', ['T-001b', 'T-004.1']],
    ['t-001B and TASK-2', ['T-001b', 'TASK-002']],
    ['T-1a/T-1b', ['T-001a', 'T-001b']],
    ['003, 004b (the form)', ['003', '004b']],
    ['[TASK-002](TASK-002.md) its title', ['TASK-002']],
  ])('%s is %j', async (depends, expected) => {
    const { depends: found, problems } = await task('docs/tasks/T-009.md', depends)
    expect(problems).toEqual([])
    expect(found.map(({ id }) => id)).toEqual(expected)
  })

  it('a range includes what lies between, with a suffix too', async () => {
    const known = ['T-001', 'T-001b', 'T-002.1', 'T-003.1', 'T-003b', 'TASK-002.1'].map((id) => ({
      number: several.numberOf(id),
    }))
    const idsOf = async (depends: string): Promise<readonly string[]> =>
      (await task('docs/tasks/T-009.md', depends, several.among(known))).depends.map(({ id }) => id)
    expect(await idsOf('T-001–T-003')).toEqual(['T-001', 'T-001b', 'T-002', 'T-002.1', 'T-003'])
    expect(await idsOf('T-001b to T-003.1')).toEqual(['T-001b', 'T-002', 'T-002.1', 'T-003', 'T-003.1'])
    expect(await idsOf('TASK-002..TASK-003')).toEqual(['TASK-002', 'TASK-002.1', 'TASK-003'])
  })

  it.each(['T-003–T-001', 'T-001–TASK-003', 'T-001bc', 'US-1'])('%s is refused', async (depends) => {
    expect((await task('docs/tasks/T-009.md', depends)).problems).toMatchObject([{ kind: 'bad-depends' }])
  })

  it('a suffix alone is no dependency', async () => {
    expect((await task('docs/tasks/T-001b.md', 'none')).needs).toEqual([])
  })
})

test('an id of any pattern that may be needed is not ignored, a bare number is', async () => {
  const { problems } = await task('docs/tasks/T-009.md', 'none', several, '- **Requires**: TASK-002\n')
  expect(problems).toMatchObject([{ message: expect.stringContaining('TASK-002 stands apart') as string }])
  expect((await task('docs/tasks/T-009.md', 'none', several, '- **Sprint**: 3\n')).problems).toEqual([])
})

test.each([
  ['TASK-002.md', 'TASK-002: Title', 'Title', []],
  ['003-three.md', '003 — Title', 'Title', []],
  ['003-three.md', '3 pages', '3 pages', []],
  ['003-three.md', 'Task 3: Title', 'Title', []],
  ['TASK-002.md', 'Task 002: Title', 'Title', []],
  ['TASK-002.md', 'Task 3: Title', 'Task 3: Title', []],
  ['T-004.1.md', 'Task 4.1. Title', 'Title', []],
  ['T-001b.md', 'T-001b: Title', 'Title', []],
  ['T-001b.md', 'T-001: Title', 'Title', ["the heading says T-001, the file's name T-001b"]],
])('of %s the heading "%s" has the title %s', async (file, heading, title, messages) => {
  const text = `# ${heading}\n\n- **Status**: DONE\n`
  const read = await parseTask({ file, text }, taskVocabulary({}, several))
  expect(read.title).toBe(title)
  expect(read.problems.map(({ message }) => message)).toEqual(messages)
})

test('the usual ids are those of T-{n}', () => {
  expect(USUAL_IDS.inFileName('TASK-1.md')).toBeNull()
  expect(USUAL_IDS.idOf(4, 3)).toBe('T-004')
})
