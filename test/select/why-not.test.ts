import { describe, expect, it } from 'vitest'
import { blockedReason } from '../../src/backlog/select/why-not.ts'
import { buildTask } from '../task/build-task.ts'

describe('the reason of a block', () => {
  it.each([
    ['Needs a key.\n\nMore of it.', 'Needs a key.'],
    ['**Reason**: needs a key', 'needs a key'],
    ['- Reason: needs a key', 'needs a key'],
    ['**Reason:** needs a key', 'needs a key'],
    ['Reasonable people disagree', 'Reasonable people disagree'],
    ['Reason enough to wait', 'Reason enough to wait'],
    ['**Needs a key**: RATES_KEY', '**Needs a key**: RATES_KEY'],
    ['stopped without \\<TASK_DONE> in C:\\Users\\\\me', 'stopped without <TASK_DONE> in C:\\Users\\me'],
    ['the pattern `\\<a>` is wrong', 'the pattern `\\<a>` is wrong'],
    ['not \\[a\\] in `\\[b\\]` but \\_c\\_', 'not [a] in `\\[b\\]` but _c_'],
    ['', 'no reason is given'],
  ])('of %j is %j', (body, reason) => {
    expect(blockedReason(buildTask('T-001', { sections: { Blocked: body } }))).toBe(reason)
  })
})
