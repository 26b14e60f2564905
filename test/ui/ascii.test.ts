import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { wantsAscii, withAsciiSigns } from '../../src/screen/style.ts'
import { isNarrow } from '../../src/screen/printable.ts'

describe('signs', () => {
  it('each have one of ASCII that is as wide, wherever a view or a command draws one', () => {
    const drawn = ['screen', 'cli', 'engine'].flatMap((folder) =>
      signsIn(new URL(`../../src/${folder}/`, import.meta.url)),
    )
    expect(drawn).toContain('✓')
    for (const sign of drawn) expect(`${sign} ${withAsciiSigns(sign)}`).toMatch(/ [ -~]$/)
  })

  it('of a task file stay', () => {
    expect(withAsciiSigns('Prüfe 漢字')).toBe('Prüfe 漢字')
  })
})

it.each([
  [{}, false],
  [{ LANG: 'C' }, true],
  [{ LANG: 'en_US.ISO-8859-1' }, true],
  [{ LANG: 'C.UTF-8' }, false],
  [{ LANG: 'de_DE.utf8' }, false],
  [{ LANG: 'en_US.UTF-8', LC_ALL: 'POSIX' }, true],
  [{ LANG: 'C', LC_CTYPE: 'UTF-8' }, false],
  [{ LANG: '' }, false],
])('%j wants ASCII: %s', (env, expected) => {
  expect(wantsAscii(env)).toBe(expected)
})

/** The signs that stand in texts of a folder's code; not those of its comments and patterns. */
function signsIn(folder: URL): readonly string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )
  const texts = files
    // What reads the output of gates draws nothing.
    .filter((file) => file !== 'ascii.ts' && !file.replaceAll('\\', '/').startsWith('gates/'))
    .map((file) => readFileSync(new URL(file.replaceAll('\\', '/'), folder), 'utf8'))
  const code = texts.join('\n').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
  const strings = code.match(/'[^'\n]*'|`[^`]*`/g) ?? []
  const signs = strings.join('').match(/[^\x00-\x7f]/g) ?? []
  return [...new Set(signs)].filter((sign) => isNarrow(sign))
}
