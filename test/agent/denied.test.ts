import { expect, test } from 'vitest'
import { denialsOf } from '../../src/agents/providers/request.ts'

test('what was denied tells which permission would allow it', () => {
  expect(
    denialsOf(['WebFetch https://example.com', 'Bash cd src && git commit -m x', 'Bash git push']),
  ).toEqual([
    { tool: 'WebFetch https://example.com', allowedBy: 'full' },
    { tool: 'Bash cd src && git commit -m x', allowedBy: 'custom' },
    { tool: 'Bash git push', allowedBy: 'custom' },
  ])
})
