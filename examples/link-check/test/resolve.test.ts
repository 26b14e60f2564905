import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resolveTarget } from '../src/resolve.ts'

test('a path is seen from the file that names it', () => {
  assert.deepEqual(resolveTarget('docs/guide.md', '../README.md'), {
    kind: 'file',
    path: 'README.md',
    anchor: null,
  })
})

test('an anchor alone is in the file itself', () => {
  assert.deepEqual(resolveTarget('docs/guide.md', '#install'), {
    kind: 'file',
    path: 'docs/guide.md',
    anchor: 'install',
  })
})

test('a leading slash is the top folder', () => {
  assert.deepEqual(resolveTarget('docs/guide.md', '/LICENSE'), { kind: 'file', path: 'LICENSE', anchor: null })
})

test('what has a scheme is outside', () => {
  for (const target of ['https://example.org/a#b', 'mailto:a@example.org', '//example.org']) {
    assert.deepEqual(resolveTarget('README.md', target), { kind: 'outside' })
  }
})
