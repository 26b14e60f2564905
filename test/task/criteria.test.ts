import { describe, expect, it } from 'vitest'
import { checkedIn, checkOff } from '../../src/backlog/criteria.ts'
import { completeTask } from '../../src/backlog/finish.ts'
import { parseTask } from '../../src/backlog/parse.ts'
import { edited } from '../../src/backlog/markdown/splice.ts'

const TEXT = `# T-004: Add it

- **Status**: TODO

## Acceptance Criteria
- [ ] \`npm test\` passes.
- [x] It was so before
* [ ] **Fast**: within 5 ms
  1. [ ] Nested

\`\`\`
- [ ] In code
\`\`\`
<!-- - [ ] In a remark -->

## Hints
- [ ] Fast: within 5 ms
`

async function checked(...met: readonly string[]): Promise<readonly string[]> {
  const task = await parseTask({ file: 'docs/tasks/T-004.md', text: TEXT })
  const after = edited(task, checkOff(task, met)).split('\n')
  const before = TEXT.split('\n')
  expect(after).toHaveLength(before.length)
  return after.filter((line, index) => line !== before[index])
}

describe('criteria that are met', () => {
  it.each([
    ['in their own words', ['`npm test` passes.'], ['- [x] `npm test` passes.']],
    [
      'without their marks',
      ['npm test passes', 'FAST: within 5 ms'],
      ['- [x] `npm test` passes.', '* [x] **Fast**: within 5 ms'],
    ],
    ['by their number', ['4'], ['  1. [x] Nested']],
    ['as a check box', ['[ ] Nested'], ['  1. [x] Nested']],
    ['that are none', ['Whatever', '2', '99', ''], []],
    ['in code and remarks', ['In code', 'In a remark'], []],
  ])('are checked off %s', async (_, met, lines) => {
    expect(await checked(...met)).toEqual(lines)
  })

  it('are those that a final message has checked', () => {
    expect(checkedIn('Done.\n\n- [x] One\n* [X] `Two`\n- [ ] Three\r\n1. [x] Four\r\n')).toEqual([
      'One',
      '`Two`',
      'Four',
    ])
  })

  it('are checked off with the rest of a finished task', async () => {
    const task = await parseTask({ file: 'docs/tasks/T-004.md', text: TEXT })
    const completion = { at: new Date(2025, 0, 15), seconds: 5, commit: null, costUsd: null, notes: 'N' }
    expect(completeTask(task, completion)).toContain('- [ ] `npm test`')
    const text = completeTask(task, { ...completion, criteriaMet: ['1'] })
    expect(text).toContain('- [x] `npm test`')
    expect(text).toContain('- **Status**: DONE')
  })
})
