import { describe, expect, test } from 'vitest'
import { DEFAULT_TIERS, tierOf } from '../../src/backlog/select/tier.ts'
import { buildTask, type TaskSketch } from '../task/build-task.ts'

const some = (count: number): string[] => Array.from({ length: count }, (_, index) => `T-${index + 1}`)
const outputs = (count: number) => some(count).map((text) => ({ text, path: null }))
const tierFor = (sketch: TaskSketch): string => tierOf(buildTask('T-900', sketch)).tier

describe('a tier', () => {
  test.each([
    [0, 0, 'Light'],
    [1, 2, 'Light'],
    [2, 0, 'Standard'],
    [3, 2, 'Standard'],
    [0, 3, 'Standard'],
    [1, 4, 'Standard'],
    [4, 0, 'Heavy'],
    [0, 5, 'Heavy'],
    [3, 5, 'Heavy'],
  ])('with %i dependencies and %i outputs is %3$s', (depends, produces, tier) => {
    expect(tierFor({ depends: some(depends), produces: outputs(produces) })).toBe(tier)
  })

  test('counts a dependency that is named twice once', () => {
    expect(tierFor({ depends: ['T-001', 'T-1'] })).toBe('Light')
  })

  test.each([
    'Refactor the parser',
    'Write an END-TO-END test',
    'e2e',
    'Add "integration" tests',
    '코드를 refactor를 한다',
    '重构refactor吧',
  ])('is Heavy by a keyword: %s', (text) => {
    expect(tierFor({ title: text })).toBe('Heavy')
    expect(tierFor({ sections: { Description: text } })).toBe('Heavy')
    expect(tierFor({ sections: { 'Of my own': text } })).toBe('Heavy')
  })

  test.each(['Refactoring', 'integrations', 'e2e_test', 'réintegration', 'e2e2', 'end to end'])(
    'is not Heavy by a part of a word: %s',
    (text) => {
      expect(tierFor({ title: text, sections: { Description: text } })).toBe('Light')
    },
  )

  test('does not look for keywords in what is not about the work', () => {
    const text = 'refactor'
    const sections = { Hints: text, Produces: text, 'Completion Notes': text, Blocked: text }
    expect(tierFor({ sections })).toBe('Light')
  })

  test('is what Complexity says, whatever would be detected', () => {
    const choice = tierOf(buildTask('T-900', { complexity: 'Light', title: 'refactor', depends: some(9) }))
    expect(choice).toEqual({
      tier: 'Light',
      source: 'explicit',
      maxTurns: 50,
      timeoutSeconds: 600,
      why: 'set by Complexity',
    })
  })

  test('gives its limits, which Turns and Timeout override', () => {
    expect(tierOf(buildTask('T-1', { depends: some(2) }))).toEqual({
      tier: 'Standard',
      source: 'detected',
      maxTurns: 75,
      timeoutSeconds: 900,
      why: '2 dependencies',
    })
    expect(tierOf(buildTask('T-1', { title: 'refactor' }))).toMatchObject({
      maxTurns: 125,
      timeoutSeconds: 1200,
    })
    expect(tierOf(buildTask('T-1', { turns: 7, timeoutSeconds: 90 }))).toMatchObject({
      maxTurns: 7,
      timeoutSeconds: 90,
    })
  })

  test('says why', () => {
    expect(tierOf(buildTask('T-1', { depends: ['T-2'] })).why).toBe('1 dependency, no outputs')
    expect(tierOf(buildTask('T-1', { depends: some(4), produces: outputs(6) })).why).toBe(
      '4 dependencies, 6 outputs',
    )
    expect(tierOf(buildTask('T-1', { sections: { Description: 'An E2E test.' } })).why).toBe('says "E2E"')
    expect(tierOf(buildTask('T-1', { title: 'Refactor', depends: some(4) })).why).toBe('4 dependencies')
  })

  test('follows a table and keywords of the team', () => {
    const tiers = {
      rows: {
        ...DEFAULT_TIERS.rows,
        Heavy: { fromDepends: null, fromProduces: 2, maxTurns: 9, timeoutSeconds: 8 },
      },
      keywords: ['c++', '重构', ''],
    }
    const choose = (sketch: TaskSketch) => tierOf(buildTask('T-900', sketch), tiers)
    expect(choose({ depends: some(9) }).tier).toBe('Standard')
    expect(choose({ produces: outputs(2) })).toMatchObject({ tier: 'Heavy', maxTurns: 9, timeoutSeconds: 8 })
    expect(choose({ title: 'Port it to C++' }).why).toBe('says "C++"')
    expect(choose({ title: '我们重构登录' }).tier).toBe('Heavy')
    expect(choose({ title: 'Refactor' }).tier).toBe('Light')
  })
})
