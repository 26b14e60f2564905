import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { headingsOf, parsedHeadings, scannedHeadings } from '../../src/backlog/markdown/headings.ts'

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
    await fc.assert(
      fc.asyncProperty(document, async (source) => {
        const scanned = scannedHeadings(source)
        const places = (await parsedHeadings(source)).map(({ depth, offset }) => ({ depth, offset }))
        if (scanned !== null) expect(scanned.map(({ depth, offset }) => ({ depth, offset }))).toEqual(places)
      }),
      { numRuns: Number(process.env['RALPH_PROPERTY_RUNS'] ?? 1000) },
    )
  })

  it('are scanned in the ordinary style', () => {
    const source =
      '---\ntitle: "# x"\n---\n# PRD\n\n```sh\n# comment\n```\n- a\n- b\n\n## 3.2 `Login` ##\n| a |\n|---|\n\n---\n\n### **Deep**\n'
    expect(scannedHeadings(source)?.map(({ depth, text }) => [depth, text])).toEqual([
      [1, 'PRD'],
      [2, '3.2 Login'],
      [3, 'Deep'],
    ])
  })

  it('are scanned also where a list has code, and an empty bullet stands below a heading', () => {
    const source =
      '# A\n1. Do:\n   ```sh\n   # comment\n\n     deeper\n   ```\n   more\n- b\n- \n\n## B\n### C\n-\n\n## D\n'
    expect(scannedHeadings(source)?.map(({ text }) => text)).toEqual(['A', 'B', 'C', 'D'])
  })

  it('are left to remark where code in a list may end early, or stand in HTML', () => {
    for (const list of [
      '- a\n  ```\n b\n  ```',
      '- a\n  ```\n     ```\n  ```',
      '- <pre>\n  ```\n  x\n  ```',
      '- a\n  ```',
    ])
      expect(scannedHeadings(`# A\n${list}\n# B\n`)).toBeNull()
  })

  it('are left to remark where the style is unusual', async () => {
    const source = 'Login\n=====\n\n<details>\n# no\n</details>\n\n- a\n\n  # no\n\n## 2 Yes\n'
    expect(scannedHeadings(source)).toBeNull()
    expect((await parsedHeadings(source)).map(({ text }) => text)).toEqual(['Login', '2 Yes'])
  })

  it('are not looked for where lists and quotes are nested beyond reason', async () => {
    expect(await headingsOf(`${'- '.repeat(5000)}a\n\n<b>\n\n# 1 A\n`)).toEqual([])
    expect(await headingsOf(`${'- '.repeat(20)}a\n\n<b>\n\n# 1 A\n`)).toMatchObject([{ text: '1 A' }])
  })
})
