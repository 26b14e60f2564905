import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseTask } from '../../src/backlog/parse.ts'
import { fixTexts } from './fix-texts.ts'

const task = (id: string, status: string, depends: string): string =>
  `# ${id}: Do it\n\n* **Status** : ${status}\n*  **Depends**:  ${depends}  \n\n## Description\nSet it to todo, see T-1.\n`

describe('a fix', () => {
  test('leaves what is right alone, and what has no one right answer', async () => {
    const wrong = task('T-002', 'Later', 'T-99, the others').replace('Do it', '')
    expect(await fixTexts({ 'T-001.md': task('T-001', 'TODO', 'none'), 'T-002.md': wrong })).toEqual({})
  })

  test('changes what it mends and not one byte more', async () => {
    const before = `\uFEFF${task('T-002', 'done', 't-1 (merged), T-1').replaceAll('\n', '\r\n')}`
    const texts = { 'T-001.md': task('T-001', 'DONE', 'none'), 'T-002.md': before }
    expect(await fixTexts(texts)).toEqual({
      'T-002.md': before.replace('done', 'DONE').replace('t-1 (', 'T-001 ('),
    })
  })

  test('leaves a range whole', async () => {
    const texts = {
      'T-001.md': task('T-001', 'TODO', 'none'),
      'T-002.md': task('T-002', 'TODO', 'none'),
      'T-003.md': task('T-003', 'TODO', 'T-1..T-2'),
      'T-004.md': task('T-004', 'TODO', '[T-1] to T-3, t-2'),
    }
    expect(await fixTexts(texts)).toEqual({})
  })

  test('mends a status wherever it stands', async () => {
    const before = '# T-001: Do it\n\n- **Status**: todo\n- **status**: Todo\n'
    const after = '# T-001: Do it\n\n- **Status**: TODO\n- **status**: TODO\n'
    expect(await fixTexts({ 'T-001.md': before })).toEqual({ 'T-001.md': after })
  })

  test('tells ids from the beginnings of others', async () => {
    const texts = {
      'T-001.md': task('T-001', 'TODO', 'none'),
      'T-010.md': task('T-010', 'TODO', 'none'),
      'T-011.md': task('T-011', 'TODO', 'T-10, T-1'),
      'T-0100.md': task('T-0100', 'TODO', 'T-0100, T-01'),
    }
    expect(await fixTexts(texts)).toEqual({
      'T-011.md': task('T-011', 'TODO', 'T-010, T-001'),
      'T-0100.md': task('T-0100', 'TODO', 'T-0100, T-001'),
    })
  })

  test('works in frontmatter, in links and in code marks', async () => {
    const texts = {
      'T-001.md': task('T-001', 'TODO', 'none'),
      'T-002.md': '---\nstatus: todo\ndepends_on: [T-1]\n---\n# T-002: Do it\n',
      'T-003.md': task('T-003', '`Todo`', '[T-1](T-001.md)'),
    }
    expect(await fixTexts(texts)).toEqual({
      'T-002.md': '---\nstatus: TODO\ndepends_on: [T-001]\n---\n# T-002: Do it\n',
      'T-003.md': task('T-003', '`TODO`', '[T-001](T-001.md)'),
    })
  })

  test('does not choose between two files with one number', async () => {
    const texts = {
      'T-001.md': task('T-001', 'TODO', 'none'),
      'T-01.md': task('T-01', 'TODO', 'none'),
      'T-002.md': task('T-002', 'TODO', 'T-1'),
    }
    expect(await fixTexts(texts)).toEqual({})
  })

  test("keeps a team's own words", async () => {
    const aliases = { statuses: { TODO: ['todo'] } }
    expect(await fixTexts({ 'T-001.md': task('T-001', 'todo', 'none') }, { aliases })).toEqual({})
  })
})

test('a second time there is nothing to mend, and all that was mended means the same', async () => {
  const status = fc.constantFrom('TODO', 'todo', 'Done', '`done`', '**Blocked**', 'later', '')
  const id = fc.constantFrom(
    'T-1',
    't-1',
    'T-01',
    'T-10',
    'T-0010',
    '[T-2](T-002.md)',
    'T-1–T-2',
    '`T-3`',
    'T-99',
  )
  const depends = fc.array(id, { maxLength: 4 }).map((ids) => ids.join(', '))
  const backlogs = fc.array(fc.tuple(status, depends), { minLength: 3, maxLength: 11 })
  await fc.assert(
    fc.asyncProperty(backlogs, async (sketches) => {
      const texts = Object.fromEntries(
        sketches.map(([status, depends], index) => {
          const id = `T-${String(index + 1).padStart(3, '0')}`
          return [`${id}.md`, task(id, status, depends)]
        }),
      )
      const fixed = await fixTexts(texts)
      expect(await fixTexts({ ...texts, ...fixed })).toEqual({})
      for (const [file, text] of Object.entries(fixed)) {
        const meaningOf = async (text: string) => {
          const { status, depends } = await parseTask({ file, text })
          return [status, depends.map(({ number }) => number)]
        }
        expect(await meaningOf(text)).toEqual(await meaningOf(texts[file]!))
      }
    }),
    { numRuns: 60 },
  )
})
