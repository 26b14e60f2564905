import { describe, expect, test } from 'vitest'
import { parseTask } from '../../src/task/parse.ts'
import { factsScanner } from '../../src/task/scan-facts.ts'
import { TASK_VOCABULARY } from '../../src/task/vocabulary.ts'

const FILE = 'docs/tasks/T-004.md'
const read = (block: string) =>
  parseTask({ file: FILE, text: `# T-004: Title\n\n${block}\n\n## Description\nNot T-123.\n` })

const STATUS = '- **Status**: TODO'

describe('ids that stand apart from Depends keep a task from being eligible', () => {
  test.each([
    ['in a list that is not indented', `${STATUS}\n- **Depends**:\n- T-001\n- T-099`],
    ['in a list below a line', '**Status**: TODO\n\n**Depends on:**\n- T-099'],
    ['in a paragraph of their own', `${STATUS}\n- **Depends**:\n\nT-099`],
    ['in a second paragraph', `${STATUS}\n- **Depends**: T-001\n\n  T-099`],
    ['in a list within the list', `${STATUS}\n- **Depends**:\n  1. T-001\n     - T-099`],
    ['in what is HTML', `${STATUS}\n- **Depends**: T-001, <T-099>`],
    ['in a quote', `${STATUS}\n- **Depends**: T-001\n  > T-099`],
    ['behind a comment in the key', `${STATUS}\n- **Depends**<!-- hard -->: T-099`],
    ['behind a comment before the key', `${STATUS}\n- <!-- hard --> **Depends**: T-099`],
    ['behind a box to tick', `${STATUS}\n- [ ] **Depends**: T-099`],
    ['without a colon', `${STATUS}\n- **Depends** T-099`],
    ['after a dash', `${STATUS}\n- **Depends** — T-099`],
    ['without a blank', `${STATUS}\n- Depends:T-099`],
    ['under another word', `${STATUS}\n- **Dependency**: T-099`],
    ['under a word of its own', `${STATUS}\n- **Needs**: the work of T-099`],
    ['in a table of three columns', `${STATUS}\n\n| Depends | T-099 | hard |\n|---|---|---|`],
    ['in a sentence that says so', `${STATUS}\n\nDepends on T-099 being there.`],
    ['in a section', `${STATUS}\n\n## Dependencies\n- T-099`],
    ['in the heading of a section', `${STATUS}\n\n## Blocked by T-099`],
  ])('%s', async (_, block) => {
    const { problems, source } = await read(block)
    expect(problems).toMatchObject([{ kind: 'bad-depends' }])
    const { start, end } = problems[0]!.span
    expect(source.slice(start, end)).toMatch(/^T-0(?:01|99)$/)
  })

  test.each([
    ['a remark', `${STATUS}\n- **Depends**: T-001 (was T-099)`],
    ['the target of a link', `${STATUS}\n- **Depends**: [T-001](FEAT-99/T-099.md)`],
    ['a comment', `${STATUS}\n- **Depends**: <!-- T-099 --> T-001`],
    ['a field of its own', `${STATUS}\n- **Depends**: T-001\n- **Blocks**: T-099`],
    ['a sentence', `${STATUS}\n- **Depends**: T-001\n\nGoes on from T-099.`],
    ['a quote above the fields', `> Depends on T-099, see there.\n\n${STATUS}\n- **Depends**: T-001`],
    ['a fence', `${STATUS}\n- **Depends**: T-001\n\n\`\`\`\nDepends: T-099\n\`\`\``],
    [
      'a section that says the same',
      `${STATUS}\n- **Depends**: T-001\n\n## Dependencies\n- T-1, for its form`,
    ],
    ['another section', `${STATUS}\n- **Depends**: T-001\n\n## After that\nT-099 goes on.`],
  ])('but not in %s', async (_, block) => {
    const { problems, needs } = await read(block)
    expect([problems, needs]).toEqual([[], [1]])
  })
})

test('the place of a dependency is that of the id, and of nothing that looks like it', async () => {
  const { depends, source } = await read(
    `${STATUS}\n- **Depends**: [T-1](FEAT-2/T-2.md), T-2 (was T-3), <!-- T-3 --> T-3`,
  )
  expect(depends.map(({ span }) => span.start)).toEqual([
    source.indexOf('T-1]'),
    source.indexOf('T-2 (was'),
    source.lastIndexOf('T-3'),
  ])
})

test.each([
  ['T-004: T-001 goes on', 4, 'T-001 goes on', []],
  ['T-005: T-004 Title', 4, 'T-004 Title', ['heading-id']],
  ['Aufgabe T-004: Titel', 4, 'Titel', []],
])('of two ids in a heading the first is its own: %s', async (heading, number, title, problems) => {
  const task = await parseTask({ file: FILE, text: `# ${heading}\n\n${STATUS}\n` })
  expect([task.number, task.title, task.problems.map(({ kind }) => kind)]).toEqual([number, title, problems])
})

test.each(['none (it is the first)', 'None.', 'N/A （无）'])('%s names no task', async (value) => {
  const { needs, problems } = await read(`${STATUS}\n- **Depends**: ${value}`)
  expect([needs, problems]).toEqual([[], []])
})

test.each(['(T-001)', 'none (but T-001)', 'nothing (yet)', 'none (a) (b)'])(
  '%s is unclear',
  async (value) => {
    const { problems } = await read(`${STATUS}\n- **Depends**: ${value}`)
    expect(problems).toMatchObject([{ kind: 'bad-depends' }])
  },
)

test('a task that is named twice is needed once', async () => {
  const { needs, depends } = await read(`${STATUS}\n- **Depends**: T-1, T-002, T-001`)
  expect(needs).toEqual([1, 2])
  expect(depends.map(({ id }) => id)).toEqual(['T-001', 'T-002'])
})

test('a task that is done needs nothing more', async () => {
  const { problems } = await read('- **Status**: DONE\n\n## Dependencies\n- T-099')
  expect(problems).toEqual([])
})

test('a dependency has as many digits as it is written with, but no fewer than ids have', async () => {
  const text = '# T-1000: A\n\n- **Status**: TODO\n- **Depends**: T-999, T-1, T-0998\n'
  const { depends } = await parseTask({ file: 'docs/tasks/T-1000.md', text })
  expect(depends.map(({ id }) => id)).toEqual(['T-999', 'T-0001', 'T-0998'])
})

test('of a task that is named twice the first name counts, whoever reads it', async () => {
  const text = '# T-1000: A\n\n- **Status**: TODO\n- **Depends**: T-0998, T-998\n\n## Description\nx\n'
  const file = 'docs/tasks/T-1000.md'
  const { depends } = await parseTask({ file, text })
  const scan = factsScanner(TASK_VOCABULARY, { facts: ['depends'] })
  expect(scan({ file, id: 'T-1000', bytes: text })?.depends.map(({ id }) => id)).toEqual(['T-0998'])
  expect(depends.map(({ id }) => id)).toEqual(['T-0998'])
})
