import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assemblePrompt } from '../../src/prompt/assemble.ts'
import { authorText } from '../../src/prompt/author-text.ts'
import { gather, makeProject, readTask } from './project.ts'

const line = fc.constantFrom(
  '## Description',
  '## AC',
  '## Hints',
  '## Produces',
  '## Comments',
  '## Completion Notes',
  '## Own words',
  '# Second',
  '### Deep',
  '- [ ] open',
  '  - nested',
  '1. one',
  '',
  '',
  'a paragraph  ',
  'with `code`, *emphasis* and a\\_b',
  '| a | b |',
  '|---|---|',
  '> ## quoted',
  '```',
  '~~~~',
  '    indented',
  '<!-- a comment -->',
  '<!--',
  '-->',
  '---',
  '===',
  '<details>',
  '&amp; [link](x "t")',
  '- **Hints**:',
  '- **Status**: DONE',
  '\ttab',
  '한글 — “quoted”',
  '{{task}}',
  '[^1]: note',
)

describe('the notes of a task that is open again', () => {
  it('are not told as what went wrong', async () => {
    const source = '# T-001: One\n\n- **Status**: TODO\n\n## Completion Notes\nIt uses the old form.\n'
    const project = makeProject()
    const { input } = await gather(project, await readTask('T-001', source))
    const { text } = assemblePrompt(input)
    expect(text).toContain('# What was done before\n\nThis task was done once, and is open again.')
    expect(text).toContain('It uses the old form.')
    expect(text).not.toContain('Learn from what went wrong')
  })
})

describe('the text of a task', () => {
  it('is in the prompt to the last line, however it is written', async () => {
    const project = makeProject()
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 25 }),
        fc.constantFrom('\n', '\r\n'),
        async (lines, ending) => {
          const source = [
            '# T-001: Rich',
            '',
            '- **Status**: TODO',
            '- **Hints**:',
            '  - nested hint',
            '',
            ...lines,
            '',
          ].join(ending)
          const task = await readTask('T-001', source)
          const { text } = assemblePrompt((await gather(project, task)).input)
          for (const section of task.sections.filter(({ form }) => form === 'heading')) {
            const written = source.slice(section.span.start, section.span.end).trimEnd()
            const body = source.slice(section.bodySpan.start, section.bodySpan.end).trim()
            if (body !== '') expect(text).toContain(written)
          }
          const count = (where: string, what: string): number => where.split(what).length - 1
          for (const words of [
            'a paragraph  ',
            '- [ ] open',
            '| a | b |',
            '한글',
            '  - nested hint',
            '- **Status**: TODO',
          ]) {
            expect(count(text, words)).toBe(count(source, words))
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it('is one piece where no section has a place of its own', async () => {
    const source = '# T-001: One\n\n- **Status**: TODO\n\n## Description\nText.\n\n## Notes to self\nMore.'
    const task = await readTask('T-001', source)
    expect(authorText(task)).toEqual({
      body: source,
      acceptance: '',
      produces: '',
      hints: '',
      comments: '',
      past: '',
      notes: '',
    })
  })

  it('leaves out a section that says nothing', async () => {
    const task = await readTask('T-001', '# T-001: One\n\n- **Status**: TODO\n\n## Hints\n\n## AC\n- [ ] a\n')
    expect(authorText(task)).toMatchObject({ hints: '', acceptance: '## AC\n- [ ] a' })
  })
})
