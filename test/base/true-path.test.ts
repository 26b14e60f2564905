import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { truePaths } from '../../src/base/paths.ts'
import { makeFolder, put } from '../repository.ts'

const root = makeFolder()
put(root, { 'src/a.ts': '', 'src/deep/b.ts': '' })
symlinkSync('src', join(root, 'link'), 'dir')
symlinkSync('../../..', join(root, 'src/deep/up'), 'dir')
symlinkSync(join(root, '..', 'not-there'), join(root, 'dangling'))
symlinkSync('ring-b', join(root, 'ring-a'))
symlinkSync('ring-a', join(root, 'ring-b'))
symlinkSync('spiral/in', join(root, 'spiral'))

const lead = (path: string): string => truePaths()(join(root, path))

test.each([
  ['src/a.ts', 'src/a.ts'],
  ['not/there/yet.ts', 'not/there/yet.ts'],
  ['src/a.ts/below-a-file', 'src/a.ts/below-a-file'],
  ['link/a.ts', 'src/a.ts'],
  ['link/not/there.ts', 'src/not/there.ts'],
  ['link/deep/up/secret', '../secret'],
  ['dangling', '../not-there'],
  ['dangling/below', '../not-there/below'],
])('%s leads to %s', (path, target) => {
  expect(lead(path)).toBe(join(root, target))
})

test('a ring of links, or a name that no file can have, leads no further than itself', () => {
  expect(['ring-a', 'ring-b']).toContain(lead('ring-a').slice(root.length + 1))
  expect(lead('spiral')).toContain('spiral')
  expect(lead('a\0b')).toBe(join(root, 'a\0b'))
})

test('the same one serves many paths', () => {
  const truePath = truePaths()
  const paths = ['link/a.ts', 'link/deep', 'src/a.ts'].map((path) => truePath(join(root, path)))
  expect(paths).toEqual(['src/a.ts', 'src/deep', 'src/a.ts'].map((path) => join(root, path)))
})
