import { expect, it } from 'vitest'
import { contentsOf } from '../../src/git/contents.ts'
import { openGit } from '../../src/git/door.ts'
import { ENV, makeRepository } from './repository.ts'

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
  const found = await contentsOf(openGit({ cwd: root, env: ENV }), [...names, ...many, 'HEAD:a b.md'])
  const texts = Object.fromEntries([...found].map(([name, bytes]) => [name, bytes.toString()]))
  expect(texts).toEqual({
    'HEAD:a b.md': 'one\n\ntwo',
    'HEAD:empty.md': '',
    ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`HEAD:${path}`, text])),
  })
})
