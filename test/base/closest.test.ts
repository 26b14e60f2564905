import { expect, test } from 'vitest'
import { closest } from '../../src/base/spelling.ts'

test.each([
  ['stauts', 'status'],
  ['STATUS', 'status'],
  ['lits', 'list'],
  ['l', undefined],
  ['graph', undefined],
  ['', undefined],
])('%s is meant as %s', (typed, meant) => {
  expect(closest(typed, ['status', 'list', 'lint'])).toBe(meant)
})

test('of two as near the first is meant', () => {
  expect(closest('lit', ['list', 'lint'])).toBe('list')
})

test('a limit says how near is near enough', () => {
  expect(closest('parent', ['agent'])).toBe('agent')
  expect(closest('parent', ['agent'], 1)).toBeUndefined()
})
