import { expect, test } from 'vitest'
import { denialsOf } from '../../src/agents/providers/request.ts'

const DENIED = ['WebFetch https://example.com', 'Bash cd src && git commit -m x', 'Bash git push']

test('what was denied tells which permission would allow it', () => {
  expect(denialsOf(DENIED, { level: 'edit' })).toEqual([
    { tool: 'WebFetch https://example.com', allowedBy: 'full' },
    { tool: 'Bash cd src && git commit -m x', allowedBy: 'custom' },
    { tool: 'Bash git push', allowedBy: 'custom' },
  ])
})

test('what an agent with all permissions refuses by itself is not explained', () => {
  const own = ['Bash rm -rf ./*', 'Bash git push']
  expect(denialsOf(own, { level: 'full' })).toEqual([{ tool: 'Bash git push', allowedBy: 'custom' }])
})
