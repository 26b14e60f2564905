import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseGlob } from '../../src/base/glob.ts'

describe('a glob', () => {
  it.each([
    ['src/*.ts', 'src', ['src/a.ts', 'src/.ts'], ['src/a.tsx', 'src/b/a.ts', 'a.ts']],
    ['src/**/*.ts', 'src', ['src/a.ts', 'src/a/b/c.ts'], ['lib/a.ts', 'src/a.js']],
    ['**/*.md', '', ['a.md', 'docs/a/b.md'], ['a.mdx']],
    ['src/**', 'src', ['src/a', 'src/a/b'], ['lib/a']],
    ['./src/a?.ts', 'src', ['src/ab.ts'], ['src/a.ts', 'src/abc.ts']],
    ['src/[a-c]x[!0-9].ts', 'src', ['src/bxy.ts'], ['src/dxy.ts', 'src/bx1.ts']],
    ['{src,test}/a.{ts,tsx}', '', ['src/a.ts', 'test/a.tsx'], ['lib/a.ts', 'src/a.js']],
    ['src/{a,b}/*.ts', 'src', ['src/a/x.ts', 'src/b/x.ts'], ['src/c/x.ts']],
    ['a{b', '', ['a{b'], ['ab']],
  ])('%s', (pattern, base, matching, others) => {
    const glob = parseGlob(pattern)!
    expect(glob.base).toBe(base)
    expect(matching.filter((path) => !glob.matches(path))).toEqual([])
    expect(others.filter((path) => glob.matches(path))).toEqual([])
  })

  it('is nothing that is a plain path', () => {
    expect(parseGlob('src/a.ts')).toBeNull()
  })

  it('matches what a regular expression would', () => {
    const name = fc
      .array(fc.constantFrom('a', 'b', '*', '?'), { minLength: 1, maxLength: 4 })
      .map((units) => units.join(''))
    const pattern = fc.array(fc.oneof(name, fc.constant('**')), { minLength: 1, maxLength: 5 })
    const path = fc.array(fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 4 }), {
      minLength: 1,
      maxLength: 5,
    })
    fc.assert(
      fc.property(pattern, path, (parts, names) => {
        const glob = parseGlob(['*', ...parts].join('/'))!
        expect(glob.matches(['x', ...names].join('/'))).toBe(
          regexOf(parts).test(names.map((one) => `${one}/`).join('')),
        )
      }),
      { numRuns: 1000 },
    )
  })

  it('takes no long time over any', () => {
    const glob = parseGlob(`${'*a'.repeat(100)}b`)!
    expect(glob.matches('a'.repeat(2000))).toBe(false)
  })
})

/** The same by another way: slow, but easy to believe. */
function regexOf(parts: readonly string[]): RegExp {
  const source = parts.map((part) => {
    if (part === '**') return '(?:[^/]+/)*'
    return `${part.replace(/\*+/g, '*').replace(/[*?]/g, (mark) => (mark === '*' ? '[^/]*' : '[^/]'))}/`
  })
  return new RegExp(`^${source.join('')}$`)
}
