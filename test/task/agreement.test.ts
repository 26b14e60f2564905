import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { factsOf } from '../../src/backlog/read.ts'
import { VALUE_READERS } from '../../src/backlog/field-values.ts'
import { idInPath } from '../../src/backlog/task-folders.ts'
import type { FieldValues } from '../../src/backlog/model.ts'
import { parseTaskWith } from '../../src/backlog/parse.ts'
import { parseOutline, scanOutline } from '../../src/backlog/read-outline.ts'
import { loadParsers, type Parsers } from '../../src/backlog/reading.ts'
import { factsScanner } from '../../src/backlog/head-reader.ts'
import { TASK_VOCABULARY } from '../../src/backlog/vocabulary.ts'
import { anyText, hostileDocuments } from './hostile.ts'
import { samples } from './styles.ts'

// The speed of everything rests on this: what the scanner says is what the Markdown parser says, or it says nothing.

let parsers: Parsers

beforeAll(async () => {
  parsers = await loadParsers()
})

function agrees(source: string): 'alone' | 'helped' | 'declined' {
  const alone = scanOutline(source, TASK_VOCABULARY, null)
  const helped = alone ?? scanOutline(source, TASK_VOCABULARY, parsers)
  if (helped !== null) expect(helped).toEqual(parseOutline(source, TASK_VOCABULARY, parsers))
  return alone ? 'alone' : helped ? 'helped' : 'declined'
}

const scanHead = factsScanner(TASK_VOCABULARY, { facts: [] })

/** The head reader says of selection what the parser says, or declines. */
function headAgrees(file: string, text: string): boolean {
  const taskBytes = { file, id: idInPath(file), bytes: Buffer.from(text).toString('latin1') }
  const head = scanHead(taskBytes)
  if (head === null) return false
  const { id, number, status, needs, held, problems } = parseTaskWith(
    { file, text },
    TASK_VOCABULARY,
    parsers,
  )
  expect(head).toEqual({ id, number, file, status, needs, held, problems })
  return true
}

const VALUES = Object.keys(VALUE_READERS) as (keyof FieldValues)[]
const scanFacts = factsScanner(TASK_VOCABULARY, {
  facts: ['title', 'depends', 'produces', 'outputs', 'fields', ...VALUES],
})

/** The facts reader says what is told of the whole task, or declines. */
function factsAgree(file: string, text: string): boolean {
  const facts = scanFacts({ file, id: idInPath(file), bytes: Buffer.from(text).toString('latin1') })
  if (facts === null) return false
  expect(facts).toEqual(factsOf(parseTaskWith({ file, text }, TASK_VOCABULARY, parsers)))
  return true
}

const runs = Number(process.env['RALPH_PROPERTY_RUNS'] ?? 2000)

describe('the scanner and the Markdown parser agree, or the scanner declines,', () => {
  test('on documents of every style', () => {
    fc.assert(
      fc.property(samples, ({ text }) => {
        agrees(text.replace(/^\uFEFF/, ''))
      }),
      { numRuns: runs / 4 },
    )
  })

  test('on documents made to mislead it, of which it does not decline most', () => {
    const told = { alone: 0, helped: 0, declined: 0 }
    fc.assert(
      fc.property(hostileDocuments, (text) => {
        told[agrees(text)]++
      }),
      { numRuns: runs },
    )
    expect(told.alone + told.helped).toBeGreaterThan(runs / 10)
  })

  test('on heads alone, too', () => {
    let told = 0
    const head = fc.constantFrom('', '# T-004: Title\n\n- **Status**: TODO\n- **Depends**: T-001, T-1\n\n')
    fc.assert(
      fc.property(head, hostileDocuments, (start, text) => {
        told += Number(headAgrees('docs/tasks/T-004.md', start + text))
      }),
      { numRuns: runs },
    )
    fc.assert(
      fc.property(samples, ({ id, text }) => {
        headAgrees(`docs/tasks/${id}.md`, text)
      }),
      { numRuns: runs / 4 },
    )
    expect(told).toBeGreaterThan(runs / 100)
  })

  const HEAD =
    '# T-004: A — title\n\n- **Status**: TODO\n- **Depends**: T-001, T-1\n- **Touches**: `src/ü.ts`, à\n\n'

  test('on what an overview tells, too', () => {
    let told = 0
    const start = fc.constantFrom('', HEAD)
    const sections = fc.constantFrom('', '\n## Produces\n- `docs/ü.md`\n- Tests à\n- —\n')
    fc.assert(
      fc.property(start, sections, hostileDocuments, (start, middle, text) => {
        told += Number(factsAgree('docs/tasks/T-004.md', start + middle + text))
      }),
      { numRuns: runs, examples: [[HEAD, '', '## 阻塞\nnone\n- T-009']] },
    )
    fc.assert(
      fc.property(samples, ({ id, text }) => {
        told += Number(factsAgree(`docs/tasks/${id}.md`, text))
      }),
      { numRuns: runs / 4 },
    )
    expect(told).toBeGreaterThan(runs / 100)
  })

  test('on any text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        agrees(text)
      }),
      { numRuns: runs },
    )
  })
})
