import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FailureOutput } from '../../src/engine/gates/failure-output.ts'

function read(...chunks: readonly (string | Uint8Array)[]): FailureOutput {
  const output = new FailureOutput()
  for (const chunk of chunks) output.push(Buffer.from(chunk as string))
  output.end()
  return output
}
const lines = (count: number, text: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => `${text(i + 1)}\n`).join('')

describe('an excerpt', () => {
  test('is the whole of a short output, without colours and what was overwritten', () => {
    const text = '\u001b[31mFAIL\u001b[39m a\n10%\r50%\r100%\n\n\n\nb\u0007\u0000c\r\n'
    expect(read(text).excerpt()).toBe('FAIL a\n100%\n\nbc')
  })

  test('of a long one is its errors, what follows them, and its end', () => {
    const text = `${lines(500, (i) => `step ${i}`)}src/a.ts(3,5): error TS2304: no x\n  3 x\n    ~\n${lines(500, (i) => `more ${i}`)}`
    const excerpt = read(text).excerpt().split('\n')
    expect(excerpt.slice(0, 5)).toEqual(['…', 'src/a.ts(3,5): error TS2304: no x', '  3 x', '    ~', '…'])
    expect(excerpt.slice(5)).toEqual(Array.from({ length: 100 }, (_, i) => `more ${401 + i}`))
  })

  test('shows no line twice where the errors are at the end', () => {
    const text = lines(500, (i) => (i === 499 ? 'Error: no' : `step ${i}`))
    expect(
      read(text)
        .excerpt()
        .match(/Error: no/g),
    ).toHaveLength(1)
  })

  test('leaves out lines that only count errors that are not there', () => {
    const text = `0 errors\nno failures\nFound 0 type errors\n${lines(500, (i) => `step ${i}`)}`
    expect(read(text).excerpt()).not.toMatch(/errors|failures/)
  })

  test('of endless lines is bounded', () => {
    const excerpt = read(`error ${'x'.repeat(1_000_000)}\n${'y'.repeat(1_000_000)}`).excerpt()
    expect(excerpt.split('\n').map((line) => line.length)).toEqual([400, 400])
  })

  test('is bounded in bytes, well-formed and the same wherever the chunks are cut', () => {
    const piece = fc.constantFrom(
      'error: a\n',
      'step 漢字\n',
      '🚀'.repeat(300),
      'FAIL b\n',
      '\n',
      '\r',
      '\u001b[1m',
      'x',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 200 }), fc.integer({ min: 40, max: 3000 }), (pieces, max) => {
        const text = Buffer.from(pieces.join(''))
        const cut = Math.floor(text.length / 3)
        const excerpt = read(text).excerpt(max)
        expect(Buffer.byteLength(excerpt)).toBeLessThanOrEqual(max)
        expect(Buffer.from(excerpt).toString()).toBe(excerpt)
        expect(read(text.subarray(0, cut), text.subarray(cut)).excerpt(max)).toBe(excerpt)
      }),
      // A carriage return after more than is kept of a line that comes in two chunks.
      { examples: [[['x', '\n', ...Array<string>(5).fill('🚀'.repeat(300)), '\r', 'FAIL b\n'], 3000]] },
    )
  })
})

describe('a fingerprint', () => {
  const of = (text: string, kind = 'test failed') => read(text).fingerprint(kind)
  const failure = `FAIL src/login.test.ts > refuses an empty password 12ms
AssertionError: expected 401 at /tmp/vitest-a8f3/login.test.ts:31:7 (commit 9f3c2ab, 0x7ffe)
Tests: 2 failed, 14 passed in 9.1s`

  test('is the same for other numbers, times, hashes, temporary folders, colours and order', () => {
    const again = `Tests: 2 failed, 14 passed in 980 ms
\u001b[31mFAIL\u001b[39m src/login.test.ts > refuses an empty password 1.2s
AssertionError: expected 403 at /tmp/vitest-00bb/login.test.ts:35:9 (commit 0b1d2e3, 0x81aa)`
    expect(of(again)).toBe(of(failure))
  })

  test('is the same whatever passed before it', () => {
    expect(of(`${lines(300, (i) => `✓ test ${i}`)}${failure}`)).toBe(of(failure))
  })

  test('differs for another test, another error and another gate', () => {
    expect(of(failure.replace('empty', 'short'))).not.toBe(of(failure))
    expect(of(failure.replace('Assertion', 'Type'))).not.toBe(of(failure))
    expect(of(failure, 'lint failed')).not.toBe(of(failure))
  })

  test('is of the end where no line looks like an error', () => {
    expect(of('a\nb 1')).toBe(of('a\nb 2'))
    expect(of('a\nb')).not.toBe(of('a\nc'))
    expect(of('')).toMatch(/^[0-9a-f]{16}$/)
  })
})
