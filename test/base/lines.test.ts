import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LineSplitter } from '../../src/base/stream.ts'

function split(chunks: readonly Uint8Array[], maxBytes?: number): string[] {
  const splitter = new LineSplitter(maxBytes)
  return [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()]
}

test('lines are the same wherever the chunks are cut', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'ü', '漢', '🚀', '\n', '\r\n', '\r', ' ') })
  fc.assert(
    fc.property(text, fc.array(fc.nat(200)), (text, cuts) => {
      const bytes = Buffer.from(text)
      const places = [
        0,
        ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b),
        bytes.length,
      ]
      const chunks = places.slice(1).map((end, i) => bytes.subarray(places[i], end))
      const expected = text.split('\n').map((line) => line.replace(/\r$/, ''))
      if (text.endsWith('\n') || text === '') expected.pop()
      expect(split(chunks)).toEqual(expected)
    }),
  )
})

test('a line over the limit keeps what fits, and the next one is whole', () => {
  const chunks = ['aaaa', 'bbbb', 'cccc\nnext\n', 'dddd', 'eeee'].map((text) => Buffer.from(text))
  expect(split(chunks, 6)).toEqual(['aaaabb', 'next', 'ddddee'])
})

test('bytes that are not UTF-8 are replaced, and swallow no newline', () => {
  expect(split([Buffer.from([0x61, 0xff, 0xe6, 0xbc, 0x0a, 0x62, 0xc3, 0x0a])])).toEqual([
    'a\ufffd\ufffd',
    'b\ufffd',
  ])
})
