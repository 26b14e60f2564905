import { expect, it } from 'vitest'
import { contentsOf } from '../../src/git/contents.ts'
import { openGit } from '../../src/git/door.ts'
import { doorOf, ENV, makeRepository } from '../repository.ts'

it('reads what is a file, and passes over what is a folder, is not there, or cannot be asked for', async () => {
  const files = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`many/${n}.md`, `number ${n}\n`]))
  const root = makeRepository({ 'a b.md': 'one\n\ntwo', 'empty.md': '', 'T-1.md/inside': 'x', ...files })
  const names = [
    'HEAD:a b.md',
    'HEAD:T-1.md',
    'HEAD:missing blob 12',
    'HEAD:a\nb',
    'HEAD^:a b.md',
    'HEAD:empty.md',
  ]
  const many = Object.keys(files).map((path) => `HEAD:${path}`)
  const found = await contentsOf(doorOf(root), [...names, ...many, 'HEAD:a b.md'])
  const texts = Object.fromEntries([...found].map(([name, bytes]) => [name, bytes.toString()]))
  expect(texts).toEqual({
    'HEAD:a b.md': 'one\n\ntwo',
    'HEAD:empty.md': '',
    ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`HEAD:${path}`, text])),
  })
})

it('puts together what comes in many chunks', async () => {
  const sizes = [0, 1, 65_490, 65_535, 65_536, 65_537, 200_000, 3, 1_000_000, 20, 131_072]
  const texts = sizes.map((size, n) => `${n}\n`.repeat(size).slice(0, size))
  const files = Object.fromEntries(texts.map((text, n) => [`${n}.txt`, text]))
  const git = openGit({ cwd: makeRepository(files), env: ENV })
  const names = Object.keys(files).flatMap((path) => [`HEAD:${path}`, `HEAD:no-${path}`])
  const found = await contentsOf(git, names)
  const all = texts.map((text, n) => [`HEAD:${n}.txt`, text])
  expect([...found].map(([name, bytes]) => [name, bytes.toString()])).toEqual(all)
})
