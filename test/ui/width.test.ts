import stringWidth from 'fast-string-width'
import { expect, it } from 'vitest'
import { isNarrow, printable, textWidth } from '../../src/screen/printable.ts'

it.each(['Add the login form', '로그인', '日本語 text', 'é', 'ｆｕｌｌ', '✓ ▸ ■ · ░█ … — §'])(
  'is the same with the shortcut as without: %s',
  (text) => {
    expect(textWidth(text)).toBe(stringWidth(text))
  },
)

it('counts joined emoji as the separate ones that a terminal gets', () => {
  expect(textWidth('👩‍👩‍👧')).toBe(6)
})

it('takes the shortcut only for characters that are one column wide, and that no terminal would obey', () => {
  const characters = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code))
  const narrow = characters.filter(isNarrow)
  expect(narrow.filter((text) => stringWidth(text) !== 1 || printable(text) !== text)).toEqual([])
})
