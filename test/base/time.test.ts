import { expect, it } from 'vitest'
import { waitText } from '../../src/base/time.ts'

const NOW = new Date(2025, 0, 15, 14, 0, 5)

it.each([
  ['of a second', 14, 0, 6, 'for 1s'],
  ['within the minute', 14, 1, 4, 'for 59s'],
  ['of a minute', 14, 1, 5, 'until 14:01'],
  ['of an hour', 15, 0, 0, 'until 15:00'],
  ['to the next day', 24, 30, 0, 'until 2025-01-16 00:30'],
  ['that is over', 14, 0, 5, 'until 14:00'],
])('a wait %s says when it ends', (_, hours, minutes, seconds, expected) => {
  expect(waitText(new Date(2025, 0, 15, hours, minutes, seconds), NOW)).toBe(expected)
})

it('a part of a second counts as a whole one', () => {
  expect(waitText(new Date(NOW.getTime() + 400), NOW)).toBe('for 1s')
})
