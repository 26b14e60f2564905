import { expect, test } from 'vitest'
import { isNone, splitPaths, splitReferences } from '../../src/task/values.ts'

test.each([
  ['src/{a,b}.ts, c.ts', ['src/{a,b}.ts', 'c.ts']],
  ['src/{a,b}.ts (both), c.ts', ['src/{a,b}.ts', 'c.ts']],
  ['{a, b.ts', ['{a', 'b.ts']],
])('the paths %s are %j', (value, paths) => {
  expect(splitPaths(value)).toEqual(paths)
})

test.each([
  ['§3.2, §4', ['§3.2', '§4']],
  ['§3.2 §4', ['§3.2', '§4']],
  ['§3.2 and §4', ['§3.2', '§4']],
  ['3.2 4', ['3.2', '4']],
  ['Section 3.2', ['Section 3.2']],
  ['Section 3.2 Section 4', ['Section 3.2', 'Section 4']],
  ['PRD §3.2', ['PRD §3.2']],
  ['Log in, § 4', ['Log in', '§ 4']],
  ['§3.1 – §3.3; §5', ['§3.1 – §3.3', '§5']],
  ['§3.1 to §3.3', ['§3.1 to §3.3']],
  ['§3.2 Sign and seal', ['§3.2 Sign and seal']],
  ['none', []],
  ['§', []],
])('the references %s are %j', (value, references) => {
  expect(splitReferences(value)).toEqual(references)
})

test.each(['none', '(None)', 'N/A', ' — ', '', '无', 'なし', '없음', 'Ninguna', 'keine', 'Нет'])(
  '%j says that there is nothing',
  (value) => {
    expect(isNone(value)).toBe(true)
  },
)
