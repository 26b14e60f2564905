import { describe, expect, test } from 'vitest'
import { parseTask } from '../../src/backlog/parse.ts'
import { factsScanner } from '../../src/backlog/head-reader.ts'
import { TASK_VOCABULARY, taskVocabulary } from '../../src/backlog/vocabulary.ts'

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
    ['without a colon', `${STATUS}\n- **Depends** T-099`],
    ['after a dash', `${STATUS}\n- **Depends** — T-099`],
    ['without a blank', `${STATUS}\n- Depends:T-099`],
    ['under another word', `${STATUS}\n- **Dependency**: T-099`],
    ['under a word of its own', `${STATUS}\n- **Needs**: the work of T-099`],
    ['in a table of three columns', `${STATUS}\n\n| Depends | T-099 | hard |\n|---|---|---|`],
    ['in a sentence that says so', `${STATUS}\n\nDepends on T-099 being there.`],
    ['in a section that says more', `${STATUS}\n\n## Dependencies\nSee these:\n- T-099`],
    ['in a section beside the field', `${STATUS}\n- **Depends**: T-001\n\n## Dependencies\n- T-099`],
    ['in the heading of a section', `${STATUS}\n\n## Blocked by T-099`],
    ['under a key in another language', `${STATUS}\n- **依赖**: T-099`],
    ['under such a key with a remark', `${STATUS}\n- **선행 작업**: T-001, T-099 (완료 후)`],
    ['under such a key with words', `${STATUS}\n- **Abhängig von**: Aufgabe T-099`],
    ['under such a key without bold', `${STATUS}\n- Зависит от: T-099`],
    ['under such a key of a table', `| Status | TODO |\n|---|---|\n| Bağımlılık | T-099 |`],
    ['in the head of a table', `${STATUS}\n\n| Bağımlılık | T-099 |\n|---|---|`],
    ['in words of a field', `${STATUS}\n- **Note**: this is work that depends on T-099 being there`],
    ['in a section in another language', `${STATUS}\n\n## 선행 작업\n\n- T-001\n- T-099`],
    ['in such a section with titles', `${STATUS}\n\n## Depende de\n- [T-099](T-099.md) su título`],
    ['in such a section below a comment', `${STATUS}\n\n## 依存\n<!-- x -->\nT-099, T-001`],
  ])('%s', async (_, block) => {
    const { problems, source } = await read(block)
    expect(problems).toMatchObject([{ kind: 'bad-depends' }])
    const { start, end } = problems[0]!.span
    expect(source.slice(start, end)).toMatch(/^T-0(?:01|99)$/)
  })

  test('a piece that is no id is found where it stands, and not within another', async () => {
    const { problems, source } = await read(`${STATUS}\n- **Depends**: T-1, -1`)
    const { start } = problems[0]!.span
    expect(source.slice(start - 2, start + 2)).toBe(', -1')
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

  test.each([
    ['what is related', '- **Related**: T-099, T-098'],
    ['what comes after', '- **Unblocks**: T-099\n- **Required by**: T-098'],
    ['its own id', '- **Task ID**: T-004\n- **任务**: T-004'],
    ['a branch', '- **Branch**: feature/T-099-login'],
    ['a section of what is related', '\n## Related\n- T-099'],
    [
      'a section with words in it',
      '\n## Verlauf\n- T-099 hat das Formular gebracht, das hier weitergeht\n- Mehr',
    ],
  ])('nor in %s', async (_, block) => {
    const { problems, needs } = await read(`${STATUS}\n${block}`)
    expect([problems, needs]).toEqual([[], []])
  })
})

describe('dependencies are read', () => {
  test.each([
    ['from a row of fields', '- **Phase:** 0 · **Depends:** T-001, T-2 · **Branch:** x'],
    ['from a row without bold keys', '- Phase: 0 | Depends: T-001, T-002 | Branch: x'],
    ['from a row parted by blanks', '- **Phase**: 0  **Depends**: T-001, T-002  **Branch**: x'],
    ['from a row that does not begin with a field', '- Phase 0 · **Depends:** T-001 T-002'],
    ['from a row of a paragraph', '\n**Phase:** 0; **Depends:** T-001, T-002; **Branch:** x'],
    ['behind a field of another meaning', '- **Milestone**: 1 — A, b; Depends: T-001, T-002'],
    ['from behind a box to tick', '- [ ] **Depends**: T-001, T-002'],
    ['as a range in words', '- **Depends**: T-001 through T-002'],
    ['as a range in French', '- **Depends**: T-001 à T-002'],
    ['as a range in Chinese', '- **Depends**: T-001 至 T-002'],
    ['between slashes', '- **Depends**: T-001/T-002'],
    ['with their titles', '- **Depends**: [T-001](T-001.md) the form, [T-002](T-002.md) the page'],
    ['from a section', '\n## Dependencies\n\n- T-001\n- [T-002](T-002.md) the page'],
    ['from a section of one line', '\n## Depends on\nT-001, T-002'],
  ])('%s', async (_, block) => {
    const task = await read(`${STATUS}\n${block}`)
    expect([task.problems, task.needs]).toEqual([[], [1, 2]])
    expect(task.status).toBe('TODO')
  })

  test('and a section may say that there are none', async () => {
    const { problems, needs } = await read(`${STATUS}\n\n## Dependencies\n\n无`)
    expect([problems, needs]).toEqual([[], []])
  })
})

test('the fast reader leaves to the others what may name a dependency', async () => {
  const scan = factsScanner(TASK_VOCABULARY, { facts: [] })
  const head = (rest: string) => {
    const bytes = Buffer.from(`# T-004: Title\n\n${rest}\n\n## Description\nx\n`).toString('latin1')
    return scan({ file: FILE, id: 'T-004', bytes })
  }
  const usual = `${STATUS}\n- **Phase**: 1\n- **Refs**: x`
  expect(head(usual)).not.toBeNull()
  expect(head(`${STATUS}\n- **Related**: T-099\n- **Touches**: \`src/**/*.ts\`, b`)).not.toBeNull()
  // Also where the layout is known by now.
  for (const rest of [
    `${STATUS}\n- **Phase**: T-099\n- **Refs**: x`,
    `${STATUS}\n- **Phase**: 1 · **Depends:** T-001\n- **Refs**: x`,
    `${STATUS}\n- **Phase**: 1 | Depends: T-001\n- **Refs**: x`,
    `${usual}\n\n## 选择\n\n- T-099`,
  ])
    expect(head(rest)).toBeNull()
})

test('a team may name a key whose tasks are not needed', async () => {
  const vocabulary = taskVocabulary({ fields: { Related: ['Siehe'] } })
  const text = `# T-004: Title\n\n${STATUS}\n- **Siehe**: T-099\n\n## Siehe\n- T-098\n`
  expect((await parseTask({ file: FILE, text })).problems).toHaveLength(1)
  expect((await parseTask({ file: FILE, text }, vocabulary)).problems).toEqual([])
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

test('a task that is done needs nothing more', async () => {
  const { problems } = await read('- **Status**: DONE\n\n## Dependencies\n- T-099')
  expect(problems).toEqual([])
})

test('a dependency has as many digits as it is written with, but no fewer than ids have', async () => {
  const text = '# T-1000: A\n\n- **Status**: TODO\n- **Depends**: T-999, T-1, T-0998\n'
  const { depends } = await parseTask({ file: 'docs/tasks/T-1000.md', text })
  expect(depends.map(({ id }) => id)).toEqual(['T-999', 'T-0001', 'T-0998'])
})

test('a task that is named twice is needed once, by its first name, whoever reads it', async () => {
  const text = '# T-1000: A\n\n- **Status**: TODO\n- **Depends**: T-0998, T-998\n\n## Description\nx\n'
  const file = 'docs/tasks/T-1000.md'
  const { needs, depends } = await parseTask({ file, text })
  const scan = factsScanner(TASK_VOCABULARY, { facts: ['depends'] })
  expect(needs).toEqual([998])
  expect(scan({ file, id: 'T-1000', bytes: text })?.depends.map(({ id }) => id)).toEqual(['T-0998'])
  expect(depends.map(({ id }) => id)).toEqual(['T-0998'])
})

describe('and between ids', () => {
  test.each(['und', 'y', 'e', 'et', 'i', 'и', 'та', 've', 'och', 'Und'])('is %s, too', async (and) => {
    const { needs, problems } = await read(`${STATUS}\n- **Depends**: T-001, T-002 ${and} T-003`)
    expect([needs, problems]).toEqual([[1, 2, 3], []])
  })

  test.each([
    'T-001和T-002',
    'T-001 与 T-002',
    'T-001とT-002',
    'T-001과 T-002',
    'T-001／T-002',
    'T-001, and T-002',
  ])('is read in %s', async (depends) => {
    const { needs, problems } = await read(`${STATUS}\n- **Depends**: ${depends}`)
    expect([needs, problems]).toEqual([[1, 2], []])
  })

  test.each(['oder', 'o', 'ou', 'или', 'a', 'bis', 'или и', '或', 'или T-009 и', 'undd'])(
    'is not %s, which fails closed',
    async (word) => {
      const { problems } = await read(`${STATUS}\n- **Depends**: T-001 ${word} T-002`)
      expect(problems.map(({ kind }) => kind)).toEqual(['bad-depends'])
    },
  )
})
