import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readLedger } from '../src/ledger.js'

test('an expense has a date, a category, cents and a note', () => {
  assert.deepEqual(readLedger('2025-01-03,groceries,42.10,weekly shopping\n'), [
    { date: '2025-01-03', category: 'groceries', cents: 4210, note: 'weekly shopping' },
  ])
})

test('the note may be missing, and decimals too', () => {
  const [expense] = readLedger('2025-01-05,travel,18')
  assert.equal(expense.cents, 1800)
  assert.equal(expense.note, '')
})

test('money may come back', () => {
  assert.equal(readLedger('2025-01-09,groceries,-4.20')[0].cents, -420)
  assert.equal(readLedger('2025-01-09,groceries,-0.5')[0].cents, -50)
})

test('blank lines and remarks say nothing', () => {
  assert.deepEqual(readLedger('\n# January\n\n'), [])
})

test('any other line is an error that names it', () => {
  assert.throws(() => readLedger('# January\nfood 12'), /line 2 is not an expense: food 12/)
})
