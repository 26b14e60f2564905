import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openPane, type Pane } from '../../src/process/pane.ts'

const size = { columns: 20, rows: 5 }

async function showing(text: string): Promise<Pane> {
  const pane = await openPane(size)
  pane.write(Buffer.from(text))
  await pane.settled()
  return pane
}

const plain = (pane: Pane): readonly string[] =>
  pane.rows().map((spans) => spans.map(({ text }) => text).join(''))

test('it holds what a program shows, with how it looks', async () => {
  const pane = await showing(
    'plain \u001b[1;31mred\u001b[0m\r\n\u001b[48;2;1;2;3mwide 漢字\u001b[0m\u001b[4;3H\u001b[?25l',
  )
  expect(pane.rows().slice(0, 2)).toEqual([
    [
      { text: 'plain ', sgr: '' },
      { text: 'red', sgr: '1;38;5;1' },
    ],
    [{ text: 'wide 漢字', sgr: '48;2;1;2;3' }],
  ])
  expect(pane.cursor).toEqual({ row: 3, column: 2, isHidden: true })
})

test('what it repaints is what was there, modes too', async () => {
  const ways = ['\u001b[1m', '\u001b[0m', '\u001b[38;5;200m', '\u001b[7m', '\r\n', '\u001b[2;4H', '\u001b[K']
  const pieces = fc.array(fc.oneof(fc.constantFrom(...ways), fc.string({ maxLength: 8 })), { maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(pieces, async (parts) => {
      const text = parts.join('')
      const pane = await showing(text)
      const again = await showing(pane.repaint())
      expect(again.rows()).toEqual(pane.rows())
      // The last column is where the next character wraps from: a terminal tells it as the one before the edge.
      if (pane.cursor.column < size.columns) expect(again.cursor).toEqual(pane.cursor)
    }),
    { numRuns: 60 },
  )
  const set = await showing('\u001b[?2004h\u001b[?1h\u001b[?1002h\u001b[>1u\u001b[>4;2m')
  expect(set.repaint()).toContain('\u001b[?1h\u001b[?2004h\u001b[?1002h\u001b[?1006h')
  expect(set.repaint()).toContain('\u001b[>1u\u001b[>4;2m')
})

test('it says that something has changed, answers as a terminal, and takes another size', async () => {
  const pane = await openPane(size)
  const replies: string[] = []
  let changes = 0
  pane.onReply((text) => void replies.push(text))
  const forget = pane.onChange(() => void changes++)
  pane.write(Buffer.from('ab\u001b[6n\u001b[?1049h'))
  await pane.settled()
  expect([replies, changes > 0, pane.isAlternate]).toEqual([['\u001b[1;3R'], true, true])
  forget()
  const before = changes
  pane.resize({ columns: 8, rows: 3 })
  pane.write(Buffer.from('\u001b[Hx'))
  await pane.settled()
  expect([changes, plain(pane)]).toEqual([before, ['x', '', '']])
})
