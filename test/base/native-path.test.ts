import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { nativePath, pathKey } from '../../src/base/paths.ts'

/** A disk that takes every spelling of these paths for them. */
const disk = (...paths: readonly string[]) => {
  const known = new Map(paths.map((path) => [resolve(path).toLowerCase().normalize('NFC'), resolve(path)]))
  return (path: string): string => {
    const found = known.get(path.toLowerCase().normalize('NFC'))
    if (found === undefined) throw new Error('ENOENT')
    return found
  }
}

test('a path is spelled as on disk, as far as there is anything', () => {
  const read = disk('/', '/Home', '/Home/shop')
  expect(nativePath('/home/SHOP', read)).toBe(resolve('/Home/shop'))
  expect(nativePath('/home/SHOP/New/File', read)).toBe(join(resolve('/Home/shop'), 'New', 'File'))
})

test('a path that nothing is known of stays as it is', () => {
  expect(nativePath('/a/b', disk())).toBe(resolve('/a/b'))
})

const [composed, decomposed] = ['Ä/b', 'A\u0308/b']
test.each([
  ['in another case', 'Docs/T.md', 'docs/t.md', { ignorecase: true, precomposeunicode: false }, true],
  ['in another case', 'Docs/T.md', 'docs/t.md', { ignorecase: false, precomposeunicode: true }, false],
  ['in other code points', composed, decomposed, { ignorecase: false, precomposeunicode: true }, true],
  ['in other code points', composed, decomposed, { ignorecase: true, precomposeunicode: false }, false],
] as const)('a path %s is the same as git was told: %s, %s, %o', (_, one, other, spelling, same) => {
  expect(pathKey(one, spelling) === pathKey(other, spelling)).toBe(same)
})
