import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Diagnostic } from '../../src/base/diagnostic.ts'
import type { LintContext } from '../../src/backlog/lint/rule.ts'
import { lint } from '../../src/backlog/lint/lint.ts'
import { RULES } from '../../src/backlog/lint/rules.ts'
import { parseTask, unreadableTask } from '../../src/backlog/parse.ts'
import { taskVocabulary } from '../../src/backlog/vocabulary.ts'

const GOOD = [
  '# T-001: Add the login form',
  '',
  '- **Status**: TODO',
  '- **Milestone**: 1 — Authentication',
  '- **Complexity**: Light',
  '',
  '## Description',
  'Email and password.',
  '',
  '## Acceptance Criteria',
  '- [ ] An empty password is refused',
  '',
].join('\n')

async function lintTexts(texts: Record<string, string>, context: LintContext = {}): Promise<Diagnostic[]> {
  const vocabulary = taskVocabulary(context.aliases)
  const files = Object.entries(texts).map(([name, text]) => ({ file: `docs/tasks/${name}`, text }))
  return lint(await Promise.all(files.map((file) => parseTask(file, vocabulary))), context)
}

const lintText = (text: string, context: LintContext = {}) => lintTexts({ 'T-001.md': text }, context)
const brief = ({ line, column, rule }: Diagnostic): string => `${line}:${column} ${rule}`

describe('lint', () => {
  test('says nothing of a good task, with whatever line ends and byte order mark', async () => {
    for (const text of [GOOD, GOOD.replaceAll('\n', '\r\n'), `\uFEFF${GOOD}`]) {
      expect(await lintText(text, { disciplines: [], features: [] })).toEqual([])
    }
  })

  test('goes on after an empty backlog and a file that cannot be read', async () => {
    expect(lint([])).toEqual([])
    const tasks = [unreadableTask('docs/tasks/T-002.md', 'is not UTF-8 text')]
    expect(lint(tasks).map((found) => `${brief(found)} ${found.message}`)).toEqual([
      '1:1 unreadable is not UTF-8 text',
    ])
  })

  test.each([
    [
      'frontmatter that cannot be read',
      '---\nstatus: TODO\nfoo: [a\n---\n\nText.\n',
      ['4:1 bad-frontmatter'],
    ],
    ['no heading and no field', 'Text.\n', ['1:1 no-heading']],
    ['nothing', '', ['1:1 no-heading']],
    ['no Status', '# T-001: A\n\nText.\n', ['1:1 no-status']],
    [
      'two Depends',
      GOOD.replace('TODO', 'TODO\n- **Depends**: T-001\n- **Depends**: T-002'),
      ['4:16 self-dependency', '5:16 field-conflict'],
    ],
  ])('says of %s nothing that only follows from it', async (_, text, expected) => {
    expect((await lintText(text)).map(brief)).toEqual(expected)
  })

  test('sorts by file, line and column', async () => {
    const wrong = GOOD.replace('Light', 'Lihgt').replace('1 — Authentication', 'Login')
    const found = await lintTexts({ 'T-010.md': wrong.replace('T-001', 'T-010'), 'T-001.md': wrong })
    expect(found.map((each) => `${each.file} ${brief(each)}`)).toEqual([
      'docs/tasks/T-001.md 4:18 bad-milestone',
      'docs/tasks/T-001.md 5:19 bad-complexity',
      'docs/tasks/T-010.md 4:18 bad-milestone',
      'docs/tasks/T-010.md 5:19 bad-complexity',
    ])
  })

  test('sorts by column what stands in one line', async () => {
    const found = await lintTexts({
      'T-001.md': GOOD,
      'T-002.md': GOOD.replace('T-001', 'T-002').replace('- **Complexity**', '- **Depends**: T-1, soon\n$&'),
    })
    expect(found.map(brief)).toEqual(['5:16 dependency-spelling', '5:21 bad-depends'])
  })

  test('gives the same places with CRLF and with a byte order mark', async () => {
    const wrong = GOOD.replace('Light', 'Lihgt')
    const wanted = ['5:19 bad-complexity']
    for (const text of [wrong, wrong.replaceAll('\n', '\r\n'), `\uFEFF${wrong}`]) {
      expect((await lintText(text)).map(brief)).toEqual(wanted)
    }
  })

  test('asks whoever knows the links whether a path is outside', async () => {
    const text = GOOD.replace('- **Complexity**', '- **Touches**: a/link.ts, ../beside.ts\n- **Complexity**')
    const isOutside = (path: string): boolean => path === 'a/link.ts'
    expect((await lintText(text)).map(brief)).toEqual(['5:27 outside-path'])
    expect((await lintText(text, { isOutside })).map(brief)).toEqual(['5:16 outside-path'])
  })

  test('checks names only where they are known', async () => {
    const text = GOOD.replace('- **Complexity**', '- **Discipline**: frontend\n- **Complexity**')
    expect(await lintText(text)).toEqual([])
    expect(await lintText(text, { disciplines: ['frontend'] })).toEqual([])
    expect((await lintText(text, { disciplines: [] })).map(brief)).toEqual(['5:19 unknown-discipline'])
  })

  test("leaves a team's own words alone", async () => {
    const aliases = { statuses: { TODO: ['todo'], DONE: ['완료'] }, fields: { Status: ['상태'] } }
    for (const status of ['- **상태**: 완료', '- **Status**: todo']) {
      expect(await lintText(GOOD.replace('- **Status**: TODO', status), { aliases })).toEqual([])
    }
    expect((await lintText(GOOD.replace('TODO', 'todo'))).map(brief)).toEqual(['3:15 status-case'])
  })

  test('asks nothing more of a task that is DONE', async () => {
    expect(await lintText('# T-001: Add the login form\n\n- **Status**: DONE\n')).toEqual([])
  })
})

describe('misspelled-key and misspelled-section', () => {
  const words = [
    'Owner',
    'Parent',
    'Module',
    'Estimate',
    'Future',
    'State',
    'Type',
    'Notes',
    'Blockers',
    'Context notes',
  ]

  test.each(words)('leave %s alone', async (word) => {
    const text =
      GOOD.replace('- **Complexity**', `- **${word}**: x\n- **Complexity**`) + `\n## ${word}\nText.\n`
    expect(await lintText(text)).toEqual([])
  })
})

describe('no input', () => {
  const markdown = [
    '# T-001',
    '## ',
    'Hints',
    'Blocked',
    '---\n',
    '```',
    '<!--',
    '-->',
    '| a | b |',
    '`',
    '\\',
  ]
  const fields = ['- **Status**: ', 'todo', '- **Depends**: ', 'T-1, ', 'T-10', '–', '- **Touches**: ', '../']
  const units = ['\n', '\n\n', '\r\n', '\r', '\uFEFF', '\uD800', '\0', 'é', '日本']
  const pieces = fc.constantFrom(...markdown, ...fields, ...units)

  test('makes a rule throw, or find something outside the file', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { maxLength: 40 }), async (parts) => {
        const text = parts.join('')
        const lines = text.split(/\r\n|\n|\r/)
        for (const { line, column, rule } of await lintText(text, { disciplines: [], features: [] })) {
          expect(RULES.map(({ name }) => name)).toContain(rule)
          expect(line).toBeLessThanOrEqual(lines.length)
          expect(column).toBeLessThanOrEqual(lines[line - 1]!.length + 1)
        }
      }),
      { numRuns: 500 },
    )
  })
})
