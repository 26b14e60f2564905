import fc from 'fast-check'
import stringWidth from 'fast-string-width'
import { describe, expect, it } from 'vitest'
import { accent, dim, line, paragraph, type Block, type Line } from '../../src/screen/block.ts'
import { type Canvas, layOut } from '../../src/screen/layout.ts'

const drawn = (blocks: readonly Block[], canvas: Canvas) => layOut(blocks, canvas)
const plain = (blocks: readonly Block[], columns: number | null): string =>
  drawn(blocks, { columns, colour: false })

describe('a line', () => {
  it('is cut at the edge of the terminal, and says so', () => {
    expect(plain([line('abc', accent('def'), 'ghi')], 8)).toBe('abcdefg…\n')
  })

  it('keeps its whole length where it just fits', () => {
    expect(plain([line('abc', dim('def'))], 6)).toBe('abcdef\n')
  })

  it('is whole in a pipe', () => {
    expect(plain([line('x'.repeat(500))], null)).toBe(`${'x'.repeat(500)}\n`)
  })

  it('counts a wide character as two columns', () => {
    expect(plain([line('로그인 화면')], 8)).toBe('로그인 …\n')
  })

  it('never cuts a sign that is made of several code points', () => {
    expect(plain([line('ab👩‍👩‍👧cd')], 4)).toBe('ab…\n')
  })
})

describe('a line with something at the right edge', () => {
  const spread: Block = { kind: 'spread', left: ['left'], right: ['right'] }

  it('reaches the edge', () => {
    expect(plain([spread], 20)).toBe('left           right\n')
  })

  it('goes below where both do not fit', () => {
    expect(plain([spread], 10)).toBe('left\n       ri…\n')
  })

  it('follows two blanks later in a pipe', () => {
    expect(plain([spread], null)).toBe('left  right\n')
  })
})

describe('words after a head', () => {
  it('go on below the first word', () => {
    expect(plain([paragraph(['  why  '], 'one two three four')], 16)).toBe(
      '  why  one two\n       three\n       four\n',
    )
  })

  it('share one switch of colour with the blanks between them', () => {
    const text = drawn([paragraph([], 'one two', 'dim')], { columns: 80, colour: true })
    expect(text).toBe('\u001b[2mone two\u001b[22m\n')
  })
})

describe('a table', () => {
  const rows: readonly (readonly Line[])[] = [
    [['T-1'], ['A rather long title of a task'], ['needs a decision from somebody']],
    [['T-10'], ['Short'], ['no']],
  ]
  const table: Block = { kind: 'table', rows, shrink: [1], wrap: 2, indent: '  ' }

  it('aligns its columns and leaves no blank at the end', () => {
    expect(plain([{ kind: 'table', rows: rows.map((row) => row.slice(0, 2)), indent: '' }], null)).toBe(
      'T-1   A rather long title of a task\nT-10  Short\n',
    )
  })

  it('cuts one column and lets another go on below itself in a narrow terminal', () => {
    expect(plain([table], 50)).toBe(
      [
        '  T-1   A rather long t…  needs a decision from',
        '                          somebody',
        '  T-10  Short             no',
        '',
      ].join('\n'),
    )
  })

  it('cuts of two columns the wider one first, then both in turn', () => {
    const even: Block = { kind: 'table', rows, shrink: [1, 2], indent: '  ' }
    expect(plain([even], 66)).toBe(
      '  T-1   A rather long title of a ta…  needs a decision from someb…\n  T-10  Short                         no\n',
    )
    expect(plain([even], 50)).toBe(
      '  T-1   A rather long title…  needs a decision fr…\n  T-10  Short                 no\n',
    )
  })

  it('puts a heading across all columns', () => {
    const heading = { kind: 'spread', left: ['Head'], right: ['3 of 5'] } as const
    const text = plain([{ kind: 'table', rows: [heading, ...rows], indent: '' }], null)
    expect(text.split('\n')[0]).toBe('Head  3 of 5')
  })
})

describe('whatever is shown', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('日本', '👩‍👩‍👧', '\u001b[2J', 'x'.repeat(90)),
  )
  const someLine = fc.array(fc.oneof(text, text.map(accent)), { maxLength: 4 })
  const block: fc.Arbitrary<Block> = fc.oneof(
    someLine.map((pieces): Block => ({ kind: 'line', line: pieces })),
    fc.tuple(someLine, someLine).map(([left, right]): Block => ({ kind: 'spread', left, right })),
    fc
      .tuple(someLine, fc.array(someLine))
      .map(([head, words]): Block => ({ kind: 'hang', head, words, gap: ' ' })),
    fc
      .array(fc.tuple(someLine, someLine, someLine))
      .map((rows): Block => ({ kind: 'table', rows, shrink: [1], wrap: 2, indent: '  ' })),
  )

  it('is never wider than the terminal', () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 3 }), fc.integer({ min: 20, max: 120 }), (blocks, columns) => {
        for (const row of plain(blocks, columns).split('\n'))
          expect(stringWidth(row)).toBeLessThanOrEqual(columns)
      }),
      { numRuns: 300 },
    )
  })

  it('has no control character but its line endings', () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 3 }), (blocks) => {
        expect(plain(blocks, null)).not.toMatch(
          /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
        )
      }),
      { numRuns: 300 },
    )
  })
})
