import fc from 'fast-check'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { factsOf } from '../../src/backlog/read.ts'
import { VALUE_READERS } from '../../src/backlog/field-values.ts'
import { USUAL_IDS } from '../../src/backlog/ids.ts'
import type { FieldValues } from '../../src/backlog/model.ts'
import { parseTask } from '../../src/backlog/parse.ts'
import { outlineOf } from '../../src/backlog/read-outline.ts'
import { frontmatterIn } from '../../src/backlog/markdown/lines.ts'
import { scanHeadings } from '../../src/backlog/markdown/scan.ts'
import { parsers, withParsers } from '../../src/backlog/markdown/reading.ts'
import { factsScanner } from '../../src/backlog/head-reader.ts'
import { TASK_VOCABULARY } from '../../src/backlog/vocabulary.ts'
import { anyText, hostileDocuments } from './hostile.ts'
import { samples } from './styles.ts'

// The speed of everything rests on this: what the scanner says is what the Markdown parser says, or it says nothing.

const scanner = vi.hoisted(() => ({ declines: false }))

vi.mock('../../src/backlog/markdown/scan.ts', async (load) => {
  const real = await load<typeof import('../../src/backlog/markdown/scan.ts')>()
  const scanHeadings: typeof real.scanHeadings = (source, from) =>
    scanner.declines ? null : real.scanHeadings(source, from)
  return { ...real, scanHeadings }
})

vi.mock('../../src/backlog/markdown/inline.ts', async (load) => {
  const real = await load<typeof import('../../src/backlog/markdown/inline.ts')>()
  return { ...real, scanInlineText: (raw: string) => (scanner.declines ? null : real.scanInlineText(raw)) }
})

/** What the Markdown parser alone says. */
async function parsed<T>(read: () => T): Promise<Awaited<T>> {
  scanner.declines = true
  try {
    return await read()
  } finally {
    scanner.declines = false
  }
}

beforeAll(() => withParsers(parsers))

/** Returns whether the scanner did not decline. */
async function agrees(source: string): Promise<boolean> {
  expect(outlineOf(source, TASK_VOCABULARY)).toEqual(await parsed(() => outlineOf(source, TASK_VOCABULARY)))
  return scanHeadings(source, frontmatterIn(source)?.end ?? 0) !== null
}

const scanHead = factsScanner(TASK_VOCABULARY, { facts: [] })

/** The head reader says of selection what the parser says, or declines. */
async function headAgrees(file: string, text: string): Promise<boolean> {
  const taskBytes = { file, id: USUAL_IDS.inPath(file), bytes: Buffer.from(text).toString('latin1') }
  const head = scanHead(taskBytes)
  if (head === null) return false
  const { id, number, status, needs, held, problems } = await parsed(() => parseTask({ file, text }))
  expect(head).toEqual({ id, number, file, status, needs, held, problems })
  return true
}

const VALUES = Object.keys(VALUE_READERS) as (keyof FieldValues)[]
const scanFacts = factsScanner(TASK_VOCABULARY, {
  facts: ['title', 'depends', 'produces', 'outputs', 'fields', ...VALUES],
})

/** The facts reader says what is told of the whole task, or declines. */
async function factsAgree(file: string, text: string): Promise<boolean> {
  const facts = scanFacts({ file, id: USUAL_IDS.inPath(file), bytes: Buffer.from(text).toString('latin1') })
  if (facts === null) return false
  expect(facts).toEqual(factsOf(await parsed(() => parseTask({ file, text }))))
  return true
}

const runs = Number(process.env['RALPH_PROPERTY_RUNS'] ?? 2000)

describe('the scanner and the Markdown parser agree, or the scanner declines,', () => {
  test('on documents of every style', async () => {
    await fc.assert(
      fc.asyncProperty(samples, async ({ text }) => {
        await agrees(text.replace(/^\uFEFF/, ''))
      }),
      { numRuns: runs / 4 },
    )
  })

  test('on documents made to mislead it, of which it does not decline most', async () => {
    let told = 0
    await fc.assert(
      fc.asyncProperty(hostileDocuments, async (text) => {
        told += Number(await agrees(text))
      }),
      { numRuns: runs },
    )
    expect(told).toBeGreaterThan(runs / 10)
  })

  test('on heads alone, too', async () => {
    let told = 0
    const head = fc.constantFrom('', '# T-004: Title\n\n- **Status**: TODO\n- **Depends**: T-001, T-1\n\n')
    await fc.assert(
      fc.asyncProperty(head, hostileDocuments, async (start, text) => {
        told += Number(await headAgrees('docs/tasks/T-004.md', start + text))
      }),
      { numRuns: runs },
    )
    await fc.assert(
      fc.asyncProperty(samples, async ({ id, text }) => {
        await headAgrees(`docs/tasks/${id}.md`, text)
      }),
      { numRuns: runs / 4 },
    )
    expect(told).toBeGreaterThan(runs / 100)
  })

  const HEAD =
    '# T-004: A — title\n\n- **Status**: TODO\n- **Depends**: T-001, T-1\n- **Touches**: `src/ü.ts`, à\n\n'

  test('on what an overview tells, too', async () => {
    let told = 0
    const start = fc.constantFrom('', HEAD)
    const sections = fc.constantFrom('', '\n## Produces\n- `docs/ü.md`\n- Tests à\n- —\n')
    await fc.assert(
      fc.asyncProperty(start, sections, hostileDocuments, async (start, middle, text) => {
        told += Number(await factsAgree('docs/tasks/T-004.md', start + middle + text))
      }),
      { numRuns: runs, examples: [[HEAD, '', '## 阻塞\nnone\n- T-009']] },
    )
    await fc.assert(
      fc.asyncProperty(samples, async ({ id, text }) => {
        told += Number(await factsAgree(`docs/tasks/${id}.md`, text))
      }),
      { numRuns: runs / 4 },
    )
    expect(told).toBeGreaterThan(runs / 100)
  })

  test('on any text', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, async (text) => {
        await agrees(text)
      }),
      { numRuns: runs },
    )
  })
})
