import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseTask } from '../../src/backlog/parse.ts'
import { taskWriter } from '../../src/backlog/draft.ts'
import { factsScanner } from '../../src/backlog/head-reader.ts'
import { TASK_VOCABULARY } from '../../src/backlog/vocabulary.ts'
import { samples } from './styles.ts'

test('whatever its style, a document is read as it was meant', async () => {
  await fc.assert(
    fc.asyncProperty(samples, async ({ id, text, meaning }) => {
      const task = await parseTask({ file: `docs/tasks/${id}.md`, text })
      expect({
        title: task.title,
        status: task.status,
        depends: task.depends.map((dependency) => dependency.number),
        touches: task.touches,
        milestone: task.milestone,
        produces: (task.produces ?? []).map((product) => product.path),
        held: task.held,
        problems: task.problems,
      }).toEqual({
        title: meaning.title,
        status: meaning.status,
        depends: meaning.depends,
        touches: meaning.touches,
        milestone: meaning.milestone,
        produces: meaning.produces,
        held: meaning.blocked && meaning.status === 'TODO',
        problems: [],
      })
    }),
    { numRuns: 500 },
  )
})

describe('a section that blocks', () => {
  test.each([
    'Blocked: needs STRIPE_KEY',
    'Blocked — needs STRIPE_KEY',
    'Blocked (needs STRIPE_KEY)',
    'BLOCKED - needs STRIPE_KEY',
    '⛔ Blocked',
    'Blocked.',
  ])('may say more in its heading: %s', async (title) => {
    const task = await parseTask({
      file: 'docs/tasks/T-004.md',
      text: `# T-004: A\n\n- **Status**: TODO\n\n## ${title}\n`,
    })
    expect([task.held, task.sections.map(({ name }) => name)]).toEqual([true, ['Blocked']])
  })

  test.each(['Blocked users', 'Unblocked', 'How it is blocked', 'Blockedness: x'])(
    'is not any that speaks of it: %s',
    async (title) => {
      const task = await parseTask({
        file: 'docs/tasks/T-004.md',
        text: `# T-004: A\n\n- **Status**: TODO\n\n## ${title}\n`,
      })
      expect(task.held).toBe(false)
    },
  )
})

test.each([
  ['t-004: Pay', 'Pay', []],
  ['[T-004] Pay', 'Pay', []],
  ['t-005: Pay', 'Pay', ['heading-id']],
  ['[T-005] Pay', 'Pay', ['heading-id']],
])('the heading %j is read in any case, with or without brackets', async (heading, title, problems) => {
  const task = await parseTask({ file: 'docs/tasks/T-004.md', text: `# ${heading}\n\n- **Status**: TODO\n` })
  expect([task.title, task.problems.map(({ kind }) => kind)]).toEqual([title, problems])
})

test('a frontmatter that is not closed fails closed', async () => {
  const text = '---\nstatus: TODO\ndepends: T-099\n\n# T-004: A\n\n- **Status**: TODO\n'
  const { problems } = await parseTask({ file: 'docs/tasks/T-004.md', text })
  expect(problems).toMatchObject([{ kind: 'bad-frontmatter', line: 1 }])
})

test('a product behind a box to tick is a path', async () => {
  const text =
    '# T-004: A\n\n- **Status**: TODO\n\n## Produces\n- [ ] src/a.ts\n- [x] `src/b.ts` — the form\n'
  const { produces } = await parseTask({ file: 'docs/tasks/T-004.md', text })
  expect(produces?.map(({ path }) => path)).toEqual(['src/a.ts', 'src/b.ts'])
})

test('a backslash at the end of a line of fields is a hard break', async () => {
  const text =
    '# T-004: A\n\n**Status**: TODO\\\n**Depends**: T-001\\\n**Milestone**: 1 — A\\\n\n## Description\nx\n'
  const task = await parseTask({ file: 'docs/tasks/T-004.md', text })
  expect([task.status, task.needs, task.milestone, task.problems]).toEqual(['TODO', [1], '1 — A\\', []])
})

describe('a template that nobody has filled in', () => {
  const made = taskWriter([], TASK_VOCABULARY)({ id: 'T-004', title: 'Pay', fields: [['Status', 'TODO']] })
  const kindsIn = async (text: string): Promise<readonly string[]> => {
    const head = factsScanner(TASK_VOCABULARY, { facts: [] })
    const task = await parseTask({ file: 'docs/tasks/T-004.md', text })
    const scanned = head({ file: task.file, id: task.id, bytes: Buffer.from(text).toString('latin1') })
    if (scanned) expect(scanned.problems).toEqual(task.problems)
    return task.problems.map(({ kind }) => kind)
  }

  test('keeps the task from being eligible, as long as nothing is said', async () => {
    expect(await kindsIn(made)).toEqual(['unfilled-template'])
    expect(await kindsIn(made.replace('<!-- What to implement and why. -->', 'By card.'))).toEqual([])
    expect(await kindsIn(made.replace(/<!-- What can[^>]*>/, 'Pays.'))).toEqual([])
    expect(await kindsIn(`${made}\n## Plan\n\nBy card.\n`)).toEqual([])
    expect(await kindsIn(made.replace('TODO', 'DONE'))).toEqual([])
  })
})

test('a value goes on in the next line, in whichever field it stands', async () => {
  const text =
    '# T-002: B\n\n**Status**: TODO\n**Depends**: none\n**Touches**: src/a.ts,\nsrc/b.ts\n\n## Description\nx\n'
  const task = await parseTask({ file: 'docs/tasks/T-002.md', text })
  expect(task).toMatchObject({ status: 'TODO', needs: [], touches: ['src/a.ts', 'src/b.ts'], problems: [] })
})

test.each([
  ['T-001, T-003', 'T-003, T-001', true],
  ['T-001', 'T-003', false],
])('dependencies given twice, as %s and %s, agree: %s', async (first, second, agree) => {
  const text = `# T-004: D\n\n- **Status**: TODO\n- **Depends**: ${first}\n- **Depends on**: ${second}\n`
  const task = await parseTask({ file: 'docs/tasks/T-004.md', text })
  expect(task.problems.map(({ kind }) => kind)).toEqual(agree ? [] : ['field-conflict'])
})

test.each([
  ['# T-004: H<sub>2</sub>O and Option<T> <!-- no -->\n', 'H<sub>2</sub>O and Option<T>'],
  ['## T-004: Log in\n\n- **Status**: TODO\n', 'Log in'],
  ['## T-004: Log in\n\n# Another\n', ''],
  ['---\nname: Log in\nstatus: TODO\n---\n', 'Log in'],
  ['---\nname: log-in\ntitle: Log in\nstatus: TODO\n---\n', 'Log in'],
])('the title of %j', async (text, title) => {
  expect((await parseTask({ file: 'docs/tasks/T-004.md', text })).title).toBe(title)
})
