import { describe, expect, it } from 'vitest'
import { headingsOf } from '../../src/backlog/markdown/reading.ts'
import { sectionsNamed } from '../../src/prompt/prd.ts'

const DEEP = `# Shop

## 1. Goals
Sell.

## 3 Accounts
Intro.

### 3.1 Sign up
One.

### §3.2: Log in
Two.

#### 3.2.1 Lock out
\`\`\`md
## 3.9 Not a heading
\`\`\`
Three.

### 3.20 Not this
Four.

## Section 4 — Payment
Five.

## Appendix A: Words
Six.

### A.1 More
Seven.
`

async function textsOf(source: string, ...references: string[]): Promise<readonly (string | null)[]> {
  return sectionsNamed(source, await headingsOf(source), references).map(({ text }) => text)
}

describe('a section of the requirements', () => {
  it('is found by its number, with its subsections', async () => {
    const [text] = await textsOf(DEEP, '§3.2')
    expect(text).toBe(DEEP.slice(DEEP.indexOf('### §3.2'), DEEP.indexOf('\n\n### 3.20')))
  })

  it.each([
    ['1', 'Sell.'],
    ['§ 4', 'Five.'],
    ['Section 4', 'Five.'],
    ['PRD §4', 'Five.'],
    ['3.2.1', 'Three.'],
    ['§A', 'Six.'],
    ['Appendix A', 'Seven.'],
    ['A.1', 'Seven.'],
    ['Payment', 'Five.'],
    ['log in', 'Two.'],
  ])('is found as %s', async (reference, words) => {
    const [text] = await textsOf(DEEP, reference)
    expect(text).toContain(words)
  })

  it('that is not there is told as missing', async () => {
    expect(await textsOf(DEEP, '§3.9', '§5', 'Shipping')).toEqual([null, null, null])
  })

  it('is not given again within another', async () => {
    const texts = await textsOf(DEEP, '§3.2', '§3', '§3.1', '§3')
    expect(texts).toHaveLength(1)
    expect(texts[0]).toMatch(/^## 3 Accounts/)
  })

  it('stands for each of a long range, but for none of one that is no range', async () => {
    const many = Array.from({ length: 12 }, (_, at) => `## 5.${at + 1} Part\n`).join('')
    expect(await textsOf(many, '§5.1 – §5.12')).toHaveLength(12)
    expect(await textsOf(many, '§5.1–§5.999')).toHaveLength(1)
    expect(await textsOf(many, '§5.3–§5.2')).toHaveLength(1)
  })

  it('stands for each of a range', async () => {
    const texts = await textsOf(DEEP, '§3.1–§3.2')
    expect(texts.map((text) => text?.split('\n')[0])).toEqual(['### 3.1 Sign up', '### §3.2: Log in'])
  })

  it('has its subsections where all headings are of one depth', async () => {
    const flat = '## 3 A\na\n## 3.1 B\nb\n## 3.1.1 C\nc\n## 30 D\nd\n'
    expect(await textsOf(flat, '3')).toEqual(['## 3 A\na\n## 3.1 B\nb\n## 3.1.1 C\nc'])
  })

  it.each(['3rd party', '3-column layout', '2.x', 'A new idea'])('has no number in "%s"', async (title) => {
    expect(await textsOf(`# ${title}\ntext\n`, '3', '2', '§A')).toEqual([null, null, null])
  })

  it('is found among very many references in no time', async () => {
    const references = Array.from({ length: 20_000 }, (_, i) => `§${i % 2 ? '3.2' : i}`)
    const before = process.cpuUsage()
    const texts = await textsOf(DEEP, ...references)
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000)
    expect(texts.filter((text) => text !== null)).toHaveLength(2)
  })
})
