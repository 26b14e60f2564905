import fc from 'fast-check'
import { expect, test } from 'vitest'
import { idInPath } from '../../src/task/file-name.ts'
import { parseTaskWith } from '../../src/task/parse.ts'
import { loadParsers } from '../../src/task/reading.ts'
import { scanEnd } from '../../src/task/scan-end.ts'
import { TASK_VOCABULARY } from '../../src/task/vocabulary.ts'
import { hostileDocuments } from './hostile.ts'
import { samples } from './styles.ts'

const FILE = 'docs/tasks/T-004.md'
const parsers = await loadParsers()

/** What the quick reader says is what the parser says, or it says nothing. */
function agrees(text: string): boolean {
  const end = scanEnd({ file: FILE, id: idInPath(FILE), bytes: Buffer.from(text) }, TASK_VOCABULARY)
  if (end === null) return false
  const { id, number, file, status, commit } = parseTaskWith({ file: FILE, text }, TASK_VOCABULARY, parsers)
  expect(end).toEqual({ id, number, file, status, commit })
  return true
}

const head = (...fields: string[]) => `# T-004: Add it\n\n${fields.join('\n')}\n\n## Description\nDo it.\n`

test.each([
  head('- **Status**: DONE', '- **Commit**: a41f7c2'),
  head('- **Status**: DONE', '- **Commit**: `a41f7c2`'),
  head('- **Status**: TODO', '- **Commit**: none'),
  head('- **Status**: DONE', '- **Milestone**: 1 — Größe', '- **Commit**:'),
  head('- **Status**: DONE', `- **Touches**: ${'`src/a.ts`, '.repeat(200)}\`b.ts\``, '- **Commit**: a41f7c2'),
  head('- **Status**: DONE', '- **Commit**: a41f7c2').replaceAll('\n', '\r\n'),
])('the end of a plain task is read as the parser reads it: %#', (text) => {
  expect(agrees(text)).toBe(true)
})

test('of any other task nothing is said that the parser does not say', () => {
  fc.assert(
    fc.property(samples, ({ text }) => void agrees(text)),
    { numRuns: 300 },
  )
  fc.assert(
    fc.property(hostileDocuments, (text) => void agrees(text)),
    { numRuns: 300 },
  )
})
