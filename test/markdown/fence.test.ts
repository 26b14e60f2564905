import * as fc from 'fast-check'
import remarkParse from 'remark-parse'
import { unified } from 'unified'
import { describe, expect, it } from 'vitest'
import { closed, fenced, inlineCode, unfenced } from '../../src/backlog/markdown/fence.ts'
import { hostileText } from '../prompt/hostile-text.ts'

const parse = (markdown: string) => unified().use(remarkParse).parse(markdown).children

describe('a fence', () => {
  it('is closed by no content', () => {
    fc.assert(
      fc.property(hostileText, (content) => {
        const [code, after, ...rest] = parse(`${fenced(content, 'ts')}\n# After\n`)
        expect(code).toMatchObject({ type: 'code', lang: 'ts' })
        expect(after).toMatchObject({ type: 'heading', depth: 1 })
        expect(rest).toEqual([])
      }),
    )
  })

  it('gives its content back', () => {
    const content = fc.string({ unit: fc.constantFrom('`', '~', 'a', ' ', '\n') })
    fc.assert(
      fc.property(content, (text) => {
        expect(parse(fenced(text))[0]).toMatchObject({ type: 'code', value: text.replace(/\n$/, '') })
        expect(unfenced(fenced(text))).toBe(text.replace(/\n$/, ''))
      }),
    )
  })

  it('is of tildes where backticks would need very many', () => {
    expect(fenced('`'.repeat(1000))).toBe(`~~~\n${'`'.repeat(1000)}\n~~~`)
    expect(fenced('```')).toBe('````\n```\n````')
  })
})

describe('inline code', () => {
  it('is left by no text', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const [paragraph, ...rest] = parse(`x ${inlineCode(text)}`)
        expect(rest).toEqual([])
        expect(paragraph).toMatchObject({ children: [{ type: 'text' }, { type: 'inlineCode' }] })
      }),
    )
  })

  it('shows what cannot be seen', () => {
    expect(inlineCode('a\nb\u202ec')).toBe('`a\\u000ab\\u202ec`')
    expect(inlineCode('`')).toBe('`` ` ``')
  })
})

describe('what an author left open', () => {
  it.each([
    ['a fence', '```ts\ncode', '```ts\ncode\n```'],
    ['a longer fence of tildes', '~~~~\n```\n~~~\n', '~~~~\n```\n~~~\n~~~~'],
    ['a comment', 'text\n<!-- never\nended', 'text\n<!-- never\nended\n-->'],
    ['a fence in a comment', '<!--\n```\n-->\ntext', '<!--\n```\n-->\ntext'],
    ['nothing', '```\ncode\n```', '```\ncode\n```'],
  ])('is closed: %s', (_, text, expected) => {
    expect(closed(text)).toBe(expected)
  })
})
