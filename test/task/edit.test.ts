import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { removeField, setField, setStatus } from '../../src/backlog/edit-field.ts'
import { extendSection, removeSection, setSection } from '../../src/backlog/edit-section.ts'
import { setCommit } from '../../src/backlog/finish.ts'
import { type FieldName, sectionOf, type Task } from '../../src/backlog/model.ts'
import { parseTask } from '../../src/backlog/parse.ts'
import { applySplices, type Splice } from '../../src/backlog/markdown/splice.ts'
import { TASK_VOCABULARY, taskVocabulary } from '../../src/backlog/vocabulary.ts'
import { samples } from './styles.ts'

async function read(text: string, id = 'T-004'): Promise<Task> {
  return parseTask({ file: `docs/tasks/${id}.md`, text })
}

async function edited(
  text: string,
  edit: (task: Task) => readonly Splice[],
  id = 'T-004',
): Promise<{ text: string; task: Task }> {
  const task = await read(text, id)
  const source = applySplices(task.source, edit(task))
  const whole = (task.bom ? '\uFEFF' : '') + source
  return { text: whole, task: await read(whole, id) }
}

const set = (name: FieldName, value: string) => (task: Task) => setField(task, name, value, TASK_VOCABULARY)

describe('in a document of any style', () => {
  const owned = fc.constantFrom<FieldName>('Completed', 'Commit', 'Cost')
  const values = fc.constantFrom('2025-01-15 14:30 (8m duration)', 'a41f7c2', '$0.42', '1234567', '12e4567')

  test('a field that is set is read back, and setting it again gives back the bytes', async () => {
    await fc.assert(
      fc.asyncProperty(
        samples,
        fc.constantFrom('TODO', 'DONE', 'BLOCKED'),
        async ({ id, text, meaning }, status) => {
          const there = await edited(text, set('Status', status), id)
          expect(there.task.status).toBe(status)
          expect(there.task.problems).toEqual([])
          const before = await read(text, id)
          const literal = before.fields.find((field) => field.name === 'Status')!.value
          const back = await edited(there.text, set('Status', literal), id)
          expect(back.text).toBe(text)
          expect(back.task.status).toBe(meaning.status)
        },
      ),
      { numRuns: 150 },
    )
  })

  test('a field that is added is read back, everything else as it was, and removing it gives back the bytes', async () => {
    await fc.assert(
      fc.asyncProperty(samples, owned, values, async ({ id, text }, name, value) => {
        const before = await read(text, id)
        const there = await edited(text, set(name, value), id)
        expect(there.task.fields.find((field) => field.name === name)?.value).toBe(value)
        expect(there.task.problems).toEqual([])
        expect(meaningOf(there.task)).toEqual(meaningOf(before))
        const back = await edited(there.text, (task) => removeField(task, name), id)
        expect(back.text).toBe(text)
      }),
      { numRuns: 250 },
    )
  })

  test('a section that is added is read back, everything else as it was, and removing it gives back the bytes', async () => {
    await fc.assert(
      fc.asyncProperty(samples, async ({ id, text }) => {
        const before = await read(text, id)
        const add = (task: Task): readonly Splice[] =>
          setSection(task, 'Completion Notes', 'Done.\n\n- so', TASK_VOCABULARY)
        const there = await edited(text, add, id)
        const section = sectionOf(there.task, 'Completion Notes')!
        expect(
          there.task.source.slice(section.bodySpan.start, section.bodySpan.end).trim().replaceAll('\r', ''),
        ).toBe('Done.\n\n- so')
        expect(meaningOf(there.task)).toEqual(meaningOf(before))
        const back = await edited(there.text, (task) => removeSection(task, 'Completion Notes'), id)
        expect(back.text).toBe(text)
      }),
      { numRuns: 250 },
    )
  })

  test('a section that is replaced keeps what stands around it', async () => {
    await fc.assert(
      fc.asyncProperty(samples, async ({ id, text }) => {
        const replace = (body: string) => (task: Task) => setSection(task, 'Produces', body, TASK_VOCABULARY)
        const before = await read(text, id)
        const section = sectionOf(before, 'Produces')
        fc.pre(section !== undefined && section.form === 'heading')
        const old = before.source.slice(section.bodySpan.start, section.bodySpan.end).trim()
        const there = await edited(text, replace('- `x.ts`'), id)
        expect(there.task.produces).toEqual([{ text: 'x.ts', path: 'x.ts' }])
        const back = await edited(there.text, replace(old), id)
        expect(back.text).toBe(text)
      }),
      { numRuns: 150 },
    )
  })
})

function meaningOf({
  id,
  title,
  status,
  milestone,
  needs,
  touches,
  produces,
  held,
  problems,
}: Task): unknown {
  return { id, title, status, milestone, needs, touches, produces, held, problems }
}

describe('a field', () => {
  const after = (name: FieldName, value: string) => async (text: string) =>
    (await edited(text, set(name, value))).text

  test.each([
    [
      'a bullet after its predecessor',
      '# T-004: a\n\n- **Status**: TODO\n- **Agent**: x\n- **Tags**: y\n',
      '# T-004: a\n\n- **Status**: TODO\n- **Agent**: x\n- **Tags**: y\n- **Commit**: abc\n',
    ],
    [
      'before what the format lists later',
      '# T-004: a\n\n- **Status**: TODO\n- **Cost**: $1\n',
      '# T-004: a\n\n- **Status**: TODO\n- **Commit**: abc\n- **Cost**: $1\n',
    ],
    [
      "with its neighbours' bullet",
      '# T-004: a\n\n*   **Status:** TODO\n',
      '# T-004: a\n\n*   **Status:** TODO\n*   **Commit:** abc\n',
    ],
    [
      'loose among loose',
      '# T-004: a\n\n- Status: TODO\n\n- Tags: a\n\n## B\n',
      '# T-004: a\n\n- Status: TODO\n\n- Tags: a\n\n- Commit: abc\n\n## B\n',
    ],
    [
      'as a line with the hard break of the others',
      '# T-004: a\n\n**Status**: TODO  \n**Tags**: x\n',
      '# T-004: a\n\n**Status**: TODO  \n**Tags**: x  \n**Commit**: abc\n',
    ],
    [
      'as a key of the frontmatter',
      '---\nstatus: TODO\n---\n# T-004: a\n',
      '---\nstatus: TODO\ncommit: abc\n---\n# T-004: a\n',
    ],
    [
      'on the line of its key, below a list of the frontmatter',
      '---\nstatus: TODO\ntags:\n  - a\n  - b\n---\n# T-004: a\n',
      '---\nstatus: TODO\ntags:\n  - a\n  - b\ncommit: abc\n---\n# T-004: a\n',
    ],
    [
      'as a row of the table',
      '# T-004: a\n\n| Key | Value |\n|--|--|\n| **Status** | TODO |\n',
      '# T-004: a\n\n| Key | Value |\n|--|--|\n| **Status** | TODO |\n| **Commit** | abc |\n',
    ],
    [
      'below a heading that has no field yet',
      '# T-004: a\n\n## B\n',
      '# T-004: a\n\n- **Commit**: abc\n\n## B\n',
    ],
    [
      'where there is no final line ending',
      '# T-004: a\n- **Status**: TODO',
      '# T-004: a\n- **Status**: TODO\n- **Commit**: abc',
    ],
    [
      'into its own empty value',
      '# T-004: a\n- **Status**: TODO\n- **Commit**:\n',
      '# T-004: a\n- **Status**: TODO\n- **Commit**: abc\n',
    ],
    [
      'below a value that wraps',
      '# T-004: a\n- **Status**: TODO\n- **Tags**: a,\n  b\n',
      '# T-004: a\n- **Status**: TODO\n- **Tags**: a,\n  b\n- **Commit**: abc\n',
    ],
    [
      'below a nested list',
      '# T-004: a\n- **Status**: TODO\n- **Tags**:\n  - a\n  - b\n',
      '# T-004: a\n- **Status**: TODO\n- **Tags**:\n  - a\n  - b\n- **Commit**: abc\n',
    ],
  ])('is added %s', async (_, text, expected) => {
    expect(await after('Commit', 'abc')(text)).toBe(expected)
  })

  test('keeps the marks and the comment around its value', async () => {
    const text = '# T-004: a\n\n- **Status**: `TODO` <!-- TODO, DONE, BLOCKED -->\n'
    expect((await edited(text, set('Status', 'DONE'))).text).toBe(
      '# T-004: a\n\n- **Status**: `DONE` <!-- TODO, DONE, BLOCKED -->\n',
    )
  })

  test('that stands in two places is written in both', async () => {
    const text = '---\nstatus: "todo"\n---\n# T-004: a\n\n- **Status**: TODO\n'
    expect((await edited(text, set('Status', 'DONE'))).text).toBe(
      '---\nstatus: "DONE"\n---\n# T-004: a\n\n- **Status**: DONE\n',
    )
  })

  test('is written in the words of a team that has its own', async () => {
    const vocabulary = taskVocabulary({
      fields: { Status: ['상태'], Completed: ['완료일'] },
      statuses: { DONE: ['완료'], TODO: ['할일'] },
    })
    const text = '# T-004: 로그인\n\n- **상태**: 할일\n'
    const task = await parseTask({ file: 'docs/tasks/T-004.md', text }, vocabulary)
    expect(task.status).toBe('TODO')
    const splices = [
      ...setStatus(task, 'DONE', vocabulary),
      ...setField(task, 'Completed', '2025-01-15', vocabulary),
    ]
    expect(applySplices(task.source, splices)).toBe(
      '# T-004: 로그인\n\n- **상태**: 완료\n- **완료일**: 2025-01-15\n',
    )
  })
})

describe('a section', () => {
  const note = (task: Task): readonly Splice[] => setSection(task, 'Completion Notes', 'ok', TASK_VOCABULARY)

  test.each([
    [
      'spaced as the others are',
      '# T-004\n\n## A\n\nx\n',
      '# T-004\n\n## A\n\nx\n\n## Completion Notes\n\nok\n',
    ],
    ['close where the others are', '# T-004\n\n## A\nx\n', '# T-004\n\n## A\nx\n\n## Completion Notes\nok\n'],
    [
      'without a final line ending where there was none',
      '# T-004\n\n## A\nx',
      '# T-004\n\n## A\nx\n\n## Completion Notes\nok',
    ],
    [
      'behind a fence that was left open',
      '# T-004\n\n## A\n```js\nx\n',
      '# T-004\n\n## A\n```js\nx\n```\n\n## Completion Notes\nok\n',
    ],
    [
      'behind a comment that was left open',
      '# T-004\n\n## A\n<!-- x\n',
      '# T-004\n\n## A\n<!-- x\n-->\n\n## Completion Notes\nok\n',
    ],
    [
      'in the place of the one that is there',
      '# T-004\n\n## Completion Notes\n\nold\nold\n\n## B\n',
      '# T-004\n\n## Completion Notes\n\nok\n\n## B\n',
    ],
    [
      'under a heading that has nothing below it',
      '# T-004\n\n## Completion Notes',
      '# T-004\n\n## Completion Notes\nok',
    ],
  ])('is written %s', async (_, text, expected) => {
    const there = await edited(text, note)
    expect(there.text).toBe(expected)
    expect(sectionOf(there.task, 'Completion Notes')).toBeDefined()
  })

  test('grows at its end', async () => {
    const grow = (task: Task): readonly Splice[] => extendSection(task, 'Comments', 'two', TASK_VOCABULARY)
    expect((await edited('# T-004\n\n## Comments\n\none\n\n## B\n', grow)).text).toBe(
      '# T-004\n\n## Comments\n\none\n\ntwo\n\n## B\n',
    )
  })
})

test('a commit that YAML would read as a number is quoted, once', async () => {
  const file = 'docs/tasks/T-004.md'
  const text = '---\ntitle: A\nstatus: TODO\n---\n'
  const set = async (source: string, commit: string) =>
    setCommit(await parseTask({ file, text: source }), commit)
  const once = await set(text, '1234567')
  expect(once).toBe('---\ntitle: A\nstatus: TODO\ncommit: "1234567"\n---\n')
  expect(await set(once, '12345e7')).toBe(once.replace('1234567', '12345e7'))
  expect((await parseTask({ file, text: once })).commit).toBe('1234567')
})
