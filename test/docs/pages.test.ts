import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { PAGES, pathOf } from './pages.ts'

// `npm run docs` sets this, and writes what is stale; nothing else does.
const writes = process.env['RALPH_DOCS'] === 'write'

it.each(Object.entries(PAGES))('%s says what the program says', (page, make) => {
  const path = pathOf(page)
  const text = make()
  if (writes) writeFileSync(path, text)
  expect(readFileSync(path, 'utf8'), `${page} is stale: run npm run docs`).toBe(text)
})
