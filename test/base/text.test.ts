import { expect, it } from 'vitest'
import { fewOf, shortened } from '../../src/base/text.ts'

it.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b', 'c'], 'a, b, c'],
  [['a', 'b', 'c', 'd'], 'a, b and 2 more'],
])('names a few of many, and says how many more there are: %j', (names, text) => {
  expect(fewOf(names, 3)).toBe(text)
})

it.each([
  ['short', 'short'],
  ['twelve signs', 'twelve signs'],
  ['nine then another', 'nine then…'],
  ['unbreakable-at-all', 'unbreakabl…'],
  ['a unbreakable-at-all', 'a unbreaka…'],
  ['0123456789😀 and more', '0123456789…'],
])('shortens a text, between words where one ends near: %j', (text, short) => {
  expect(shortened(text, text === 'twelve signs' ? 12 : 11)).toBe(short)
})
