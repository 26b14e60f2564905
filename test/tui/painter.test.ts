import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ENTER, type Frame, type FrameRow, LEAVE, Painter } from '../../src/screen/full/painter.ts'
import { bad, dim, strong, type Piece } from '../../src/screen/block.ts'
import { openScreen } from '../ui/screen.ts'
import { frameText } from './frame-text.ts'

const look = { colour: true, ascii: false }

/** Of one and of two columns, as every terminal counts them. */
const letters = fc.stringMatching(/^[a-z✓●漢字為 ]{0,30}$/)
const piece = letters.chain((text): fc.Arbitrary<Piece> =>
  fc.constantFrom(text, dim(text), strong(text), bad(text)),
)
const size = fc.record({ columns: fc.integer({ min: 8, max: 40 }), rows: fc.integer({ min: 1, max: 8 }) })

/** A row of up to three segments, as panes beside each other are. */
function rowOf(columns: number): fc.Arbitrary<FrameRow> {
  const lines = fc.array(fc.array(piece, { maxLength: 3 }), { minLength: 1, maxLength: 3 })
  return fc
    .tuple(lines, fc.array(fc.integer({ min: 1, max: columns - 1 }), { maxLength: 2 }))
    .map(([texts, cuts]) => {
      const edges = [0, ...[...new Set(cuts)].toSorted((a, b) => a - b), columns]
      return edges
        .slice(0, -1)
        .map((at, index) => ({ at, width: edges[index + 1]! - at, line: texts[index] ?? [] }))
    })
}

const frame = size.chain(({ columns, rows }) =>
  fc
    .array(rowOf(columns), { minLength: rows, maxLength: rows })
    .map((all): Frame => ({ columns, rows: all, cursor: null })),
)

it('shows after any frames and sizes just what the last frame says', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(frame, fc.boolean()), { minLength: 1, maxLength: 6 }),
      async (steps) => {
        const terminal = openScreen(40, 8)
        const painter = new Painter(look)
        terminal.write(ENTER)
        for (const [next, isSpoilt] of steps) {
          await terminal.resize(next.columns, next.rows.length)
          if (isSpoilt) {
            terminal.write('\u001b[Hsomebody else was here')
            painter.forget()
          }
          terminal.write(painter.paint(next))
          const seen = (await terminal.frame()).map((row) => row.trimEnd())
          expect(seen.join('\n')).toBe(frameText(next))
          expect(painter.paint(next)).toBe('')
        }
        terminal.write(LEAVE)
        expect(await terminal.isAlternate()).toBe(false)
        expect(await terminal.frame()).toEqual(Array.from({ length: steps.at(-1)![0].rows.length }, () => ''))
      },
    ),
    { numRuns: Number(process.env['RALPH_PROPERTY_RUNS'] ?? 60) },
  )
})

const segment = (at: number, width: number, ...line: readonly Piece[]) => ({ at, width, line })

it('writes only the segments that have changed, within synchronised output', () => {
  const painter = new Painter({ colour: false, ascii: false })
  const rows = (seconds: string): Frame => ({
    columns: 20,
    rows: [[segment(0, 10, 'left'), segment(10, 10, seconds)], [segment(0, 20, 'below')]],
    cursor: null,
  })
  painter.paint(rows('1s'))
  expect(painter.paint(rows('2s'))).toBe('\u001b[?2026h\u001b[1;11H\u001b[10X2s\u001b[?25l\u001b[?2026l')
})

it('keeps what an agent says in its pane, however wide a terminal takes it for', async () => {
  const painter = new Painter(look)
  const said = [
    '👩‍👩‍👧‍👦👍🏽🇩🇪 ok',
    'e\u0301\u0301\u0301\u0301\u0301\u0301',
    '\u202Eevil',
    '\u001b[2J\u001b[1;1Hgone',
    '\u009b2J',
    '️️️x'.repeat(20),
  ]
  const terminal = openScreen(30, said.length)
  for (const shift of [0, 1, 2, 3]) {
    const rows = said.map((_, row) => [
      segment(0, 1, '|'),
      segment(1, 14, said[(row + shift) % said.length]!),
      segment(15, 1, '|'),
      segment(16, 13, 'right'),
      segment(29, 1, '|'),
    ])
    terminal.write(painter.paint({ columns: 30, rows, cursor: null }))
    for (const row of await terminal.frame()) {
      expect(row).toMatch(/^\|.*\|right {8}\|$/)
      expect(row).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
    }
  }
})

it('touches nothing but the other screen', async () => {
  const terminal = openScreen(30, 4)
  terminal.write('$ what stood there before\n$ ralph watch\n')
  const before = await terminal.allLines()
  const painter = new Painter(look)
  terminal.write(ENTER)
  terminal.write(
    painter.paint({ columns: 30, rows: [[segment(0, 30, 'a frame')]], cursor: { row: 0, column: 3 } }),
  )
  expect(await terminal.cursor()).toEqual({ row: 0, column: 3 })
  // Cut off in the middle of a frame, as by a crash.
  terminal.write('\u001b[?2026h\u001b[31m')
  terminal.write(LEAVE)
  expect(await terminal.allLines()).toEqual(before)
  expect(terminal.written()).not.toContain('\u001b[3J')
})
