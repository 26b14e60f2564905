import { describe, expect, it } from 'vitest'
import type { Reviewer } from '../../src/agents/port.ts'
import { git, put } from '../repository.ts'
import { makeProject, read, runAll, taskText, those, trailer } from './harness.ts'
import { agentOf, choiceOf, doneBy, type Deed, type Said } from './ports.ts'

const CRITERIA = '\n## Acceptance Criteria\n- [ ] It adds\n- [ ] It is fast\n'

interface Judgement {
  readonly criterion: number
  readonly verdict: 'met' | 'not met' | 'cannot tell'
  readonly place?: string | null
  readonly reason: string
}
const met = (criterion: number): Judgement => ({
  criterion,
  verdict: 'met',
  place: 'src/a.js:1',
  reason: 'there',
})
const notMet = (place: string | null): Judgement => ({
  criterion: 2,
  verdict: 'not met',
  place,
  reason: 'it sleeps',
})
const answer = (criteria: readonly Judgement[], findings: readonly object[] = []): string =>
  JSON.stringify({ criteria, findings })
const GOOD = answer([met(1), met(2)])

/** Runs a task whose work is reviewed by an agent that ends, one time after the other, like this. */
async function runWith(
  said: readonly (string | Said | ((cwd: string) => string))[],
  {
    criteria = CRITERIA,
    deed = ({ cwd, task }) => put(cwd, { 'src/a.js': `export const add = 0 // ${task.attempt}\n` }),
    reviewer = {},
    names = ['critic'],
  }: {
    criteria?: string
    deed?: Deed
    reviewer?: Partial<Reviewer>
    names?: readonly [string, ...string[]]
  } = {},
) {
  const root = makeProject({ 'T-1': taskText('T-1', { rest: criteria }) })
  const prompts: string[] = []
  const review: Deed = ({ prompt, cwd, permission }) => {
    const one = said[prompts.length] ?? GOOD
    prompts.push(prompt)
    expect(permission.level).toBe('read')
    return typeof one === 'object' ? one : { message: typeof one === 'function' ? one(cwd) : one }
  }
  const [first, ...others] = names.map((name) =>
    choiceOf(name, { permission: { level: 'read', web: false } }),
  )
  const agents = [agentOf(deed), ...names.map((name) => agentOf(review, name))] as const
  let clock = Date.parse('2026-03-01T10:00:00Z')
  const events = await runAll({
    root,
    options: { retries: 3, checkCriteria: true },
    ports: {
      now: () => new Date(clock),
      sleep: async (ms) => void (clock += ms),
      ...doneBy(...(agents as Parameters<typeof doneBy>)),
      agentsFor: async () => [choiceOf('fake')],
      reviewersFor: async () => [{ isRequired: false, choices: [first!, ...others], ...reviewer }],
    },
  })
  const outcomes = those(events, 'attempt-finished').map(({ outcome }) => outcome)
  return { root, events, prompts, outcomes, isDone: those(events, 'task-completed').length > 0 }
}

describe('a reviewer', () => {
  it('sees the task and its criteria, and lets good work land', async () => {
    const { root, prompts, isDone } = await runWith([GOOD])
    expect(isDone).toBe(true)
    expect(prompts[0]).toContain('1. It adds\n2. It is fast')
    expect(trailer(root, 'Reviewed')).toBe('critic: 2 of 2 criteria met')
    expect(trailer(root, 'Criteria')).toBe('2 of 2 (reviewed)')
  })

  it('who finds a criterion not met has the work done again, with its reason', async () => {
    const { root, events, outcomes, isDone } = await runWith([answer([met(1), notMet('src/a.js:1')]), GOOD])
    expect([outcomes, isDone]).toEqual([['review-failed', 'done'], true])
    expect(those(events, 'attempt-finished')[0]?.reason).toBe(
      'critic: not met: It is fast (src/a.js:1): it sleeps',
    )
    expect(git(root, 'log', '-1', '--format=%b', 'refs/ralph/attempts/T-1/1')).toContain('it sleeps')
  })

  it('blocks the task the second time', async () => {
    const bad = answer([met(1), notMet('src/a.js:1')])
    const { root, outcomes, isDone } = await runWith([bad, bad])
    expect([outcomes, isDone]).toEqual([['review-failed', 'review-failed'], false])
    expect(git(root, 'show', 'HEAD:docs/tasks/T-1.md')).toMatch(
      /BLOCKED[^]*critic refuses it again: not met: It is fast/,
    )
  })

  it('who cannot tell fails nothing, and findings are kept', async () => {
    const finding = { weight: 'high', place: 'src/a.js:1', finding: 'never called' }
    const unsure: Judgement = { criterion: 2, verdict: 'cannot tell', reason: 'no numbers' }
    const { root, isDone } = await runWith([answer([met(1), unsure], [finding])])
    expect([isDone, trailer(root, 'Reviewed')]).toEqual([true, 'critic: 1 of 2 criteria met'])
    expect(trailer(root, 'Finding')).toBe('high: src/a.js:1: never called')
  })

  it('only looks for findings if the task has no criteria', async () => {
    const { root, isDone } = await runWith([answer([])], { criteria: '' })
    expect([isDone, trailer(root, 'Reviewed')]).toEqual([true, 'critic: 0 findings'])
  })

  it('changes nothing', async () => {
    const meddles = (cwd: string): string => {
      put(cwd, { 'src/a.js': 'mine\n', 'src/b.js': '' })
      return GOOD
    }
    const { root, isDone } = await runWith([meddles])
    expect(isDone).toBe(true)
    expect([read(root, 'src/a.js'), read(root, 'src/b.js')]).toEqual(['export const add = 0 // 1\n', null])
  })
})

describe('an answer that cannot be used is asked for once more:', () => {
  it.each([
    ['no JSON', 'All is well.'],
    ['JSON of another shape', '{"verdict": "fine"}'],
    ['10 MB', `{"x": "${'y'.repeat(10_000_000)}"}`],
    ['a criterion without a word', answer([met(1)])],
    ['"not met" without a place', answer([met(1), notMet(null)])],
    ['a line beyond the end', answer([met(1), notMet('src/a.js:99')])],
    ['a file that is not there', answer([met(1), notMet('src/none.js:1')])],
    ['a place outside', answer([met(1), notMet('../../etc/passwd:1')])],
  ])('%s', async (_, bad) => {
    const { root, prompts, isDone } = await runWith([bad, GOOD])
    expect([prompts.length, isDone]).toEqual([2, true])
    expect(prompts[1]).toContain('Your last answer could not be used')
    expect(trailer(root, 'Reviewed')).toBe('critic: 2 of 2 criteria met')
  })

  it('a fence around it is no matter, nor are criteria that do not exist', async () => {
    const more = answer([met(1), met(2), { ...met(1), criterion: 9 }])
    const { prompts, isDone } = await runWith([`Here it is:\n\n\`\`\`json\n${more}\n\`\`\`\n`])
    expect([prompts.length, isDone]).toEqual([1, true])
  })
})

describe('a reviewer that cannot answer', () => {
  const LIMITED: Said = { end: { kind: 'rate-limited', reason: 'limit', until: null, unpaid: false } }

  it('is replaced', async () => {
    const { root, prompts, isDone } = await runWith([LIMITED, GOOD], { names: ['critic', 'other'] })
    expect([prompts.length, isDone]).toEqual([2, true])
    expect(trailer(root, 'Reviewed')).toBe('other: 2 of 2 criteria met')
  })

  it('is missing in the commit', async () => {
    const { root, isDone } = await runWith([LIMITED])
    expect([isDone, trailer(root, 'Reviewed')]).toEqual([true, 'critic: no (limit)'])
  })

  it('keeps the work back where it is required', async () => {
    const { root, outcomes, isDone } = await runWith([LIMITED], { reviewer: { isRequired: true } })
    expect([outcomes, isDone]).toEqual([['rate-limited', 'done'], true])
    expect(trailer(root, 'Reviewed')).toBe('critic: 2 of 2 criteria met')
  })
})

it('what a reviewer costs counts', async () => {
  const { events } = await runWith([{ message: GOOD, usage: { costUsd: 0.25 } }])
  expect(those(events, 'task-completed')[0]?.cost).toBe(0.25)
})
