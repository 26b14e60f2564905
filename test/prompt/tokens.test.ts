import * as fc from 'fast-check'
import { estimateTokenCount } from 'tokenx'
import { describe, expect, it } from 'vitest'
import { countAsciiTokens, countTokens, countUpTo, cutEnd, cutStart } from '../../src/prompt/tokens.ts'

const text = fc
  .array(
    fc.oneof(
      fc.constantFrom('word ', '\n', '\r\n', '   ', '漢字', '、', '한글', '{};', 'x'.repeat(50), '😀'),
      fc.string(),
    ),
    {
      maxLength: 60,
    },
  )
  .map((pieces) => pieces.join(''))

describe('a cut', () => {
  it('leaves the start of the text, within the limit', () => {
    fc.assert(
      fc.property(text, fc.nat(80), (text, limit) => {
        const cut = cutEnd(text, limit)
        const kept = cut?.text ?? text
        expect(text.startsWith(kept)).toBe(true)
        expect(countTokens(kept)).toBeLessThanOrEqual(limit)
      }),
    )
  })

  it('leaves the end of the text, within the limit', () => {
    fc.assert(
      fc.property(text, fc.nat(80), (text, limit) => {
        const kept = cutStart(text, limit)?.text ?? text
        expect(text.endsWith(kept)).toBe(true)
        expect(countTokens(kept)).toBeLessThanOrEqual(limit)
      }),
    )
  })

  it('is made between lines, and says how many it leaves', () => {
    expect(cutEnd('one two\nthree four\nfive six\n', 7)).toEqual({
      text: 'one two\nthree four\n',
      lines: 2,
      of: 3,
    })
    expect(cutStart('one two\nthree four\nfive six', 7)).toEqual({
      text: 'three four\nfive six',
      lines: 2,
      of: 3,
    })
  })

  it('is made within a line that alone is too long, and through no character', () => {
    expect(cutEnd('😀'.repeat(100), 10)?.text).toMatch(/^(?:😀)+$/u)
    expect(cutStart('😀'.repeat(100), 10)?.text).toMatch(/^(?:😀)+$/u)
    expect(cutEnd('x'.repeat(1000), 10)).toMatchObject({ lines: 0, of: 1 })
  })
})

describe('the count', () => {
  it('is that of tokenx, also where the quicker way takes it', () => {
    const pieces = fc.constantFrom(
      'word',
      'CamelCaseWord',
      'a',
      '12',
      '123456',
      ' ',
      '   ',
      '\n',
      '\r\n',
      '\t',
      '\r',
      '.',
      '({',
      '=>=>',
      "'",
      '_',
      '----------',
      '\u0000',
      'isn',
    )
    const ascii = fc.oneof(
      fc.array(pieces).map((all) => all.join('')),
      fc.string({ unit: 'binary-ascii' }),
    )
    fc.assert(
      fc.property(ascii, (text) => {
        expect(countAsciiTokens(text)).toBe(estimateTokenCount(text))
      }),
      { numRuns: 2000 },
    )
    expect(countAsciiTokens('caf\u00e9')).toBeNull()
  })

  it('of a text of blanks is not nothing', () => {
    expect(countTokens(' '.repeat(16_000))).toBe(1000)
  })

  it('ends at a limit', () => {
    expect(countUpTo('word '.repeat(100), 10)).toBe(10)
    expect(countUpTo('one two', 10)).toBe(2)
  })
})
