import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonPieces } from '../../src/screen/json-text.ts'

test('a document in pieces is the same JSON as in one', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (document) => {
      expect([...jsonPieces(document)].join('')).toBe(`${JSON.stringify(document, null, 2)}\n`)
    }),
  )
})

test('what is not there is left out, and in a list is null', () => {
  expect([...jsonPieces({ a: undefined, b: [undefined], c: { d: undefined } })].join('')).toBe(
    `${JSON.stringify({ a: undefined, b: [undefined], c: { d: undefined } }, null, 2)}\n`,
  )
})

test('a list may be made while it is written', () => {
  function* numbers(): Iterable<object> {
    yield { number: 1 }
    yield { number: 2 }
  }
  expect(JSON.parse([...jsonPieces({ numbers: numbers() })].join(''))).toEqual({
    numbers: [{ number: 1 }, { number: 2 }],
  })
})

test('what a terminal would obey is escaped', () => {
  expect([...jsonPieces({ text: '\u009b2J' })].join('')).toBe('{\n  "text": "\\u009b2J"\n}\n')
})
