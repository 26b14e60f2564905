import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { answerTask, blockTask, completeTask, retryTask } from '../../src/backlog/finish.ts'
import { sectionOf, type Task } from '../../src/backlog/model.ts'
import { safeNotes } from '../../src/backlog/notes.ts'
import { parseTask } from '../../src/backlog/parse.ts'
import { asSpelled } from '../../src/backlog/status-spelling.ts'
import { taskVocabulary } from '../../src/backlog/vocabulary.ts'
import { anyText, hostileDocuments } from './hostile.ts'
import { samples } from './styles.ts'

const FILE = 'docs/tasks/T-004.md'
const TEXT =
  '# T-004: Add the login form\n\n- **Status**: TODO\n- **Touches**: `a.ts`\n\n## Description\nWhat.\n'
const at = new Date(2025, 0, 15, 14, 30)

async function read(text: string, file = FILE): Promise<Task> {
  return parseTask({ file, text })
}

describe('a completed task', () => {
  test('has its status, its numbers and its notes, and nothing else is changed', async () => {
    const text = completeTask(await read(TEXT), {
      at,
      seconds: 492,
      commit: 'a41f7c2',
      costUsd: 0.424,
      notes: 'Checked on blur.\n\n# How\n\nSee `a.ts`.',
    })
    expect(text).toBe(
      '# T-004: Add the login form\n\n- **Status**: DONE\n- **Touches**: `a.ts`\n' +
        '- **Completed**: 2025-01-15 14:30 (8m duration)\n- **Commit**: a41f7c2\n- **Cost**: $0.42\n\n' +
        '## Description\nWhat.\n\n## Completion Notes\nChecked on blur.\n\n### How\n\nSee `a.ts`.\n',
    )
  })

  test.each([
    [42, '42s'],
    [60, '1m'],
    [492, '8m'],
    [4320, '1h 12m'],
    [3600, '1h'],
  ])('says %i seconds as %s', async (seconds, said) => {
    const text = completeTask(await read(TEXT), { at, seconds, commit: null, costUsd: null, notes: '' })
    expect(text).toContain(`- **Completed**: 2025-01-15 14:30 (${said} duration)\n`)
  })

  test('loses the Commit and the Cost of an earlier completion where this one has none', async () => {
    const again = TEXT.replace('TODO\n', 'TODO\n- **Commit**: 1234567\n- **Cost**: $9.00\n')
    const text = completeTask(await read(again), { at, seconds: 5, commit: null, costUsd: null, notes: '' })
    expect(text).not.toMatch(/Commit|Cost/)
  })

  test.each([
    [
      'a rule and a footer below them',
      '## Completion Notes\nOld.\n\nOlder.\n\n---\n\n*Footer of the team*\n',
      '## Completion Notes\nNew.\n\n---\n\n*Footer of the team*\n',
    ],
    [
      'fields above them',
      '## Completion Notes\n\n- **Completed**: never\n- **Priority**: P1\n\nOld.\n',
      '## Completion Notes\n\n- **Completed**: never\n- **Priority**: P1\n\nNew.\n',
    ],
    ['no more than a rule', '## Completion Notes\nOld.\n\n---\n', '## Completion Notes\nNew.\n'],
    ['a fence with a rule', '## Completion Notes\n```\n\n---\nx\n```\n', '## Completion Notes\nNew.\n'],
  ])('has its notes anew, with %s', async (_, before, after) => {
    const text = completeTask(await read(`${TEXT}\n${before}`), {
      at,
      seconds: 5,
      commit: null,
      costUsd: null,
      notes: 'New.',
    })
    expect(text.slice(text.indexOf('## Completion'))).toBe(after)
  })

  test.each([
    ['- **Completion Notes**: old', 'New.', '- **Completion Notes**: New.'],
    ['- **Completion Notes**:', 'New.', '- **Completion Notes**: New.'],
    ['- **Completion Notes**:\n  - old\n  - older', '- a\n- b', '- **Completion Notes**:\n  - a\n  - b'],
    [
      '* Completion Notes: old\n  older',
      'New.\n\n# More\n\n```\nx\n```',
      '* Completion Notes:\n  New.\n\n  ### More\n\n  ```\n  x\n  ```',
    ],
  ])('has its notes in the field that it has for them: %s', async (field, notes, expected) => {
    const before = await read(TEXT.replace('- **Touches**', `${field}\n- **Touches**`))
    const text = completeTask(before, { at, seconds: 5, commit: null, costUsd: null, notes })
    expect(text).toContain(`\n${expected}\n- **Touches**`)
    expect(text).not.toContain('## Completion Notes')
    const task = await read(text)
    expect([task.status, task.problems]).toEqual(['DONE', []])
    expect(task.sections.filter(({ name }) => name === 'Completion Notes')).toHaveLength(1)
  })

  test('whose fields stand in one row keeps them there', async () => {
    const row = '- **Phase:** 0 · **Status:** TODO · **Depends:** none · **Commit:** 1234567'
    const text = completeTask(await read(`# T-004: Row\n\n${row}\n\n## Description\nWhat.\n`), {
      at,
      seconds: 5,
      commit: null,
      costUsd: null,
      notes: '',
    })
    expect(text).toBe(
      '# T-004: Row\n\n- **Phase:** 0 · **Status:** DONE · **Depends:** none · **Commit:** \n' +
        '- **Completed:** 2025-01-15 14:30 (5s duration)\n\n## Description\nWhat.\n',
    )
  })

  test('is DONE and whole, whatever its style and whatever the notes hold', async () => {
    await fc.assert(
      fc.asyncProperty(samples, fc.oneof(hostileDocuments, anyText), async ({ id, text }, notes) => {
        const file = `docs/tasks/${id}.md`
        const before = await read(text, file)
        const after = await read(
          completeTask(before, { at, seconds: 5, commit: 'a41f7c2', costUsd: 1, notes }),
          file,
        )
        expect(after.status).toBe('DONE')
        expect(after.problems).toEqual([])
        expect([after.title, after.needs, after.touches, after.produces]).toEqual([
          before.title,
          before.needs,
          before.touches,
          before.produces,
        ])
        const own = after.sections.filter((section) => section.name !== 'Completion Notes')
        expect(own.map((section) => section.title)).toEqual(before.sections.map((section) => section.title))
      }),
      { numRuns: 300 },
    )
  })
})

describe('the status that is written', () => {
  const done = async (text: string, neighbours: readonly string[] = [], aliases = {}): Promise<string> => {
    const vocabulary = taskVocabulary(aliases)
    const file = (status: string) => ({ file: FILE, text: `# T-004: A\n\n- **Status**: ${status}\n` })
    const tasks = await Promise.all(neighbours.map((status) => parseTask(file(status), vocabulary)))
    const completion = { at, seconds: 5, commit: null, costUsd: null, notes: '' }
    const task = await parseTask(file(text), vocabulary)
    return /Status\*\*: (.*)/.exec(completeTask(task, completion, asSpelled(vocabulary, tasks)))![1]!
  }

  test.each([
    ['todo', [], 'done'],
    ['Todo', [], 'Done'],
    ['TODO', [], 'DONE'],
    ['`todo`', [], '`done`'],
    ['TODO', ['Done', 'Done', 'DONE'], 'Done'],
    ['todo', ['DONE', 'TODO'], 'done'],
    ['TODO', ['✅ DONE', 'TODO', 'DONE (2026-08-10)'], '✅ DONE'],
  ])('is after %s, beside %j, %s', async (text, neighbours, word) => {
    expect(await done(text, neighbours)).toBe(word)
  })

  test('is the team’s own word as its tasks spell it', async () => {
    const aliases = { statuses: { DONE: ['✅ Complete', 'Complete'], TODO: ['Open'] } }
    expect(await done('Open', [], aliases)).toBe('✅ Complete')
    expect(await done('Open', ['Complete', 'Open'], aliases)).toBe('Complete')
  })
})

describe('fields that stand elsewhere', () => {
  test.each([
    ['a quote', '> Status: TODO\n> Depends: none\n', '> Status: DONE\n> Depends: none\n> Completed: '],
    [
      'the first section',
      '## Metadata\n\n- Status: todo\n- Owner: me\n',
      '## Metadata\n\n- Status: done\n- Completed: ',
    ],
  ])('are edited there: %s', async (_, fields, expected) => {
    const task = await read(`# T-004: A\n\n${fields}\n## Description\nWhat.\n`)
    expect(task).toMatchObject({ status: 'TODO', problems: [] })
    const text = completeTask(task, { at, seconds: 5, commit: null, costUsd: null, notes: '' })
    expect(text.startsWith(`# T-004: A\n\n${expected}`)).toBe(true)
    expect((await read(text)).status).toBe('DONE')
  })

  test.each([
    ['behind a Status of the block', '- **Status**: DONE\n\n> Status: TODO\n', 'DONE'],
    ['beside prose', '> Status: TODO\n> Not yet.\n', null],
    ['within code', '```\n> Status: TODO\n```\n', null],
    ['in a section that says more', '## Metadata\n\n- Status: TODO\n\nMore.\n', null],
    ['in the second section', '## Description\nWhat.\n\n## Metadata\n- Status: TODO\n', null],
  ])('count for nothing %s', async (_, fields, status) => {
    expect((await read(`# T-004: A\n\n${fields}`)).status).toBe(status)
  })

  test.each(['> Status: TODO\n> 需要: T-001\n', '## 元数据\n- Status: TODO\n- 需要: T-001\n'])(
    'fail closed where they name tasks under another word: %j',
    async (fields) => {
      const { problems } = await read(`# T-004: A\n\n${fields}`)
      expect(problems.map(({ kind }) => kind)).toEqual(['bad-depends'])
    },
  )
})

describe('notes', () => {
  test.each([
    ['keep what they say', 'Plain `a_b` and [ ] box, **bold**.', 'Plain `a_b` and [ ] box, **bold**.'],
    [
      'have their headings pushed down together',
      '# One\n## Two\n### Three',
      '### One\n#### Two\n##### Three',
    ],
    ['keep headings that are deep enough', '### One', '### One'],
    [
      'have underlined headings written with marks',
      'One\ntwo\n===\n\nThree\n---',
      '### One two\n\n#### Three',
    ],
    ['have headings in quotes and lists pushed too', '> # One\n\n- # Two', '> ### One\n\n- ### Two'],
    ['lose what a terminal obeys', 'a\u001b[31mred\u001b[0m\u202eb\r\nc\u0000', 'aredb\nc'],
    ['leave code as it is', '```\n# no heading\n```', '```\n# no heading\n```'],
    ['close what is left open', 'Look:\n\n```js\nx()', 'Look:\n\n```js\nx()\n```'],
    ['do not take a text for marks', '#T-004\n-\n', '### #T-004'],
    [
      'are fenced where they would hide what follows',
      '#T-004\n-\n<!DOCTYPE x',
      '```text\n#T-004\n-\n<!DOCTYPE x\n```',
    ],
    ['are fenced where nothing else holds them', '<!-- open', '```text\n<!-- open\n```'],
  ])('%s', (_, notes, expected) => {
    expect(safeNotes(notes)).toBe(expected)
  })
})

describe('a blocked task', () => {
  test('says why, and how to see what was tried', async () => {
    const text = blockTask(await read(TEXT), {
      reason: 'needs STRIPE_KEY\n## Blocked',
      attempts: 2,
      asks: false,
    })
    expect(text).toBe(
      '# T-004: Add the login form\n\n- **Status**: BLOCKED\n- **Touches**: `a.ts`\n\n## Description\nWhat.\n\n' +
        '## Blocked\nneeds STRIPE_KEY\n\\## Blocked\n\n' +
        '2 attempts failed; `ralph attempts T-004` shows all that are kept. To try again: `ralph retry T-004`.\n',
    )
  })

  test('becomes TODO again, and keeps why it was blocked', async () => {
    const blocked = await read(
      blockTask(await read(TEXT), { reason: 'needs a key', attempts: 1, asks: false }),
    )
    const todo = await read(retryTask(blocked))
    expect([todo.status, todo.held, todo.problems]).toEqual(['TODO', false, []])
    expect(sectionOf(todo, 'Blocked')).toBeUndefined()
    expect(todo.source).toMatch(/## Previous Attempts\nneeds a key\n$/)
    const again = retryTask(await read(blockTask(todo, { reason: 'still', attempts: 2, asks: false })))
    expect(again.match(/## Previous Attempts/g)).toHaveLength(1)
    expect(again).toMatch(/needs a key\n\nstill\n$/)
  })

  test('keeps the question of its agent and the answer to it, and of the hints nothing', async () => {
    const asks = { reason: 'Which licence?', attempts: 1, asks: true }
    for (const ending of ['\n', '\r\n']) {
      const blocked = await read(blockTask(await read(TEXT.replaceAll('\n', ending)), asks))
      expect(blocked.source).toContain('Its agent asks. To answer: `ralph answer T-004 "…"`.')
      const todo = await read(retryTask(blocked, undefined, 'MIT *or*\n## BSD'))
      const past = '## Previous Attempts\nWhich licence?\n\n**Answer**: MIT \\*or\\*\n\\## BSD\n'
      expect(todo.source).toBe(TEXT.concat('\n', past).replaceAll('\n', ending))
    }
  })

  test('is answered where it stands, too', async () => {
    const text = answerTask(await read(TEXT), { question: 'Which?', answer: 'MIT' })
    expect(text).toBe(`${TEXT}\n## Previous Attempts\nWhich?\n\n**Answer**: MIT\n`)
  })

  test('can be blocked and retried in any style', async () => {
    await fc.assert(
      fc.asyncProperty(samples, fc.oneof(hostileDocuments, anyText), async ({ id, text }, reason) => {
        const file = `docs/tasks/${id}.md`
        const before = await read(text, file)
        const blocked = await read(blockTask(before, { reason, attempts: 3, asks: false }), file)
        expect([blocked.status, blocked.problems]).toEqual(['BLOCKED', []])
        const todo = await read(retryTask(blocked), file)
        expect([todo.status, todo.held, todo.problems]).toEqual(['TODO', false, []])
        expect([todo.title, todo.needs, todo.produces]).toEqual([before.title, before.needs, before.produces])
      }),
      { numRuns: 150 },
    )
  })
})

describe('a task stays whole', () => {
  const completion = { at, seconds: 492, commit: 'a41f7c2', costUsd: 0.42, notes: 'Done so.' }

  test('whose table has a field as its head', async () => {
    const text =
      '# T-004: A\n\n| Status | TODO |\n|--------|------|\n| Owner  | bob  |\n\n## Description\nx\n'
    const done = completeTask(await read(text), completion)
    expect(done).toContain('| Status | DONE |\n|--------|------|\n| Completed |')
    const task = await read(done)
    expect([task.status, task.commit, task.problems]).toEqual(['DONE', 'a41f7c2', []])
    const again = await read(completeTask(task, { ...completion, commit: null, costUsd: null }))
    expect([again.status, again.commit, again.cost, again.problems]).toEqual(['DONE', null, null, []])
    expect(again.source).toContain('|--------|------|\n| Completed')
  })

  test('whose table has a field as its head that is taken away', async () => {
    const task = await read('# T-004: A\n\n| Commit | abc |\n|---|---|\n| Status | TODO |\n')
    const done = await read(completeTask(task, { ...completion, commit: null }))
    expect([done.status, done.commit, done.problems]).toEqual(['DONE', null, []])
  })

  test.each(['<pre>\nlog', '<script>\nx', '<!-- note', '<?php', '<![CDATA[\nx', '```\nx', '~~~~\nx'])(
    'that leaves %j open at its end',
    async (open) => {
      const text = `# T-004: A\n\n- **Status**: TODO\n\n## Description\n\n${open}\n`
      const blocked = await read(blockTask(await read(text), { reason: 'No key.', attempts: 1, asks: false }))
      expect(sectionOf(blocked, 'Blocked')).toBeDefined()
      const retried = await read(retryTask(blocked))
      expect([retried.status, retried.sections.map(({ name }) => name)]).toEqual([
        'TODO',
        ['Description', 'Previous Attempts'],
      ])
    },
  )

  test('that is in braces fails closed, for no line can be added to them', async () => {
    const task = await read('---\n{status: TODO, milestone: 1}\n---\n# T-004: A\n')
    expect(task.problems).toMatchObject([{ kind: 'bad-frontmatter' }])
  })
})

describe('the reasons of several Blocked sections', () => {
  test.each([
    ['one after the other, at the end', '## Blocked\nFirst.\n\n## Blocked\nSecond.\n'],
    ['apart', '## Blocked\nFirst.\n\n## Description\nx\n\n## Blocked\nSecond.'],
    ['with something open', '## Description\nx\n\n## Blocked\nFirst.\n\n## Blocked\nSecond.\n\n```\nboom\n'],
    [
      'before the attempts',
      '## Blocked\nFirst.\n```\nlog\n```\n\n## Blocked\nSecond.\n\n## Previous Attempts\nOld.\n\n## Hints\nh\n',
    ],
  ])('are kept: %s', async (_, sections) => {
    const task = await read(`# T-004: A\n\n- **Status**: BLOCKED\n\n${sections}`)
    const retried = await read(retryTask(task))
    expect(retried.status).toBe('TODO')
    expect(sectionOf(retried, 'Blocked')).toBeUndefined()
    const { start, end } = sectionOf(retried, 'Previous Attempts')!.bodySpan
    expect(retried.source.slice(start, end)).toMatch(/First\.[\s\S]*Second\./)
    expect(retried.sections.map(({ title }) => title)).toEqual(
      [...new Set(task.sections.map(({ title }) => title))]
        .filter((title) => title !== 'Blocked')
        .concat(sections.includes('Previous') ? [] : ['Previous Attempts']),
    )
  })
})
