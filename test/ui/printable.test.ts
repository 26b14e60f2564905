import { describe, expect, it } from 'vitest'
import { printable, printableJson } from '../../src/screen/printable.ts'

describe('text from a file', () => {
  it.each([
    ['clears the screen', '\u001b[2Jx', '␛[2Jx'],
    ['retitles the window', '\u001b]0;pwned\u0007x', '␛]0;pwned␇x'],
    ['uses an eight-bit escape', '\u009b31mred', '�31mred'],
    ['goes back to overwrite', 'safe\rEVIL', 'safe EVIL'],
    ['rubs out', 'a\u0008\u007fb', 'a␈␡b'],
    ['reverses its direction', 'a\u202egnp.exe', 'a�gnp.exe'],
    ['holds half a character', 'a\ud800b', 'a�b'],
    ['begins a new line', 'a\nb\tc', 'a b c'],
  ])('cannot drive the terminal where it %s', (_, text, shown) => {
    expect(printable(text)).toBe(shown)
  })

  it.each(['Add the login form', '로그인 — 화면', 'naïve “quotes” §3.2', '👩‍👩‍👧 family'])(
    'stays as it is: %s',
    (text) => {
      expect(printable(text)).toBe(text)
    },
  )
})

describe('JSON', () => {
  it('escapes what turns the direction of a text, and breaks no sign of two units', () => {
    const text = 'a\u202egnp.exe \u2066\u200f\u061c\ufeff 👩‍👩‍👧'
    const json = printableJson(JSON.stringify({ text }, null, 2))
    expect(json).toBe('{\n  "text": "a\\u202egnp.exe \\u2066\\u200f\\u061c\\ufeff 👩‍👩‍👧"\n}')
    expect(JSON.parse(json)).toEqual({ text })
  })

  it('escapes what JSON leaves but a terminal obeys, and still says the same', () => {
    const json = printableJson(JSON.stringify({ title: 'a\u009b31m\u007fb\u001b' }))
    expect(json).toBe('{"title":"a\\u009b31m\\u007fb\\u001b"}')
    expect(JSON.parse(json)).toEqual({ title: 'a\u009b31m\u007fb\u001b' })
  })
})
