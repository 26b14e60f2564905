import {
  type Busy,
  type Claim,
  type Schedule,
  overlapOf,
  schedule,
} from '../../src/backlog/select/schedule.ts'

/** Numbers that are the same for the same seed. */
export function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

interface SimTask {
  readonly id: string
  readonly number: number
  readonly touches: readonly string[]
  readonly needs: readonly number[]
  /** The files that it really writes, said or not. */
  readonly writes: readonly string[]
  /** Its gates fail on a tree with this one, or with any other, unless it was made on top of it. */
  readonly quarrels: number | 'all' | null
}

/** What there is of a commit: who wrote each file last, and on what. */
type Tree = ReadonlyMap<string, string>

interface Commit {
  readonly task: number | null
  readonly tree: Tree
}

interface Candidate {
  readonly task: SimTask
  readonly base: number
  readonly tree: Tree
}

/** How often a task met others in a run, and how many tasks had done so before it. */
interface Meetings {
  inPaths: number
  together: number
  readonly before: number
}

/** Chances and sizes of a world. */
export interface World {
  readonly tasks: number
  readonly jobs: number
  readonly retries: number
  readonly failing: number
  readonly killing: number
  readonly persons: number
  readonly maxTasks: number | null
  readonly overlap: 'wait' | 'ignore'
}

/** A whole backlog worked off by the scheduler's own decision, in a world that a seed makes; throws where a promise is broken. */
export function simulate(world: World, seed: number) {
  const chance = random(seed)
  const pick = (below: number): number => Math.floor(chance() * below)
  const tasks = makeTasks(world, chance, pick)
  const branch: Commit[] = [{ task: null, tree: new Map() }]
  const checked = new Set<Tree>([branch[0]!.tree])
  /** What outlives a kill: refs. */
  const candidates = new Map<number, Candidate>()
  const attempts = new Map<number, number>()
  const blocked = new Set<number>()
  const made: Candidate[] = []
  const recorded = new Set<Candidate>()
  const starving = new Set<string>()
  /** What one run knows, and nobody after it. */
  const begun = () => ({
    held: new Set<number>(),
    again: new Set<string>(),
    claims: new Map<string, Claim>(),
    met: new Map<string, Meetings>(),
  })
  let life = begun()
  let dirty = new Set<string>()
  let [kills, conflicts, steps, isPersonActive] = [0, 0, 0, true]

  const landedAt = (number: number): number => branch.findIndex(({ task }) => task === number)
  const isDone = (number: number): boolean => landedAt(number) > 0

  for (let life = 0; life < 50; life++) {
    const ended = run()
    if (ended) break
    kills++
    if (life === 49) throw new Error('it never came to its end')
  }
  check()
  return {
    landed: branch.flatMap(({ task }) => (task === null ? [] : [task])),
    blocked: [...blocked],
    held: [...candidates.keys()],
    kills,
    conflicts,
    /** Each conflict claims something more, or lets one land that met others before: these met others more often than that. */
    starving,
  }

  /** One run; false where it was killed. */
  function run(): boolean {
    const working = new Map<
      number,
      { readonly task: SimTask; readonly base: number; readonly until: number }
    >()
    life = begun()
    const { held, again, claims } = life
    const looks = new Map<number, number>()
    let landing: { readonly number: number; readonly until: number } | null = null
    let [now, tasksBegun] = [0, 0]
    for (;;) {
      if (++steps > 20_000) throw new Error('it does not end')
      if (chance() < world.killing) return false
      for (const number of held) {
        const tries = looks.get(number) ?? 0
        if (tries < 5 && !isInTheWay(candidates.get(number)!)) {
          looks.set(number, tries + 1)
          held.delete(number)
        }
      }
      const busy: Busy<SimTask>[] = [
        ...[...working.values()].map(({ task }) => ({ task, phase: 'working' as const })),
        ...[...candidates].map(([number, { task }]) => ({
          task,
          changed: task.writes,
          phase: held.has(number) ? ('held' as const) : ('ready' as const),
        })),
      ]
      const eligible = tasks.filter(
        ({ number, needs }) => !isDone(number) && !blocked.has(number) && needs.every(isDone),
      )
      const mayBegin = (world.maxTasks ?? Infinity) - tasksBegun
      const standing = {
        eligible,
        busy,
        jobs: world.jobs,
        overlap: world.overlap,
        claims,
        mayBegin,
        again,
        isEnding: false,
        isStopping: false,
      }
      const plan: Schedule<SimTask> = schedule({ ...standing, isLanding: landing !== null })
      for (const task of plan.begin) {
        if (busy.some((one) => one.task.number === task.number))
          throw new Error(`${task.id} is done twice at once`)
        if (!again.delete(task.id)) tasksBegun++
        working.set(task.number, { task, base: branch.length - 1, until: now + 1 + pick(20) })
      }
      if (tasksBegun > (world.maxTasks ?? Infinity)) throw new Error('more tasks began than may')
      if (working.size > world.jobs) throw new Error('more agents work than may')
      refuseOverlap([...working.values()].map(({ task }) => task))
      if (plan.land) landing = { number: plan.land.number, until: now + 1 + pick(4) }
      const next = [...working.values()].map(({ until }) => until)
      if (landing) next.push(landing.until)
      if (next.length === 0) {
        if (!plan.isOver) throw new Error('nothing goes on, and it is not over')
        if (isPersonActive && held.size > 0) {
          // In the end a person commits, or leaves.
          isPersonActive = false
          if (chance() < 0.5) dirty = new Set()
          continue
        }
        if (mayBegin > 0) refuseIdle(eligible, busy)
        return true
      }
      now = Math.min(...next)
      personActs()
      if (landing && landing.until <= now) {
        const { number } = landing
        landing = null
        land(number)
      }
      for (const [number, { task, base, until }] of working) {
        if (until > now) continue
        working.delete(number)
        finish(task, base)
      }
    }
  }

  function personActs(): void {
    if (!isPersonActive || chance() >= world.persons) return
    if (chance() < 0.5) dirty = new Set(chance() < 0.5 ? [] : [`f${pick(8)}`])
    else {
      const tree = new Map(branch.at(-1)!.tree).set(`p${pick(4)}`, `person ${branch.length}`)
      checked.add(tree)
      branch.push({ task: null, tree })
    }
  }

  function finish(task: SimTask, base: number): void {
    const { again, claims } = life
    if (chance() < world.failing) {
      const count = (attempts.get(task.number) ?? 0) + 1
      attempts.set(task.number, count)
      if (count <= world.retries) return void again.add(task.id)
      claims.delete(task.id)
      return void blocked.add(task.number)
    }
    const tree = new Map(branch[base]!.tree)
    for (const path of task.writes) tree.set(path, `${task.id} on ${tree.get(path) ?? 'nothing'}`)
    checked.add(tree)
    const candidate = { task, base, tree }
    made.push(candidate)
    candidates.set(task.number, candidate)
  }

  function isInTheWay({ task }: Candidate): boolean {
    return task.writes.some((path) => dirty.has(path))
  }

  function land(number: number): void {
    const { held, again, claims, met } = life
    const candidate = candidates.get(number)!
    const tip = branch.at(-1)!
    const base = branch[candidate.base]!
    const { task } = candidate
    const paths = task.writes.filter((path) => tip.tree.get(path) !== base.tree.get(path))
    const tree = new Map(tip.tree)
    for (const path of task.writes) tree.set(path, candidate.tree.get(path)!)
    const isSame = tip === base
    const { quarrels } = task
    const failsTogether =
      quarrels === 'all' ? !isSame : quarrels !== null && landedAt(quarrels) > candidate.base
    if (paths.length > 0 || failsTogether) {
      conflicts++
      candidates.delete(number)
      recorded.add(candidate)
      again.add(task.id)
      const times = met.get(task.id) ?? { inPaths: 0, together: 0, before: claims.size }
      if (paths.length > 0) times.inPaths++
      else times.together++
      met.set(task.id, times)
      // After a second conflict that only the gates see, it works alone.
      const before = claims.get(task.id)?.paths ?? []
      claims.set(task.id, { paths: [...before, ...paths], isAlone: times.together > 1 })
      if (times.inPaths + times.together > task.writes.length + 2 + times.before) starving.add(task.id)
      return
    }
    if (isInTheWay(candidate)) return void held.add(number)
    if (!isSame) checked.add(tree)
    branch.push({ task: number, tree: isSame ? candidate.tree : tree })
    candidates.delete(number)
    claims.delete(task.id)
  }

  function isBeside(one: SimTask, other: SimTask): boolean {
    const [own, theirs] = [life.claims.get(one.id), life.claims.get(other.id)]
    if (own?.isAlone || theirs?.isAlone) return false
    const kept = ({ touches }: SimTask, claim: Claim | undefined): readonly string[] => [
      ...(world.overlap === 'wait' ? touches : []),
      ...(claim?.paths ?? []),
    ]
    return overlapOf(kept(one, own), kept(other, theirs)) === null
  }

  function refuseOverlap(at: readonly SimTask[]): void {
    for (const [index, one] of at.entries())
      for (const other of at.slice(index + 1))
        if (!isBeside(one, other)) throw new Error(`${one.id} and ${other.id} overlap`)
  }

  /** What could begin, and waits for nothing that is still there, was forgotten. */
  function refuseIdle(eligible: readonly SimTask[], busy: readonly Busy<SimTask>[]): void {
    // A task that waits with a claim lets nobody pass it.
    const before = eligible.filter(({ id }) => life.claims.has(id))
    const others = [...busy.map(({ task }) => task), ...before]
    for (const task of eligible) {
      const isHeld = busy.some((one) => one.task === task)
      const waits = others.some((other) => other !== task && !isBeside(task, other))
      if (!isHeld && !waits) throw new Error(`${task.id} could have been done`)
    }
  }

  function check(): void {
    const landed = branch.flatMap(({ task }) => (task === null ? [] : [task]))
    if (new Set(landed).size !== landed.length) throw new Error('a task landed twice')
    for (const { number, needs } of tasks)
      for (const need of needs)
        if (isDone(number) && !(landedAt(need) > 0 && landedAt(need) < landedAt(number)))
          throw new Error(`${number} landed before ${need}`)
    for (const { tree } of branch) if (!checked.has(tree)) throw new Error('a landed tree was never checked')
    for (const candidate of made) {
      const isKept = recorded.has(candidate) || candidates.get(candidate.task.number) === candidate
      if (!isKept && !isDone(candidate.task.number)) throw new Error('a candidate is lost')
    }
    if (landed.some((number) => blocked.has(number))) throw new Error('a task is done and blocked')
  }
}

function makeTasks(world: World, chance: () => number, pick: (below: number) => number): readonly SimTask[] {
  return Array.from({ length: world.tasks }, (_, index) => {
    const number = index + 1
    const writes = [...new Set(Array.from({ length: 1 + pick(2) }, () => `f${pick(8)}`))]
    const isHonest = chance() < 0.5
    return {
      id: `T-${String(number).padStart(3, '0')}`,
      number,
      writes,
      touches: isHonest ? writes : [],
      needs: index === 0 || chance() < 0.6 ? [] : [1 + pick(index)],
      quarrels: index > 0 && chance() < 0.2 ? (chance() < 0.3 ? 'all' : 1 + pick(index)) : null,
    }
  })
}
