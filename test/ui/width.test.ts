import stringWidth from 'fast-string-width'
import { describe, expect, it } from 'vitest'
import { printable } from '../../src/screen/printable.ts'
import { isNarrow, measureForAny } from '../../src/screen/width.ts'

describe('the width of a text', () => {
  it.each(['Add the login form', '로그인', '日本語 text', '👩‍👩‍👧', 'é', 'ｆｕｌｌ', '✓ ▸ ■ · ░█ … — §'])(
    'is the same with the shortcut as without: %s',
    async (text) => {
      const measure = await measureForAny()
      expect(measure(text)).toBe(stringWidth(text))
    },
  )

  it('takes the shortcut only for characters that are one column wide', async () => {
    const wrong: string[] = []
    for (let code = 0x20; code < 0x3000; code++) {
      const text = String.fromCharCode(code)
      const measure = await measureForAny()
      if (measure(text) !== stringWidth(text)) wrong.push(code.toString(16))
    }
    expect(wrong).toEqual([])
  })

  it('takes the shortcut for nothing that a terminal would obey', () => {
    const codes = Array.from({ length: 0x10000 }, (_, code) => code)
    const narrow = codes.map((code) => String.fromCharCode(code)).filter(isNarrow)
    expect(narrow.filter((text) => printable(text) !== text)).toEqual([])
  })
})
