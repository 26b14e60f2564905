import * as fc from 'fast-check'
import remarkParse from 'remark-parse'
import { unified } from 'unified'
import { describe, expect, it } from 'vitest'
import type { Material, ShownMaterial } from '../../src/prompt/files.ts'
import { showMaterials } from '../../src/prompt/show.ts'
import { countTokens } from '../../src/prompt/tokens.ts'
import { hostileText } from './hostile-text.ts'

const shown = (path: string, text: string, listed = false): ShownMaterial => ({
  kind: 'shown',
  path,
  stretch: null,
  text,
  bytes: Buffer.byteLength(text),
  listed,
})

const materials = fc.array(
  fc
    .tuple(
      fc.constantFrom('a.ts', 'dir/b.md', 'we`ird\n.x y', '한.ts'),
      fc.tuple(hostileText, fc.constantFrom(1, 30, 500)).map(([text, times]) => text.repeat(times)),
      fc.boolean(),
    )
    .map(([path, text, listed]) => shown(path, text, listed)),
  { maxLength: 8 },
)

/** The fences of a group, without the list of what is only named. */
function blocksOf(text: string): string {
  const nodes = unified().use(remarkParse).parse(text).children
  const last = nodes.at(-1)
  return last?.type === 'list' ? text.slice(0, last.position!.start.offset) : text
}

const FLAT = new Set(['paragraph', 'code', 'list'])

describe('what a prompt shows of files', () => {
  it('is never more than the budget, and no file more than its cap', () => {
    fc.assert(
      fc.property(materials, materials, fc.nat(3000), fc.nat(1500), (one, two, budget, fileCap) => {
        const texts = Object.values(showMaterials({ one, two }, { budget, fileCap })).map(({ text }) =>
          blocksOf(text),
        )
        const tokens = texts.map(countTokens)
        expect(tokens.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(budget)
        const alone = showMaterials({ one: one.slice(0, 1) }, { budget: 1_000_000, fileCap }).one.text
        expect(countTokens(blocksOf(alone))).toBeLessThanOrEqual(fileCap)
      }),
      { numRuns: 60 },
    )
  })

  it('stands in fences, and each file is shown or named', () => {
    fc.assert(
      fc.property(materials, fc.nat(2000), (one, budget) => {
        const text = showMaterials({ one }, { budget, fileCap: 1000 }).one.text
        const nodes = unified().use(remarkParse).parse(text).children
        expect(nodes.map(({ type }) => type).filter((type) => !FLAT.has(type))).toEqual([])
        const fences = nodes.filter(({ type }) => type === 'code').length
        const list = nodes.find((node) => node.type === 'list')
        const named = list?.type === 'list' ? list.children.length : 0
        const asked = one.filter(({ listed }) => !listed).length
        expect(fences + named).toBeGreaterThanOrEqual(asked)
        expect(fences + named).toBeLessThanOrEqual(one.length)
      }),
      { numRuns: 60 },
    )
  })

  it('names what does not fit at all', () => {
    const text = 'const value = 1\n'.repeat(200)
    const { files } = showMaterials({ files: [shown('src/a.ts', text)] }, { budget: 20, fileCap: 1000 })
    expect(files.text).toBe('- `src/a.ts` (3200 bytes) did not fit here: read it where you need it.')
  })

  it('holds whole files of a folder while the budget lasts', () => {
    const files: Material[] = [
      { kind: 'listing', pattern: 'src/', paths: ['src/a.ts', 'src/b.ts', 'src/c.ts'], more: true },
      shown('src/a.ts', 'a()\n', true),
      shown('src/b.ts', 'b()\n'.repeat(500), true),
      shown('src/c.ts', 'c()\n', true),
    ]
    const { one } = showMaterials({ one: files }, { budget: 200, fileCap: 1000 })
    expect(one.text).toContain('a()')
    expect(one.text).not.toContain('b()')
    expect(one.text).toContain('c()')
    expect(one.text).toContain('- `src/` stands for `src/a.ts`, `src/b.ts`, `src/c.ts`, and more.')
  })

  it('leaves none out where all just fit, and names one that does not', () => {
    const lineCount = (count: number): string => {
      const many = Array.from({ length: count }, (_, at) => ({
        kind: 'named' as const,
        path: `src/${at}.ts`,
        reason: 'missing' as const,
        bytes: null,
      }))
      return showMaterials({ one: many }, { budget: 100, fileCap: 100 }).one.text
    }
    expect(lineCount(200)).not.toContain('more')
    expect(lineCount(201)).toMatch(/`src\/199\.ts`.*\n- and 1 more$/)
  })

  it('names the first of very many files, and says how many more there are', () => {
    const paths = Array.from({ length: 205 }, (_, at) => `src/${at}.ts`)
    const listing: Material = { kind: 'listing', pattern: 'src/', paths, more: false }
    const { text } = showMaterials({ one: [listing] }, { budget: 100, fileCap: 100 }).one
    expect(text).toContain('`src/199.ts`, and 5 more.')
    expect(text).not.toContain('src/200.ts')
  })
})
