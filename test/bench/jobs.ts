import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runTasks } from '../../src/engine/run.ts'
import { IDLE, schedule, type Busy, type Schedule } from '../../src/backlog/select/schedule.ts'
import { ENV, git, put } from '../repository.ts'
import { gateOf, makePorts, OPTIONS, ownFolder } from '../run/ports.ts'
import type { Row } from './row.ts'

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
      ratio: `${(seconds / ideal).toFixed(2)} × the ideal schedule (${ideal.toFixed(1)} s; at most 1.15)`,
    })
  }
  const { landings, bareMs } = await measured({ tasks: LANDINGS, jobs: 1, agentMs: 0, gatesMs: null })
  const [first, last] = [median(landings.slice(0, 20)), median(landings.slice(-20))]
  rows.push({
    what: `a landing without gates and seal, ${LANDINGS} of them`,
    value: `${first.toFixed(0)} ms, the last 20 ${last.toFixed(0)} ms`,
    ratio: `${(last / bareMs).toFixed(2)} × bare add and commit (${bareMs.toFixed(1)} ms; at most 4)`,
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

interface Measured {
  readonly seconds: number
  readonly landings: readonly number[]
  readonly bareMs: number
}

async function measured({ tasks, jobs, agentMs, gatesMs }: Asked): Promise<Measured> {
  const root = mkdtempSync(join(tmpdir(), 'ralph-bench-jobs-'))
  try {
    makeBacklog(root, tasks)
    const ports = await makePorts({
      root,
      deed: async ({ cwd, task }) => {
        await pause(agentMs)
        put(cwd, { [`src/${task.id}.txt`]: 'x\n' })
      },
      gate: async () => (await pause(gatesMs ?? 0), true),
    })
    const gates = gatesMs === null ? [] : [gateOf('test')]
    const options = { ...OPTIONS, gates, jobs }
    const begun = new Map<string, number>()
    const landings: number[] = []
    let before = performance.now()
    await runTasks(options, ports, (event) => {
      if (event.type === 'run-started') before = performance.now()
      if (event.type === 'landing-started') begun.set(event.id, performance.now())
      if (event.type === 'landing-finished') landings.push(performance.now() - begun.get(event.id)!)
      if (event.type === 'warning') throw new Error(event.message)
    })
    const seconds = (performance.now() - before) / 1000
    if (landings.length < tasks) throw new Error(`only ${landings.length} landed`)
    return { seconds, landings, bareMs: median(bare(root)) }
  } finally {
    for (const folder of [root, ownFolder(root)]) rmSync(folder, { recursive: true, force: true })
  }
}

/** Of the built program, with agents in processes of their own. */
function memoryRow(): Row {
  const [one, eight] = [peakMb(1), peakMb(8)]
  return {
    what: 'memory of ralph, --jobs 8 over --jobs 1',
    value: `${eight.toFixed(0)} MB over ${one.toFixed(0)} MB at the peak`,
    ratio: `${((eight - one) / 7).toFixed(1)} MB a job (at most 40)`,
  }
}

function peakMb(jobs: number): number {
  const root = mkdtempSync(join(tmpdir(), 'ralph-bench-memory-'))
  const fromHere = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
  try {
    makeBacklog(
      root,
      8,
      'yes "a line as an agent prints it" | head -c 5000000\nsleep 1\necho x > "$RALPH_TASK"',
    )
    const use = join(root, '.git/use.json')
    const run = ['run', '--loop', '--jobs', String(jobs), '--agent', 'script']
    execFileSync(
      process.execPath,
      ['--require', fromHere('test/bench/report-use.cjs'), fromHere('dist/bin.cjs'), ...run],
      { cwd: root, env: { ...ENV, BENCH_USE_FILE: use, XDG_CACHE_HOME: ownFolder(root) }, stdio: 'ignore' },
    )
    const { peakMb: peak } = JSON.parse(readFileSync(use, 'utf8')) as { peakMb: number }
    return peak
  } finally {
    for (const folder of [root, ownFolder(root)]) rmSync(folder, { recursive: true, force: true })
  }
}

function makeBacklog(root: string, count: number, script = 'true'): void {
  const ids = Array.from({ length: count }, (_, index) => `T-${String(index + 1).padStart(4, '0')}`)
  const files = ids.map((id) => [
    `docs/tasks/${id}.md`,
    `# ${id}: Write a file\n\n- **Status**: TODO\n\n## Script\n\`\`\`sh\n${script}\n\`\`\`\n`,
  ])
  const config = '{"commit":{"seal":false},"gates":[]}'
  put(root, { ...Object.fromEntries(files), '.gitignore': '.ralph/\n', 'ralph.config.json': config })
  git(root, 'init', '-q', '-b', 'main')
  git(root, 'config', 'user.name', 'bench')
  git(root, 'config', 'user.email', 'bench@example.com')
  git(root, 'add', '-A')
  git(root, 'commit', '-q', '-m', 'Begin')
}

function bare(root: string): readonly number[] {
  return Array.from({ length: 11 }, (_, index) => {
    put(root, { [`bare/${index}.txt`]: `${index}\n` })
    const before = performance.now()
    execFileSync('sh', ['-c', 'git add -A && git commit -q -m bare'], { cwd: root, env: ENV })
    return performance.now() - before
  })
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? NaN
}
