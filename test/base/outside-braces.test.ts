import { expect, test } from 'vitest'
import { splitOutsideBraces } from '../../src/base/text.ts'

test.each([
  ['a,b', ['a', 'b']],
  ['src/{a,b}.ts,c', ['src/{a,b}.ts', 'c']],
  ['{a,{b,c}},d', ['{a,{b,c}}', 'd']],
  ['a}b,c', ['a}b', 'c']],
  ['{a,b', ['{a', 'b']],
  ['', ['']],
])('%s is %j', (text, pieces) => {
  expect(splitOutsideBraces(text, /,/)).toEqual(pieces)
})
