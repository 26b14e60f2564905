import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { beforeAll, describe, expect, it } from 'vitest'
import { ENV, git, makeFolder, put } from '../repository.ts'
import { makeProject, read, status, taskText } from './harness.ts'
import { ownFolder } from './ports.ts'

/** More random kills than the ordinary suite has time for: 200 of them take some minutes. */
const RANDOM_KILLS = Number(process.env['RALPH_RANDOM_KILLS'] ?? 0)
const isThorough = RANDOM_KILLS > 0
const TASKS = ['T-001', 'T-002', 'T-003', 'T-004', 'T-005']
const COST = 0.25

const built = makeFolder()

beforeAll(async () => {
  const input = fileURLToPath(new URL('crash-entry.ts', import.meta.url))
  const bundle = await rolldown({ input, platform: 'node', logLevel: 'silent' })
  await bundle.write({ dir: built, format: 'esm' })
  await bundle.close()
})

interface Trial {
  readonly root: string
  readonly diary: string
}

function makeTrial(): Trial {
  const files = { '.gitignore': '.ralph/\n.env\n', 'mine.txt': 'mine\n' }
  const root = makeProject(Object.fromEntries(TASKS.map((id) => [id, taskText(id)])), files)
  put(root, { '.env': 'SECRET=1\n' })
  return { root, diary: join(makeFolder(), 'diary') }
}

/** At once, not at the end: there may be hundreds. */
function remove({ root }: Trial): void {
  for (const folder of [root, ownFolder(root)]) rmSync(folder, { recursive: true, force: true })
}

interface Killing {
  readonly checkpoint?: string
  readonly occurrence?: number
  /** Kills after so many milliseconds: only ralph, with it all that it has started, or only the next git of its own. */
  readonly afterMs?: number
  readonly group?: boolean
  readonly onlyGit?: boolean
  /** How many jobs at once. */
  readonly jobs?: number
}

/** Runs ralph in a process of its own; resolves with the signal that ended it, if one did. */
function run({ root, diary }: Trial, killing: Killing = {}): Promise<NodeJS.Signals | null> {
  const { checkpoint = '', occurrence = 1, jobs = 1 } = killing
  const args = [join(built, 'crash-entry.js'), root, diary, checkpoint, String(occurrence), String(jobs)]
  const child = spawn(process.execPath, args, {
    detached: true,
    env: ENV,
    stdio: ['ignore', 'ignore', killing.onlyGit ? 'ignore' : 'inherit'],
  })
  const { pid } = child
  const kill = (): void => {
    if (!pid) return
    if (killing.onlyGit) killGit(pid)
    else process.kill(killing.group ? -pid : pid, 'SIGKILL')
  }
  const timer = killing.afterMs === undefined ? null : setTimeout(kill, killing.afterMs)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      if (timer) clearTimeout(timer)
      if (code !== 0 && signal === null && !killing.onlyGit) reject(new Error(`the run ended with ${code}`))
      else resolve(signal)
    })
  })
}

/** Kills a git that ralph has started itself, as soon as there is one; the agent's own are its own affair. */
function killGit(ralph: number): void {
  const timer = setInterval(() => {
    try {
      const children = readFileSync(`/proc/${ralph}/task/${ralph}/children`, 'utf8')
        .split(' ')
        .filter(Boolean)
      const own = children.find((pid) =>
        /^[^\0]*git\0-c\0/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8')),
      )
      if (own === undefined) return
      process.kill(Number(own), 'SIGKILL')
    } catch {
      // One of them has ended meanwhile.
      if (existsSync(`/proc/${ralph}`)) return
    }
    clearInterval(timer)
  }, 1)
}

/** The processes that are still in a trial's folders. */
function processesIn(root: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(root)
    } catch {
      return false
    }
  })
}

const diaryOf = ({ diary }: Trial) => (existsSync(diary) ? readFileSync(diary, 'utf8').split('\n') : [])
const lines = (trial: Trial, start: string) =>
  diaryOf(trial).flatMap((line) => (line.startsWith(start) ? [line.slice(start.length + 1)] : []))

/** Everything that must hold once a run has come to its end, whatever happened before. */
function expectNothingLost(trial: Trial): void {
  const { root } = trial
  const completions = git(root, 'log', '--format=%(trailers:key=Task,valueonly)').split('\n').filter(Boolean)
  expect(completions.toSorted(), diaryOf(trial).join('\n')).toEqual(TASKS)
  expect(git(root, 'rev-list', '--count', 'HEAD')).toBe('6')
  for (const id of TASKS)
    expect(read(root, `docs/tasks/${id}.md`) ?? 'no file', diaryOf(trial).join('\n')).toContain(
      id === 'T-004' ? '**Status**: BLOCKED' : '**Status**: DONE',
    )
  expect(read(root, 'docs/tasks/T-004.md') ?? 'no file').toContain('needs a key')
  expect(status(root)).toBe('')
  expect(git(root, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main')
  expect(git(root, 'fsck', '--strict', '--no-dangling')).toBe('')
  expect(read(root, 'mine.txt')).toBe('mine\n')
  expect(read(root, '.env')).toBe('SECRET=1\n')
  expect(read(root, '.ralph/run.json')).toBeNull()
  expect(existsSync(join(root, '.git/index.lock'))).toBe(false)
  expect(read(root, '.git/config')).not.toContain('[agent]')
  expect(git(root, 'for-each-ref', '--format=%(refname)', 'refs/heads')).toBe('refs/heads/main')
  expect(git(root, 'for-each-ref', 'refs/ralph/candidates')).toBe('')
  if (process.platform === 'linux') expect(processesIn(root)).toEqual([])
  expectEveryWordKept(trial)
  const refs = git(root, 'for-each-ref', '--format=%(refname:lstrip=3)', 'refs/ralph/attempts').split('\n')
  for (const id of TASKS) {
    const own = refs.flatMap((ref) => (ref.startsWith(`${id}/`) ? [Number(ref.slice(id.length + 1))] : []))
    const numbers = new Set(own)
    expect(numbers).toEqual(new Set(Array.from({ length: numbers.size }, (_, i) => i + 1)))
  }
}

/** Each thing that the agent wrote is in some commit that a ref leads to. */
function expectEveryWordKept(trial: Trial): void {
  const all = git(trial.root, 'rev-list', '--all').split('\n')
  const found = execFileSync('git', ['grep', '-h', '-o', '-E', 'T-00[0-9]-by-[0-9]+-[0-9]+', ...all], {
    cwd: trial.root,
    encoding: 'utf8',
  })
  const words = new Set(found.split('\n'))
  for (const word of lines(trial, 'wrote')) expect(words).toContain(word)
}

/** What the last run said it had all cost, where it was told of every agent that had told a cost. */
function expectCostRight(trial: Trial): void {
  const [finished = '{}'] = lines(trial, 'finished').slice(-1)
  const told: unknown = JSON.parse(finished)
  expect(told).toMatchObject({ cost: lines(trial, 'cost').length * COST })
}

/** Where a run is killed whose recovery is then killed as well. */
const DEATHS: readonly (readonly [checkpoint: string, occurrence: number])[] = [
  // The second task's agent is the one that commits of its own.
  ['agent-ended', 2],
  ['work-taken', 1],
  ['attempt-kept', 1],
  // The last attempt at the task that is then blocked.
  ['attempt-kept', 2],
  ['candidate-kept', 1],
  ['committed', 1],
  ['published', 1],
  ['blocking-noted', 1],
]

// It kills groups, and tells by the signal that a process was killed: Windows has neither.
describe.skipIf(process.platform === 'win32')('a run that is killed', () => {
  it('goes on from every point between two side effects', { timeout: 600_000 }, async () => {
    const scout = makeTrial()
    expect(await run(scout)).toBeNull()
    expectNothingLost(scout)
    expectCostRight(scout)
    const points = pointsOf(lines(scout, 'passed'))
    expect(points.length).toBeGreaterThan(40)
    const isElsewhere = (name: string): boolean => DEATHS.some(([death]) => death === name)
    const some = oneOfEach(points).filter(([name]) => !isElsewhere(name))
    await inPairs(isThorough ? points : some, async ([checkpoint, occurrence]) => {
      const trial = makeTrial()
      expect(await run(trial, { checkpoint, occurrence })).toBe('SIGKILL')
      expect(await run(trial)).toBeNull()
      expectNothingLost(trial)
      if (checkpoint !== 'run-cleared') expectCostRight(trial)
      remove(trial)
    })
  })

  it('goes on from every point of the recovery itself', { timeout: 600_000 }, async () => {
    const recoveries = ['run-noted', 'entered', 'candidates-dropped'] as const
    const pairs = DEATHS.flatMap((death, index) =>
      recoveries
        .filter((_, place) => isThorough || place === index % recoveries.length)
        .map((recovery) => [death, recovery] as const),
    )
    const thorough = [
      [['agent-ended', 2], 'attempt-kept'],
      [['work-taken', 1], 'attempt-kept'],
      [['attempt-kept', 2], 'run-noted'],
      [['attempt-kept', 2], 'blocking-noted'],
      [['candidate-kept', 1], 'candidates-found'],
      [['candidate-kept', 1], 'committed'],
      [['blocking-noted', 1], 'block-committed'],
      [['block-committed', 1], 'run-noted'],
    ] as const
    // What the ordinary suite has no time for.
    const all = isThorough ? [...pairs, ...thorough] : pairs
    await inPairs(all, async ([[checkpoint, occurrence], recovery]) => {
      const trial = makeTrial()
      expect(await run(trial, { checkpoint, occurrence })).toBe('SIGKILL')
      expect(await run(trial, { checkpoint: recovery })).toBe('SIGKILL')
      expect(await run(trial)).toBeNull()
      expectNothingLost(trial)
      expectCostRight(trial)
      remove(trial)
    })
  })

  it('goes on past the locks that a killed git has left', { timeout: 120_000 }, async () => {
    const trial = makeTrial()
    expect(await run(trial, { checkpoint: 'candidate-kept' })).toBe('SIGKILL')
    const locks = [
      'HEAD.lock',
      'packed-refs.lock',
      'refs/heads/main.lock',
      'refs/ralph/candidates/T-001.lock',
      'ralph-follow-index-look.lock',
    ]
    for (const lock of locks) writeFileSync(join(trial.root, '.git', lock), '')
    expect(await run(trial)).toBeNull()
    expectNothingLost(trial)
    expect(locks.filter((lock) => existsSync(join(trial.root, '.git', lock)))).toEqual([])
  })
})

describe.skipIf(process.platform === 'win32')('several jobs that are killed', () => {
  const jobs = 4
  /** Of many the suite has time for some, others each time that the list changes. */
  const some = <Item>(items: readonly Item[], step: number): readonly Item[] =>
    isThorough ? items : items.filter((_, index) => index % step === 0)

  function expectAllInOrder(trial: Trial): void {
    expectNothingLost(trial)
    expect(git(trial.root, 'rev-list', '--merges', 'HEAD')).toBe('')
  }

  it('go on from the points between two side effects', { timeout: 3_600_000 }, async () => {
    const scout = makeTrial()
    expect(await run(scout, { jobs })).toBeNull()
    expectAllInOrder(scout)
    const points = pointsOf(lines(scout, 'passed'))
    expect(points.length).toBeGreaterThan(40)
    await inPairs(some(points, 20), async ([checkpoint, occurrence]) => {
      const trial = makeTrial()
      await run(trial, { checkpoint, occurrence, jobs })
      expect(await run(trial, { jobs })).toBeNull()
      expectAllInOrder(trial)
      remove(trial)
    })
  })

  it('are gone on with one at a time, and the other way round', { timeout: 3_600_000 }, async () => {
    const deaths = some(['candidate-kept', 'agent-ended', 'published', 'attempt-kept'] as const, 2)
    await inPairs(deaths, async (checkpoint) => {
      const trial = makeTrial()
      expect(await run(trial, { checkpoint, occurrence: 2, jobs })).toBe('SIGKILL')
      expect(await run(trial, { checkpoint: 'committed' })).toBe('SIGKILL')
      expect(await run(trial, { jobs: checkpoint === 'published' ? jobs : 1 })).toBeNull()
      expectAllInOrder(trial)
      remove(trial)
    })
  })

  it('go on where the commit of a record was made, and no ref leads to it yet', async () => {
    const trial = makeTrial()
    expect(await run(trial, { checkpoint: 'attempt-kept', jobs })).toBe('SIGKILL')
    const refs = git(trial.root, 'for-each-ref', '--format=%(refname)', 'refs/ralph/attempts').split('\n')
    const last = refs.filter((ref) => ref.startsWith('refs/ralph/attempts/T-'))
    expect(last).not.toEqual([])
    for (const ref of last) git(trial.root, 'update-ref', '-d', ref)
    expect(await run(trial, { jobs })).toBeNull()
    expectAllInOrder(trial)
  })
})

describe.skipIf(process.platform === 'win32' || !isThorough)('kills at random', () => {
  it.each([
    ['of a run', { jobs: 1 }],
    ['of several jobs, twice', { jobs: 4 }],
    ['of a git of its own', { jobs: 4, onlyGit: true }],
  ])('%s lose nothing', { timeout: 7_200_000 }, async (_, how) => {
    const scout = makeTrial()
    const begun = performance.now()
    await run(scout, { jobs: how.jobs })
    const whole = performance.now() - begun
    const kills = Array.from({ length: RANDOM_KILLS }, (_, index) => index % 2 === 0)
    await inPairs(kills, async (group) => {
      const trial = makeTrial()
      for (let time = 0; time < (how.jobs > 1 ? 2 : 1); time++)
        await run(trial, { ...how, afterMs: Math.random() * whole, group })
      expect(await run(trial, { jobs: how.jobs })).toBeNull()
      expectNothingLost(trial)
      remove(trial)
    })
  })
})

/** Each checkpoint with how often a whole run comes by. */
function pointsOf(passed: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>()
  return passed.map((name) => {
    counts.set(name, (counts.get(name) ?? 0) + 1)
    return [name, counts.get(name) ?? 0] as const
  })
}

/** Each checkpoint once, in the middle of the run: what the suite has time for. */
function oneOfEach(points: ReturnType<typeof pointsOf>): ReturnType<typeof pointsOf> {
  const most = new Map(points)
  return points.filter(([name, occurrence]) => occurrence === Math.ceil(most.get(name)! / 2))
}

async function inPairs<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const queue = [...items]
  const lane = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      try {
        await work(item)
      } catch (error) {
        throw new Error(
          `after ${JSON.stringify(item)}: ${error instanceof Error ? error.message : String(error)}`,
          {
            cause: error,
          },
        )
      }
    }
  }
  await Promise.all([lane(), lane()])
}
