import fc from 'fast-check'
import { expect, test } from 'vitest'
import { byteSearchFor, searchFor } from '../../src/backlog/select/tier.ts'

const bytesOf = (text: string): string => Buffer.from(text).toString('latin1')

test('a search in bytes never misses a keyword that the search in the text finds', () => {
  const keywords = fc.uniqueArray(fc.constantFrom('task', 'risk-list', 'e2e', 'größe', 'a.b', ''), {
    maxLength: 3,
  })
  const piece = fc.constantFrom(
    'task',
    'taſK',
    'TAS\u212A',
    'riſk-list',
    'E2E',
    'GRÖSSE',
    'Größe',
    'a.b',
    'axb',
    ' ',
    '— ',
  )
  fc.assert(
    fc.property(keywords, fc.array(piece, { maxLength: 6 }), (words, pieces) => {
      const text = pieces.join(' ')
      if (searchFor(words)(text) !== null) expect(byteSearchFor(words)(bytesOf(text))).toBe(true)
    }),
  )
})

test('a search in bytes finds the long s and the sign of Kelvin, and says no where nothing is near', () => {
  const mayHold = byteSearchFor(['task'])
  expect(['Task', 'TAS\u212A', 'taſk', 'tusk', ''].map((text) => mayHold(bytesOf(text)))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ])
  expect(byteSearchFor([])('anything')).toBe(false)
})
