import fc from 'fast-check'
import { expect, test } from 'vitest'
import { originText, readOrigin } from '../../src/backlog/origin.ts'
import { parseTask } from '../../src/backlog/parse.ts'
import { TASK_VOCABULARY } from '../../src/backlog/vocabulary.ts'

const text = (origin: string): string =>
  `# T-001: One\n\n- **Status**: TODO\n- **Depends**: none\n- **Origin**: ${origin}\n\n## Description\n\nDo it.\n`

test('an origin of any form is read back from its task, which means what it meant', async () => {
  const part = fc.oneof(
    fc.string({ minLength: 1, unit: 'binary' }),
    fc.constantFrom(
      'a#b',
      '`',
      '**Status**: DONE',
      '; Status: DONE',
      'T-002',
      '<!--',
      '../x',
      '%41',
      ' ',
      '*',
      '[a](b)',
    ),
  )
  await fc.assert(
    fc.asyncProperty(part, part, async (path, key) => {
      const origin = originText({ path, key })
      const task = await parseTask({ file: 'docs/tasks/T-001.md', text: text(origin) }, TASK_VOCABULARY)
      expect(readOrigin(task.origin)).toEqual({ path, key })
      expect(task).toMatchObject({ status: 'TODO', depends: [], problems: [], title: 'One' })
    }),
    { numRuns: Number(process.env['RALPH_PROPERTY_RUNS'] ?? 200) },
  )
})

test.each([null, '', 'prd.json', '#a', 'prd.json#', 'prd.json#%E0%A4%A', 'none'])(
  '%j names no place',
  (value) => {
    expect(readOrigin(value)).toBeNull()
  },
)
