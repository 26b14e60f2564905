import { expect, it } from 'vitest'
import { deniedTexts } from '../../src/ui/run-text.ts'

it('tells what an agent was denied with the permission that would allow it', () => {
  expect(deniedTexts([])).toEqual([])
  expect(
    deniedTexts([
      { tool: 'WebFetch', allowedBy: 'full' },
      { tool: 'Bash git push', allowedBy: 'custom' },
      { tool: 'WebSearch', allowedBy: 'full' },
    ]),
  ).toEqual([
    'it was denied WebFetch, WebSearch: permission "full" allows it (--yolo)',
    'it was denied Bash git push: that is ralph\'s to do, and only "custom" allows it',
  ])
})
