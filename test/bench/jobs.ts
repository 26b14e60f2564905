import { setTimeout as pause } from 'node:timers/promises'
import { runTasks } from '../../src/engine/run.ts'
import { IDLE, schedule, type Busy, type Schedule } from '../../src/backlog/select/schedule.ts'
import { makeRepository, put } from '../repository.ts'
import { gateOf, makePorts, OPTIONS } from '../run/ports.ts'
import { bareCommits, median, ms, scriptedFiles, times, useOf, type Row } from './measure.ts'

const AGENT_MS = 2000
const GATES_MS = 300
const TASKS = 16
const LANDINGS = 100

/** Measures several jobs at once beside the schedule that costs nothing, a landing beside a bare commit, and memory. */
export async function benchJobs(): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const jobs of [1, 2, 4, 8]) {
    const { seconds } = await measured({ tasks: TASKS, jobs, agentMs: AGENT_MS, gatesMs: GATES_MS })
    const ideal = idealSeconds(jobs)
    rows.push({
      what: `${TASKS} tasks, agent 2 s, gates 0.3 s, --jobs ${jobs}`,
      value: `${seconds.toFixed(1)} s`,
      ratio: `${times(seconds / ideal)} the ideal schedule (${ideal.toFixed(1)} s; at most 1.15)`,
    })
  }
  const { landings, bareMs } = await measured({ tasks: LANDINGS, jobs: 1, agentMs: 0, gatesMs: null })
  const [first, last] = [median(landings.slice(0, 20)), median(landings.slice(-20))]
  rows.push({
    what: `a landing without gates and seal, ${LANDINGS} of them`,
    value: `${ms(first)}, the last 20 ${ms(last)}`,
    ratio: `${times(last / bareMs)} bare add and commit (${ms(bareMs, 1)}; at most 4)`,
  })
  return [...rows, memoryRow()]
}

interface Sim {
  readonly id: string
  readonly number: number
  readonly touches: readonly string[]
}

/** How long it takes where only agents, gates and the order of landings do, by the scheduler's own decision. */
function idealSeconds(jobs: number): number {
  const tasks = Array.from({ length: TASKS }, (_, index) => ({
    id: `T-${index}`,
    number: index,
    touches: [],
  }))
  const working = new Map<number, { readonly until: number; readonly base: number }>()
  const ready = new Map<number, number>()
  const landed = new Set<number>()
  let [now, landing]: [number, { readonly number: number; readonly until: number } | null] = [0, null]
  while (landed.size < TASKS) {
    const busy = tasks.flatMap((task): Busy<Sim>[] => {
      if (working.has(task.number)) return [{ task, phase: 'working' }]
      return ready.has(task.number) ? [{ task, phase: 'ready' }] : []
    })
    const eligible = tasks.filter(({ number }) => !landed.has(number))
    const plan: Schedule<Sim> = schedule({
      ...IDLE,
      eligible,
      busy,
      jobs,
      overlap: 'wait',
      isLanding: landing !== null,
    })
    for (const { number } of plan.begin)
      working.set(number, { until: now + AGENT_MS + GATES_MS, base: landed.size })
    if (plan.land) {
      const isAlone = ready.get(plan.land.number) === landed.size
      landing = { number: plan.land.number, until: now + (isAlone ? 0 : GATES_MS) }
    }
    now = Math.min(...[...working.values()].map(({ until }) => until), landing?.until ?? Infinity)
    if (landing && landing.until <= now) {
      ready.delete(landing.number)
      landed.add(landing.number)
      landing = null
    }
    for (const [number, { until, base }] of working) {
      if (until > now) continue
      working.delete(number)
      ready.set(number, base)
    }
  }
  return now / 1000
}

interface Asked {
  readonly tasks: number
  readonly jobs: number
  readonly agentMs: number
  readonly gatesMs: number | null
}

async function measured({ tasks, jobs, agentMs, gatesMs }: Asked) {
  const root = makeRepository(scriptedFiles(tasks, 'true'))
  const ports = await makePorts({
    root,
    deed: async ({ cwd, task }) => {
      await pause(agentMs)
      put(cwd, { [`src/${task.id}.txt`]: 'x\n' })
    },
    gate: async () => (await pause(gatesMs ?? 0), true),
  })
  const begun = new Map<string, number>()
  const landings: number[] = []
  let before = performance.now()
  await runTasks({ ...OPTIONS, gates: gatesMs === null ? [] : [gateOf('test')], jobs }, ports, (event) => {
    if (event.type === 'run-started') before = performance.now()
    if (event.type === 'landing-started') begun.set(event.id, performance.now())
    if (event.type === 'landing-finished') landings.push(performance.now() - begun.get(event.id)!)
    if (event.type === 'warning') throw new Error(event.message)
  })
  const seconds = (performance.now() - before) / 1000
  if (landings.length < tasks) throw new Error(`only ${landings.length} landed`)
  return { seconds, landings, bareMs: median(await bareCommits(root, 'after')) }
}

/** Of the built program, with agents in processes of their own. */
function memoryRow(): Row {
  const script = 'yes "a line as an agent prints it" | head -c 5000000\nsleep 1\necho x > "$RALPH_TASK"'
  const [one, eight] = [1, 8].map((jobs) => {
    const root = makeRepository(scriptedFiles(8, script))
    return useOf(root, ['run', '--loop', '--jobs', String(jobs)]).peakMb
  }) as [number, number]
  return {
    what: 'memory of ralph, --jobs 8 over --jobs 1',
    value: `${eight.toFixed(0)} MB over ${one.toFixed(0)} MB at the peak`,
    ratio: `${((eight - one) / 7).toFixed(1)} MB a job (at most 40)`,
  }
}
