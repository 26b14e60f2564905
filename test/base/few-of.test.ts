import { expect, it } from 'vitest'
import { fewOf } from '../../src/base/text.ts'

it.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b', 'c'], 'a, b, c'],
  [['a', 'b', 'c', 'd'], 'a, b and 2 more'],
])('names a few of many, and says how many more there are: %j', (names, text) => {
  expect(fewOf(names, 3)).toBe(text)
})
