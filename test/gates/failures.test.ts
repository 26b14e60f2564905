import { readFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { tellingLines } from '../../src/base/failure-lines.ts'
import { FailureOutput } from '../../src/engine/gates/failure-output.ts'

/** What the real tools print, as files in `failures`: what of it must reach the agent, and the few lines that a person sees. */
const FAILURES = {
  'mocha-syntax-error': {
    cause: [
      '/home/ada/shop/src.js:2',
      '   ^\n',
      'SyntaxError: missing ) after argument list',
      'b.test.js:1:11',
    ],
    shown: [
      'Exception during run: /home/ada/shop/src.js:2',
      '  return items.reduce((sum, item) => sum + item.price, 0',
      `${' '.repeat(55)}^`,
      'SyntaxError: missing ) after argument list',
    ],
  },
  'node-syntax-error': {
    cause: [
      '/home/ada/shop/src.js:2',
      '   ^\n',
      'SyntaxError: missing ) after argument list',
      'b.test.js:1:11',
    ],
    shown: [
      '/home/ada/shop/src.js:2',
      '  return items.reduce((sum, item) => sum + item.price, 0',
      `${' '.repeat(55)}^`,
      'SyntaxError: missing ) after argument list',
    ],
  },
  'pytest-import-error': {
    cause: ['test_cart.py:1: in <module>', "E   ImportError: cannot import name 'totals' from 'cart'"],
    shown: [
      'test_cart.py:1: in <module>',
      '    from cart import totals',
      "E   ImportError: cannot import name 'totals' from 'cart' (/home/ada/shop/cart.py)",
      '=========================== short test summary info ============================',
    ],
  },
  'pytest-syntax-error': {
    cause: ['File "/home/ada/shop/cart.py", line 1', "SyntaxError: '(' was never closed"],
    shown: [
      'E     File "/home/ada/shop/cart.py", line 1',
      'E       def total(items:',
      'E                ^',
      "E   SyntaxError: '(' was never closed",
    ],
  },
  rustc: {
    cause: [
      'error[E0609]',
      ' --> src/lib.rs:6:34',
      '^^^^^ unknown field',
      'error[E0382]',
      '  --> src/lib.rs:11:5',
    ],
    shown: [
      'error[E0609]: no field `prise` on type `&Item`',
      ' --> src/lib.rs:6:34',
      '6 |     items.iter().map(|item| item.prise).sum()',
      `  |${' '.repeat(34)}^^^^^ unknown field`,
    ],
  },
  'go-panic': {
    cause: [
      '--- FAIL: TestTotalOfNone',
      'panic: runtime error',
      '\t/home/ada/shop/cart.go:8\n',
      'cart_test.go:12',
    ],
    shown: [
      '--- FAIL: TestTotalOfNone (0.00s)',
      'panic: runtime error: invalid memory address or nil pointer dereference [recovered]',
      '\tpanic: runtime error: invalid memory address or nil pointer dereference',
      '\t/home/ada/shop/cart.go:8',
    ],
  },
  tsc: {
    cause: ['src/a.ts(1,10): error TS2724', 'src/a.ts(3,3): error TS2322'],
    shown: [
      `src/a.ts(1,10): error TS2724: '"./b"' has no exported member named 'price'. Did you mean 'prices'?`,
      `src/a.ts(3,3): error TS2322: Type 'number' is not assignable to type 'string'.`,
    ],
  },
  'tsc-pretty': {
    cause: ['src/a.ts:1:10 - error TS2724', '~~~~~', 'src/a.ts:3:3 - error TS2322'],
    shown: [
      `src/a.ts:1:10 - error TS2724: '"./b"' has no exported member named 'price'. Did you mean 'prices'?`,
      "1 import { price } from './b'",
      '           ~~~~~',
      "  src/b.ts:1:14 - 'prices' is declared here.",
    ],
  },
  eslint: {
    cause: ['/home/ada/shop/broken.js\n', '2:1  error', '/home/ada/shop/cart.js\n', "3:56  error    'zero'"],
    shown: [
      '/home/ada/shop/broken.js',
      '  2:1  error  Parsing error: Unexpected token',
      '/home/ada/shop/cart.js',
      "  2:9   error    'tax' is assigned a value but never used  no-unused-vars",
    ],
  },
}

describe.each(Object.entries(FAILURES))('of %s', (name, { cause, shown }) => {
  const printed = readFileSync(new URL(`failures/${name}.txt`, import.meta.url), 'utf8')

  test.each([
    ['alone', printed],
    ['in the middle of much else', `${steps('before')}${printed}${steps('after')}`],
  ])('an excerpt has what points at the cause: %s', (_, output) => {
    const excerpt = excerptOf(output)
    for (const part of cause) expect(excerpt).toContain(part)
    expect(excerpt).not.toMatch(/node:internal|<frozen|src\/testing/)
    const plain = stripVTControlCharacters(printed)
    for (const part of cause) expect(excerpt.split(part)).toHaveLength(plain.split(part).length)
  })

  test('a person sees what is wrong, and where', () => {
    expect(tellingLines(excerptOf(printed), 4)).toEqual(shown)
  })
})

test('what follows an error has an end, though each line names a place', () => {
  const frames = Array.from({ length: 500 }, (_, i) => `    at f${i} (src/a.ts:${i}:1)\n`).join('')
  const excerpt = excerptOf(`Error: no\n${frames}${steps('after')}`)
  expect(excerpt.split('\n').filter((line) => line.includes('src/a.ts'))).toHaveLength(16)
})

function excerptOf(text: string): string {
  const output = new FailureOutput()
  output.push(Buffer.from(text))
  output.end()
  return output.excerpt()
}

function steps(name: string): string {
  return Array.from({ length: 500 }, (_, i) => `${name} ${i}\n`).join('')
}
