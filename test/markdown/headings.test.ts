import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scanHeadings } from '../../src/backlog/markdown/scan.ts'
import { headingsOf, parsers, withParsers } from '../../src/backlog/markdown/reading.ts'

const line = fc.constantFrom(
  '# A',
  '## 3.2 Login ##',
  '### `code` *em*',
  '#',
  '#no',
  ' ## indented',
  '\t# tab',
  '```',
  '```js',
  '````',
  '~~~',
  '   ```',
  '    ```',
  '  ```',
  '  ```sh',
  '  in a list',
  '     deeper',
  '-',
  '- ',
  '- <pre>',
  '- item',
  '- ```',
  '- # in item',
  '  # in item',
  '1. one',
  '> # quoted',
  '> ```',
  'text',
  '',
  '===',
  '---',
  '***',
  '<!-- # -->',
  '<!--',
  '-->',
  '<details>',
  '<https://example.org>',
  'a `b',
  '\\# escaped',
  '## [link](x)',
  '| a |',
  '    # code',
  '## a &amp; b',
  '\ufeff# bom',
  '# cr\r# cr',
  '[a]: x',
)
const document = fc
  .tuple(fc.array(line, { maxLength: 14 }), fc.constantFrom('\n', '\r\n'))
  .map(([lines, ending]) => lines.join(ending))

describe('the headings of a document', () => {
  it('are those that remark finds, wherever the scanner does not decline', async () => {
    const { parseBlocks } = await withParsers(parsers)
    const runs = Number(process.env['RALPH_PROPERTY_RUNS'] ?? 1000)
    fc.assert(
      fc.property(document, (source) => {
        const scanned = scanHeadings(source, 0)
        const places = (headings: NonNullable<typeof scanned>) =>
          headings.map(({ depth, span }) => [depth, span.start])
        const { headings } = parseBlocks(source, { start: 0, end: source.length })
        if (scanned !== null) expect(places(scanned)).toEqual(places(headings))
      }),
      { numRuns: runs },
    )
  })

  it('are scanned in the ordinary style', async () => {
    const source =
      '---\ntitle: "# x"\n---\n# PRD\n\n```sh\n# comment\n```\n- a\n- b\n\n## 3.2 `Login` ##\n| a |\n|---|\n\n---\n\n### **Deep**\n'
    expect((await headingsOf(source)).map(({ depth, text }) => [depth, text])).toEqual([
      [1, 'PRD'],
      [2, '3.2 Login'],
      [3, 'Deep'],
    ])
    expect(scanHeadings(source, source.indexOf('# PRD'))).toHaveLength(3)
  })

  it('are scanned also where a list has code, and an empty bullet stands below a heading', () => {
    const source =
      '# A\n1. Do:\n   ```sh\n   # comment\n\n     deeper\n   ```\n   more\n- b\n- \n\n## B\n### C\n-\n\n## D\n'
    const texts = scanHeadings(source, 0)?.map(({ text }) => source.slice(text.start, text.end))
    expect(texts).toEqual(['A', 'B', 'C', 'D'])
  })

  it.each([
    '- a\n  ```\n b\n  ```',
    '- a\n  ```\n     ```\n  ```',
    '- <pre>\n  ```\n  x\n  ```',
    '- a\n  ```',
  ])('are left to remark where code in a list may end early, or stand in HTML: %j', (list) => {
    expect(scanHeadings(`# A\n${list}\n# B\n`, 0)).toBeNull()
  })

  it('are left to remark where the style is unusual', async () => {
    const source = '\uFEFFLogin\n=====\n\n<details>\n# no\n</details>\n\n- a\n\n  # no\n\n## 2 Yes\n'
    expect(await headingsOf(source)).toMatchObject([
      { text: 'Login', offset: 1 },
      { text: '2 Yes', offset: source.indexOf('##') },
    ])
  })

  it('are not looked for where lists and quotes are nested beyond reason', async () => {
    expect(await headingsOf(`${'- '.repeat(5000)}a\n\n<b>\n\n# 1 A\n`)).toEqual([])
    expect(await headingsOf(`${'- '.repeat(20)}a\n\n<b>\n\n# 1 A\n`)).toMatchObject([{ text: '1 A' }])
  })
})
