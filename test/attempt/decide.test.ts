import { describe, expect, it } from 'vitest'
import type { KeptAttempt } from '../../src/git/record.ts'
import { type Ended, decide } from '../../src/engine/decide.ts'
import { outcome, outcomeOfEnd, POLICIES } from '../../src/engine/outcome.ts'
import { OUTCOMES, type OutcomeKind } from '../../src/base/names.ts'
import { NO_AMOUNTS, UNKNOWN_USAGE } from '../../src/base/usage.ts'

const now = new Date('2026-01-01T00:00:00Z')

function ended(kind: OutcomeKind, more: Partial<Ended> = {}): Ended {
  return { outcome: outcome(kind, 'why'), usage: UNKNOWN_USAGE, idle: false, ...more }
}

function record(kind: OutcomeKind, more: Partial<KeptAttempt> = {}): KeptAttempt {
  const { fingerprint } = outcome(kind, 'why')
  return { outcome: kind, fingerprint, usage: UNKNOWN_USAGE, idle: false, ...more } as KeptAttempt
}

const dollars = (usd: number | null) => ({ usd, tokens: null })
const first = {
  counted: 1,
  most: 4,
  series: [],
  taskLimit: NO_AMOUNTS,
  runLeft: NO_AMOUNTS,
  waits: 0,
  endlessWaits: 0,
  askSeconds: 3600,
  now,
}

describe('what follows an attempt', () => {
  it.each([
    ['done', 'complete'],
    ['blocked', 'give-up'],
    ['no-marker', 'retry'],
    ['gate-failed', 'retry'],
    ['conflict', 'retry'],
    ['missing-output', 'retry'],
    ['no-change', 'retry'],
    ['timeout', 'retry'],
    ['max-turns', 'retry'],
    ['agent-failed', 'retry'],
    ['rate-limited', 'wait'],
    ['no-network', 'wait'],
    ['skipped', 'leave'],
    ['taken-over', 'hand-over'],
    ['auth', 'wait'],
    ['gate-missing', 'stop'],
    ['base-changed', 'stop'],
    ['interrupted', 'stop'],
  ] as const)('%s: %s', (kind, next) => {
    expect(decide(ended(kind), first).kind).toBe(next)
  })

  it('uses up one of the task’s attempts only by what may be its own fault', () => {
    const uncounted = OUTCOMES.filter((kind) => !POLICIES[kind].counts)
    expect(uncounted).toEqual([
      'gate-missing',
      'base-changed',
      'conflict',
      'rate-limited',
      'no-network',
      'auth',
      'skipped',
      'taken-over',
      'interrupted',
      'lost',
    ])
  })

  it('gives a lost attempt to another worker at once, and the task up after three in a row', () => {
    const lost = (...series: readonly KeptAttempt[]) =>
      decide(ended('lost', { idle: true }), { ...first, counted: 4, series })
    expect(lost()).toEqual({ kind: 'retry', pauseSeconds: 0 })
    expect(lost(record('lost'), record('gate-failed'), record('lost'))).toMatchObject({ kind: 'retry' })
    expect(lost(record('gate-failed'), record('lost'), record('lost'))).toEqual({
      kind: 'give-up',
      reason: '3 times in a row: why',
      blocked: false,
    })
  })

  it('pauses longer each time, up to a minute', () => {
    const pause = (number: number) => decide(ended('timeout'), { ...first, counted: number, most: 99 })
    expect([1, 2, 3, 9].map((number) => pause(number))).toEqual(
      [1, 2, 4, 60].map((pauseSeconds) => ({ kind: 'retry', pauseSeconds })),
    )
  })

  const later = (seconds: number): Date => new Date(now.getTime() + seconds * 1000)
  const named = 'the service lets the agent do no more until then'
  const own = 'then the agent is asked again: why'
  it.each([
    ['rate-limited', 18_000, 0, 18_000, named],
    ['rate-limited', 5, 0, 5, named],
    // Over already, or named before without holding: an agent would be asked again and again.
    ['rate-limited', -5, 0, 60, own],
    ['rate-limited', 5, 1, 60, own],
    ['rate-limited', 300, 1, 300, named],
    ['rate-limited', null, 0, 60, own],
    ['rate-limited', null, 1, 120, own],
    ['rate-limited', null, 2, 240, own],
    ['rate-limited', null, 9, 1800, own],
    ['no-network', null, 0, 10, own],
    ['no-network', null, 1, 20, own],
    ['no-network', null, 2, 40, own],
    ['no-network', null, 9, 300, own],
  ] as const)('waits, as %s that ends in %s s, after %s waits: %s s', (kind, end, waits, seconds, reason) => {
    const until = end === null ? null : later(end)
    expect(decide({ ...ended(kind), outcome: outcome(kind, 'why', { until }) }, { ...first, waits })).toEqual(
      {
        kind: 'wait',
        until: later(seconds),
        reason,
      },
    )
  })

  it.each([
    [true, 1],
    [false, 3],
  ])(
    'asks no more after a limit without an end has come back (about money: %s, after %i waits)',
    (unpaid, most) => {
      const end = { kind: 'rate-limited', reason: 'no quota', until: null, unpaid } as const
      const limited = { ...ended('rate-limited'), outcome: outcomeOfEnd(end) }
      const after = (endlessWaits: number) => decide(limited, { ...first, waits: 5, endlessWaits })
      expect(after(most - 1)).toMatchObject({ kind: 'wait', until: expect.any(Date) as Date })
      expect(after(most)).toEqual({
        kind: 'wait',
        until: null,
        reason: 'waiting does not help, so it seems to be about money: no quota',
      })
    },
  )

  it('waits for a network to be logged in to only as long as for a person’s answer', () => {
    const end = { kind: 'no-network', reason: 'a page', isPage: true } as const
    const page = { ...ended('no-network'), outcome: outcomeOfEnd(end) }
    const after = (waits: number, askSeconds: number) => decide(page, { ...first, waits, askSeconds })
    expect(after(2, 60)).toMatchObject({ kind: 'wait', until: expect.any(Date) as Date })
    expect(after(3, 60)).toEqual({ kind: 'wait', until: null, reason: 'a page' })
    expect(after(3, 3600)).toMatchObject({ kind: 'wait', until: expect.any(Date) as Date })
  })

  it('waits for an overloaded service, and for a limit with an end, as often as it takes', () => {
    const until = new Date('2026-01-01T05:00:00Z')
    const ends = [
      { kind: 'overloaded', reason: 'busy' },
      { kind: 'rate-limited', reason: 'limit', until },
    ] as const
    for (const end of ends)
      expect(
        decide({ ...ended('rate-limited'), outcome: outcomeOfEnd(end) }, { ...first, endlessWaits: 9 }),
      ).toMatchObject({ kind: 'wait', until: expect.any(Date) as Date })
  })

  it('gives up at the last attempt', () => {
    expect(decide(ended('timeout'), { ...first, counted: 4 })).toEqual({
      kind: 'give-up',
      reason: '4 attempts: why',
      blocked: false,
    })
    expect(decide(ended('timeout'), { ...first, most: 1 })).toMatchObject({
      reason: 'one attempt, and no more: why',
    })
  })

  it('gives up at the third same failure in a row, whatever came between that does not count', () => {
    const same = [record('timeout'), record('interrupted'), record('timeout')]
    expect(decide(ended('timeout'), { ...first, counted: 3, most: 9, series: same })).toMatchObject({
      kind: 'give-up',
      reason: 'the same failure three times: why',
    })
    const other = [record('timeout'), record('gate-failed'), record('timeout')]
    expect(decide(ended('timeout'), { ...first, counted: 4, most: 9, series: other }).kind).toBe('retry')
  })

  it('gives up on an agent that twice did nothing', () => {
    const series = [record('agent-failed', { idle: true })]
    expect(decide(ended('no-marker', { idle: true }), { ...first, counted: 2, series }).kind).toBe('give-up')
    expect(decide(ended('no-marker'), { ...first, counted: 2, series }).kind).toBe('retry')
    expect(decide(ended('no-marker', { idle: true }), first).kind).toBe('retry')
  })

  it.each([
    [null, { kind: 'retry', pauseSeconds: 1 }],
    ['task', { kind: 'give-up', reason: 'no', blocked: true }],
    ['agent', { kind: 'wait', until: null, reason: 'no' }],
  ] as const)('after a refusal that is hopeless for %s', (hopeless, decision) => {
    const refused = outcomeOfEnd({ kind: 'refused', reason: 'no', hopeless })
    expect(decide({ ...ended('agent-failed'), outcome: refused }, first)).toEqual(decision)
  })

  const given = 'the task has cost $0.50, its limit is $0.50'
  it.each([
    [null, 1, { kind: 'stop', why: 'budget', reason: 'spent' }],
    [0.5, null, { kind: 'give-up', blocked: false, reason: given }],
    [0.5, 1, { kind: 'give-up', blocked: false, reason: given }],
    [2, 1, { kind: 'stop', why: 'budget', reason: 'spent' }],
  ])(
    'never tries again for want of money: %s for the task, %s for the run',
    (maxCostPerTask, runBudgetLeft, decision) => {
      const usage = { ...UNKNOWN_USAGE, costUsd: 0.5 }
      const spent = outcomeOfEnd({ kind: 'budget', reason: 'spent' })
      const broke = { ...ended('agent-failed', { usage }), outcome: spent }
      expect(
        decide(broke, { ...first, taskLimit: dollars(maxCostPerTask), runLeft: dollars(runBudgetLeft) }),
      ).toMatchObject(decision)
    },
  )

  it.each([
    ['dollars', undefined, 'stop'],
    ['tokens', 'tokens', 'give-up'],
  ] as const)('blames the task only for the amount of its own that is used up: %s', (_, of, kind) => {
    const spent = outcomeOfEnd({ kind: 'budget', reason: 'spent', ...(of && { of }) })
    const limits = { taskLimit: { usd: null, tokens: 1000 }, runLeft: { usd: 1, tokens: null } }
    expect(decide({ ...ended('agent-failed'), outcome: spent }, { ...first, ...limits }).kind).toBe(kind)
  })

  it('gives up on a task that has cost what it may', () => {
    const usage = { ...UNKNOWN_USAGE, costUsd: 0.6 }
    const situation = { ...first, counted: 2, series: [record('timeout', { usage })], taskLimit: dollars(1) }
    expect(decide(ended('gate-failed', { usage }), situation)).toMatchObject({
      reason: 'the task has cost $1.20, its limit is $1.00: why',
    })
    expect(decide(ended('gate-failed'), situation).kind).toBe('retry')
  })

  it('gives up on a task that has used the tokens that it may, without those from a cache', () => {
    const usage = { ...UNKNOWN_USAGE, inputTokens: 900_000, cachedTokens: 500_000, outputTokens: 200_000 }
    const situation = { ...first, counted: 2, series: [record('timeout', { usage })] }
    const limited = (tokens: number) =>
      decide(ended('gate-failed', { usage }), { ...situation, taskLimit: { usd: null, tokens } })
    expect(limited(1_200_000)).toMatchObject({
      kind: 'give-up',
      reason: 'the task has used 1.2M tokens, its limit is 1.2M tokens: why',
    })
    expect(limited(1_300_000).kind).toBe('retry')
  })

  it('tells amounts of less than a cent as more than nothing', () => {
    const cheap = ended('gate-failed', { usage: { ...UNKNOWN_USAGE, costUsd: 0.003 } })
    expect(decide(cheap, { ...first, taskLimit: dollars(0.002) })).toMatchObject({
      reason: 'the task has cost $0.0030, its limit is $0.0020: why',
    })
  })

  it('is written down for each outcome', () => {
    expect(Object.keys(POLICIES)).toEqual([...OUTCOMES])
  })
})

describe('how an agent ends', () => {
  it.each([
    [{ kind: 'done' }, 'done'],
    [{ kind: 'no-marker' }, 'no-marker'],
    [{ kind: 'blocked', reason: 'r' }, 'blocked'],
    [{ kind: 'max-turns', reason: 'r' }, 'max-turns'],
    [{ kind: 'timeout', reason: 'r' }, 'timeout'],
    [{ kind: 'budget', reason: 'r' }, 'agent-failed'],
    [{ kind: 'auth', reason: 'r' }, 'auth'],
    [{ kind: 'rate-limited', reason: 'r', until: now }, 'rate-limited'],
    [{ kind: 'overloaded', reason: 'r' }, 'rate-limited'],
    [{ kind: 'no-network', reason: 'r' }, 'no-network'],
    [{ kind: 'refused', reason: 'r', hopeless: null }, 'agent-failed'],
    [{ kind: 'stalled', reason: 'r' }, 'agent-failed'],
    [{ kind: 'interrupted' }, 'interrupted'],
    [{ kind: 'crashed', reason: 'r' }, 'agent-failed'],
  ] as const)('%o means %s', (end, kind) => {
    expect(outcomeOfEnd(end).kind).toBe(kind)
  })

  it('tells a reason of many lines by its first, and keeps all of it as the detail', () => {
    const crash = outcomeOfEnd({ kind: 'crashed', reason: 'it crashed: one\ntwo\nthree' })
    expect(crash).toMatchObject({ reason: 'it crashed: one', detail: 'two\nthree' })
    expect(outcomeOfEnd({ kind: 'crashed', reason: 'one' })).toMatchObject({ reason: 'one', detail: '' })
  })
})
