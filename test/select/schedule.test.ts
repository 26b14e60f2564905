import { describe, expect, it } from 'vitest'
import { type Claim, IDLE, overlapOf, schedule, shareOf } from '../../src/backlog/select/schedule.ts'
import { random, simulate, type World } from './simulator.ts'

const task = (number: number, ...touches: string[]) => ({ id: `T-00${number}`, number, touches })
const STANDING = { ...IDLE, eligible: [task(1), task(2), task(3)], jobs: 2, overlap: 'wait' } as const
const ids = (tasks: readonly { readonly id: string }[]): string[] => tasks.map(({ id }) => id)

describe('what two lists of Touches have in common', () => {
  it.each([
    [['src/a.ts'], ['src/a.ts'], 'src/a.ts'],
    [['./src/a.ts'], ['src/a.ts'], './src/a.ts'],
    [['src/a.ts'], ['src/b.ts'], null],
    [['src/'], ['src/deep/a.ts'], 'src/'],
    [['src/deep/a.ts'], ['src'], 'src/deep/a.ts'],
    [['src/ab'], ['src/a'], null],
    [['src/*.ts'], ['src/a.ts'], 'src/*.ts'],
    [['src/*.ts'], ['src/a.md'], null],
    [['src/*.ts'], ['src/deep/a.ts'], null],
    [['src/**/*.ts'], ['src/deep/a.ts'], 'src/**/*.ts'],
    [['src/**/*.ts'], ['src/deep'], 'src/**/*.ts'],
    [['src/*.ts'], ['src'], 'src/*.ts'],
    [['src/*.ts'], ['src/*.md'], null],
    [['src/*.ts'], ['src/**'], 'src/*.ts'],
    [['test/*.ts'], ['src/*.ts'], null],
    [['.'], ['src/a.ts'], '.'],
    [[], ['src/a.ts'], null],
  ])('%j and %j: %j', (one, other, path) => {
    expect(overlapOf(one, other)).toBe(path)
    expect(overlapOf(other, one) === null).toBe(path === null)
  })
})

describe('what runs at once', () => {
  it('is the lowest-numbered tasks, one a free slot', () => {
    const plan = schedule(STANDING)
    expect(ids(plan.begin)).toEqual(['T-001', 'T-002'])
    expect(plan.waiting).toEqual([{ task: task(3), wait: { kind: 'jobs' } }])
  })

  it('waits for what touches the same, also for what has not landed yet, and goes past it', () => {
    const eligible = [task(1, 'a'), task(2, 'a'), task(3)]
    const plan = schedule({ ...STANDING, eligible })
    expect(ids(plan.begin)).toEqual(['T-001', 'T-003'])
    expect(plan.waiting).toEqual([{ task: eligible[1], wait: { kind: 'overlap', id: 'T-001', path: 'a' } }])
    const held = { task: eligible[0]!, phase: 'held' } as const
    expect(ids(schedule({ ...STANDING, eligible, busy: [held] }).begin)).toEqual(['T-003'])
    expect(ids(schedule({ ...STANDING, eligible, overlap: 'ignore' }).begin)).toEqual(['T-001', 'T-002'])
  })

  it('lands the lowest of those that are ready, one at a time, and takes no new work while many wait', () => {
    const busy = [3, 2].map((number) => ({ task: task(number), phase: 'ready' }) as const)
    expect(schedule({ ...STANDING, busy }).land?.id).toBe('T-002')
    expect(schedule({ ...STANDING, busy, isLanding: true }).land).toBeNull()
    expect(ids(schedule({ ...STANDING, busy }).begin)).toEqual([])
    expect(ids(schedule({ ...STANDING, busy, jobs: 3 }).begin)).toEqual(['T-001'])
  })

  it('begins no more than it may, those that have begun before not counted', () => {
    expect(ids(schedule({ ...STANDING, mayBegin: 1 }).begin)).toEqual(['T-001'])
    const again = new Set(['T-001'])
    expect(ids(schedule({ ...STANDING, mayBegin: 0, again }).begin)).toEqual(['T-001'])
    expect(ids(schedule({ ...STANDING, mayBegin: 1, again }).begin)).toEqual(['T-001', 'T-002'])
  })

  it('begins and lands nothing once the run is to end, and is over when nothing goes on', () => {
    const busy = [{ task: task(1), phase: 'ready' } as const]
    const plan = schedule({ ...STANDING, busy, isStopping: true })
    expect(plan).toMatchObject({ begin: [], land: null, isOver: true })
    expect(schedule({ ...STANDING, busy, isEnding: true })).toMatchObject({
      begin: [],
      land: { id: 'T-001' },
    })
    expect(schedule({ ...STANDING, busy }).isOver).toBe(false)
    expect(schedule({ ...STANDING, eligible: [] }).isOver).toBe(true)
  })
})

describe('a task that met others', () => {
  /** Claims in the order of the first conflicts: a path for each task, or null where it works alone. */
  const claiming = (...claims: readonly (readonly [number, string | null])[]): Map<string, Claim> =>
    new Map(
      claims.map(([number, path]) => [
        task(number).id,
        { paths: path === null ? [] : [path], isAlone: path === null },
      ]),
    )
  const at = (number: number, phase: 'working' | 'ready' | 'held', ...changed: string[]) =>
    ({ task: task(number), phase, changed }) as const

  it('goes before all others, the one that did so first before the rest', () => {
    const plan = schedule({ ...STANDING, jobs: 3, claims: claiming([3, 'a'], [2, 'b']) })
    expect(ids(plan.begin)).toEqual(['T-003', 'T-002', 'T-001'])
  })

  it('shares the paths of its conflict with nobody, whatever the run does with Touches', () => {
    const eligible = [task(1, 'src/a.ts'), task(2), task(3)]
    const claims = claiming([2, 'src/a.ts'], [3, 'src/'])
    const plan = schedule({ ...STANDING, eligible, jobs: 3, claims })
    expect(ids(plan.begin)).toEqual(['T-002'])
    const wait = { kind: 'overlap', id: 'T-002' }
    expect(plan.waiting).toMatchObject([
      { task: task(3), wait: { ...wait, path: 'src/' } },
      { task: { id: 'T-001' }, wait: { ...wait, path: 'src/a.ts' } },
    ])
    const ignoring = schedule({ ...STANDING, eligible, jobs: 3, claims, overlap: 'ignore' })
    // What T-001 only says that it touches does not count then.
    expect(ids(ignoring.begin)).toEqual(['T-002', 'T-001'])
  })

  it('is passed by nobody in what it claims while it waits', () => {
    const eligible = [task(1, 'a'), task(3, 'c'), task(4, 'b')]
    const busy = [{ task: task(2, 'b'), phase: 'working' } as const]
    const claims = new Map([['T-004', { paths: ['a'], isAlone: false }]])
    expect(ids(schedule({ ...STANDING, eligible, busy, jobs: 4, claims }).begin)).toEqual(['T-003'])
  })

  it('works while nobody else does, where only the gates saw the conflict twice', () => {
    const claims = claiming([2, null])
    const first = schedule({ ...STANDING, claims })
    expect(ids(first.begin)).toEqual(['T-002'])
    const beside = schedule({ ...STANDING, busy: [at(1, 'working')], claims })
    expect(beside.begin).toEqual([])
    expect(beside.waiting[0]).toMatchObject({ task: task(2), wait: { kind: 'overlap', id: 'T-001' } })
  })

  it('has nothing land before it that would have it begin once more', () => {
    const claims = claiming([3, 'a'])
    const land = (...busy: readonly ReturnType<typeof at>[]) =>
      schedule({ ...STANDING, busy, claims }).land?.id
    expect(land(at(1, 'ready', 'a'), at(3, 'working'))).toBeUndefined()
    expect(land(at(1, 'ready', 'a'), at(3, 'ready', 'a'))).toBe('T-003')
    expect(land(at(1, 'ready', 'b'), at(3, 'working'))).toBe('T-001')
    // Nobody knows how long a person takes.
    expect(land(at(1, 'ready', 'a'), at(3, 'held', 'a'))).toBe('T-001')
  })

  it('does not begin on what is about to change in its paths, and has nothing land there once it begins', () => {
    const one = { ...STANDING, eligible: [task(3)], claims: claiming([3, 'a']), busy: [at(1, 'ready', 'a')] }
    expect(schedule({ ...one, isLanding: true }).begin).toEqual([])
    expect(schedule(one)).toMatchObject({ begin: [{ id: 'T-003' }], land: null })
    expect(schedule({ ...one, busy: [at(1, 'ready', 'b')] }).land).toMatchObject({ id: 'T-001' })
  })

  it('lets those land that met others before it did', () => {
    const claims = claiming([1, 'a'], [3, 'a'])
    expect(schedule({ ...STANDING, busy: [at(1, 'ready', 'a'), at(3, 'working')], claims }).land?.id).toBe(
      'T-001',
    )
    const alone = claiming([3, null])
    expect(
      schedule({ ...STANDING, busy: [at(1, 'ready', 'b'), at(3, 'working')], claims: alone }).land,
    ).toBeNull()
  })
})

it('the share of a job is what no other has reserved, in as many parts as there are free slots', () => {
  expect(shareOf({ budget: 8, spent: 0, reserved: [], jobs: 4 })).toBe(2)
  expect(shareOf({ budget: 8, spent: 0, reserved: [2, 2], jobs: 4 })).toBe(2)
  expect(shareOf({ budget: 8, spent: 5, reserved: [2, 0.5], jobs: 4 })).toBe(0.25)
  expect(shareOf({ budget: 8, spent: 9, reserved: [], jobs: 4 })).toBe(0)
})

/** More than the ordinary suite has time for: 20,000 take some minutes. */
const RUNS = Number(process.env['RALPH_SIMULATIONS'] ?? 400)

describe('a simulated run', () => {
  const chance = random(1)
  const worlds = Array.from({ length: RUNS }, (_, seed): [number, World] => [
    seed,
    {
      tasks: 1 + Math.floor(chance() * 25),
      jobs: 1 + Math.floor(chance() * 8),
      retries: Math.floor(chance() * 4),
      failing: chance() < 0.5 ? 0 : chance() * 0.4,
      killing: chance() < 0.5 ? 0 : 0.02,
      persons: chance() < 0.5 ? 0 : 0.2,
      maxTasks: chance() < 0.8 ? null : 1 + Math.floor(chance() * 10),
      overlap: chance() < 0.5 ? 'wait' : 'ignore',
    },
  ])

  it(
    'keeps every promise, whatever fails, conflicts, is killed or stands in the way',
    { timeout: 1_800_000 },
    () => {
      const sums = { landed: 0, blocked: 0, held: 0, kills: 0, conflicts: 0 }
      for (const [seed, world] of worlds) {
        try {
          const { landed, blocked, held, kills, conflicts } = simulate(world, seed)
          sums.landed += landed.length
          sums.blocked += blocked.length
          sums.held += held.length
          sums.kills += kills
          sums.conflicts += conflicts
        } catch (error) {
          throw new Error(`seed ${seed}: ${JSON.stringify(world)}`, { cause: error })
        }
      }
      // Each of what it is about has come up.
      for (const count of Object.values(sums)) expect(count).toBeGreaterThan(20)
    },
  )

  it('does all of a backlog that nothing stands against: a conflict is no failure of the task', () => {
    const calm = {
      failing: 0,
      killing: 0,
      persons: 0,
      maxTasks: null,
      retries: 0,
      overlap: 'wait',
      jobs: 4,
    } as const
    for (let seed = 0; seed < 50; seed++)
      expect(simulate({ ...calm, tasks: 20 }, seed).landed).toHaveLength(20)
  })

  it('lets no task meet others again and again', { timeout: 600_000 }, () => {
    // A person who commits, or has a candidate wait, knows of no claims.
    for (const [seed, world] of worlds)
      expect([seed, ...simulate({ ...world, persons: 0 }, seed).starving]).toEqual([seed])
  })
})
