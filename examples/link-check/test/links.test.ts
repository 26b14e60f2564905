import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readLinks } from '../src/links.ts'

const targets = (text: string): readonly string[] => readLinks(text).map(({ target }) => target)

test('a link has its target and its place', () => {
  assert.deepEqual(readLinks('# Title\n\nSee [the guide](docs/guide.md).\n'), [
    { target: 'docs/guide.md', line: 3, column: 5 },
  ])
})

test('images, titles and pointed brackets are read', () => {
  assert.deepEqual(targets('![a](a.png) [b](b.md "B") [c](<c.md>)'), ['a.png', 'b.md', 'c.md'])
})

test('code is not read', () => {
  assert.deepEqual(targets('`[a](a.md)`\n```md\n[b](b.md)\n```\n[c](c.md)'), ['c.md'])
})

test('a longer fence holds a shorter one', () => {
  assert.deepEqual(targets('````\n```\n[a](a.md)\n````\n[b](b.md)'), ['b.md'])
})
