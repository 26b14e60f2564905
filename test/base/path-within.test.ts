import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { pathWithin } from '../../src/base/paths.ts'

const ROOT = resolve('/work/shop')

test.each([
  ['', ''],
  ['src/a.ts', 'src/a.ts'],
  ['..name/a', '..name/a'],
  ['../shop/a', 'a'],
  ['..', null],
  ['../other', null],
  ['../shop-2/a', null],
])('from the root %j is %j', (path, expected) => {
  expect(pathWithin(ROOT, join(ROOT, path))).toBe(expected)
})
