import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AgentRequest } from '../../src/agents/port.ts'
import type { Git } from '../../src/git/git.ts'
import { runTasks } from '../../src/engine/run.ts'
import { ENV, git, put } from '../repository.ts'
import { doneBy, makePorts, OPTIONS, ownFolder } from '../run/ports.ts'
import type { Row } from './row.ts'

const TRIVIAL = 10

/**
 * Measures what ralph does between two agents, beside `git add -A && git commit` in the same repository, and what a
 * run takes while its agent prints a gigabyte, beside one that prints next to nothing.
 */
export async function benchRun(): Promise<readonly Row[]> {
  const small = await between({ tasks: TRIVIAL + 1, done: 0 })
  const large = await between({ tasks: 1000, done: 1000 - TRIVIAL - 1 })
  const wide = await between({ tasks: TRIVIAL + 1, done: 0, files: 20_000 })
  return [
    row('11 tasks', small),
    row('1,000 tasks, the last 11 of them', large),
    row('11 tasks, 20,000 files', wide),
    ...wholeRows(),
    streamRow(),
  ]
}

interface Measured {
  readonly pauseMs: number
  readonly bareMs: number
  readonly processes: number
}

function row(where: string, { pauseMs, bareMs, processes }: Measured): Row {
  return {
    what: `agent end to next agent, no gates, no seal: ${where}`,
    value: `${pauseMs.toFixed(1)} ms, ${processes} git processes`,
    ratio: `${(pauseMs / bareMs).toFixed(2)} × bare add and commit (${bareMs.toFixed(1)} ms)`,
  }
}

/** Of the built program, with the agent in a process of its own. */
function streamRow(): Row {
  const [little, much] = [peakOver(1e3), peakOver(1e9)]
  return {
    what: 'ralph run, an agent that prints 1 GB',
    value: `${much.peakMb.toFixed(0)} MB at the peak, ${(much.cpuMs / 1000).toFixed(1)} s of CPU`,
    ratio: `${(much.peakMb / little.peakMb).toFixed(2)} × as with 1 kB (${little.peakMb.toFixed(0)} MB)`,
  }
}

function peakOver(bytes: number): { readonly peakMb: number; readonly cpuMs: number } {
  const root = mkdtempSync(join(tmpdir(), 'ralph-bench-stream-'))
  const fromHere = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
  try {
    const script = `yes "a line as an agent may print it, of some eighty characters, again and again" | head -c ${bytes}\necho x > work`
    put(root, {
      'docs/tasks/T-1.md': `# T-1: Print\n\n- **Status**: TODO\n\n## Script\n\`\`\`sh\n${script}\n\`\`\`\n`,
      'ralph.config.json': '{"commit":{"seal":false},"gates":[]}',
    })
    begin(root)
    const use = join(root, '.git/use.json')
    const args = ['--require', fromHere('test/bench/report-use.cjs'), fromHere('dist/bin.cjs')]
    execFileSync(process.execPath, [...args, 'run', '--agent', 'script'], {
      cwd: root,
      env: { ...ENV, BENCH_USE_FILE: use },
      stdio: 'ignore',
    })
    return JSON.parse(readFileSync(use, 'utf8'))
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** Of the built program: a run with one gate in a slot that is there, and the making of one. */
function wholeRows(): readonly Row[] {
  const root = mkdtempSync(join(tmpdir(), 'ralph-bench-whole-'))
  try {
    makeBacklog(root, { tasks: 8, done: 0, files: 3000, script: 'echo x >> work.txt' })
    put(root, { 'ralph.config.json': '{"commit":{"seal":false},"gates":[{"name":"test","command":"true"}]}' })
    git(root, 'add', '-A')
    git(root, 'commit', '-q', '-m', 'Configure')
    const env = { ...ENV, XDG_CACHE_HOME: ownFolder(root) }
    const cold = timeOf(root, [process.execPath, RALPH, 'run', '--agent', 'script'], env)
    const work = 'echo x >> bare.txt && true && git add -A && git commit -q -m bare'
    const warm: number[] = []
    const byHand: number[] = []
    const node: number[] = []
    for (let count = 0; count < 7; count++) {
      warm.push(timeOf(root, [process.execPath, RALPH, 'run', '--agent', 'script'], env))
      byHand.push(timeOf(root, ['sh', '-c', work], env))
      node.push(timeOf(root, [process.execPath, '-e', '0'], env))
    }
    const over = median(warm) - median(byHand)
    const checkouts = timeOf(root, ['sh', '-c', twoCheckouts(ownFolder(root))], env)
    return [
      {
        what: 'ralph run, one task with one gate, a slot that is there, 3,000 files',
        value: `${median(warm).toFixed(0)} ms, ${over.toFixed(0)} ms over agent, gate and commit`,
        ratio: `${(over / median(node)).toFixed(1)} × bare node (${median(node).toFixed(0)} ms; at most 20)`,
      },
      {
        what: 'making the slot',
        value: `${(cold - median(warm)).toFixed(0)} ms`,
        ratio: `${((cold - median(warm)) / checkouts).toFixed(2)} × two checkouts (${checkouts.toFixed(0)} ms; at most 1.5)`,
      },
    ]
  } finally {
    for (const folder of [root, ownFolder(root)]) rmSync(folder, { recursive: true, force: true })
  }
}

const RALPH = fileURLToPath(new URL('../../dist/bin.cjs', import.meta.url))

function twoCheckouts(folder: string): string {
  const one = (name: string): string => `git worktree add -q --detach ${join(folder, name)} HEAD`
  return `${one('one')} && ${one('two')}`
}

function timeOf(
  cwd: string,
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): number {
  const before = performance.now()
  execFileSync(program, args, { cwd, env, stdio: 'ignore' })
  return performance.now() - before
}

async function between(size: Size): Promise<Measured> {
  const root = mkdtempSync(join(tmpdir(), 'ralph-bench-run-'))
  try {
    makeBacklog(root, size)
    const before = bare(root, 'before')
    let processes = 0
    const counted = (inner: Git): Git => ({
      ...inner,
      run: (args, options) => (processes++, inner.run(args, options)),
      at: (cwd) => counted(inner.at(cwd)),
      with: (more) => counted(inner.with(more)),
    })
    const marks: { readonly at: number; readonly processes: number }[] = []
    const pauses: { readonly ms: number; readonly processes: number }[] = []
    const agent = {
      name: 'bench',
      async run(request: AgentRequest) {
        const last = marks.at(-1)
        if (last) pauses.push({ ms: performance.now() - last.at, processes: processes - last.processes })
        put(request.cwd, { [`src/${request.task.id}.txt`]: 'x\n' })
        marks.push({ at: performance.now(), processes })
        return OUTCOME
      },
    }
    const ports = await makePorts({ root, counted, ports: doneBy(agent) })
    await runTasks(OPTIONS, ports, (event) => {
      if (event.type === 'warning') throw new Error(event.message)
    })
    return {
      pauseMs: median(pauses.map(({ ms }) => ms)),
      // Before and after, for the machine may be busier at one time than at another.
      bareMs: median([...before, ...bare(root, 'after')]),
      processes: Math.max(...pauses.map((pause) => pause.processes)),
    }
  } finally {
    for (const folder of [root, ownFolder(root)]) rmSync(folder, { recursive: true, force: true })
  }
}

const OUTCOME = {
  end: { kind: 'done' },
  finalMessage: 'Done.',
  usage: { turns: null, inputTokens: null, cachedTokens: null, outputTokens: null, costUsd: null },
  sessionId: null,
  model: null,
  denied: [],
  seconds: 0,
} as const

interface Size {
  readonly tasks: number
  readonly done: number
  /** How many other files there are. */
  readonly files?: number
  readonly script?: string
}

function makeBacklog(root: string, { tasks, done, files = 0, script }: Size): void {
  mkdirSync(join(root, 'docs/tasks'), { recursive: true })
  for (let number = 1; number <= tasks; number++) {
    const id = `T-${String(number).padStart(4, '0')}`
    const status = number <= done ? 'DONE' : 'TODO'
    const text = `# ${id}: Write a file\n\n- **Status**: ${status}\n\n## Description\nWrite it.\n${'More of it.\n'.repeat(50)}${script === undefined ? '' : `\n## Script\n\`\`\`sh\n${script}\n\`\`\`\n`}`
    writeFileSync(join(root, `docs/tasks/${id}.md`), text)
  }
  for (let number = 0; number < files; number++) {
    const folder = join(root, `lib/${number % 200}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `${number}.txt`), `${number}\n`.repeat(50))
  }
  writeFileSync(join(root, '.gitignore'), '.ralph/\n')
  begin(root)
}

function begin(root: string): void {
  git(root, 'init', '-q')
  git(root, 'config', 'user.name', 'bench')
  git(root, 'config', 'user.email', 'bench@example.com')
  git(root, 'add', '-A')
  git(root, 'commit', '-q', '-m', 'Begin')
}

function bare(root: string, when: string): readonly number[] {
  return Array.from({ length: 11 }, (_, i) => {
    put(root, { [`bare/${when}-${i}.txt`]: `${i}\n` })
    const before = performance.now()
    execFileSync('sh', ['-c', 'git add -A && git commit -q -m bare'], { cwd: root, env: ENV })
    return performance.now() - before
  })
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? NaN
}

if (/(?:^|[\\/])run\.[cm]?js$/.test(process.argv[1] ?? '')) {
  for (const { what, value, ratio } of await benchRun())
    process.stdout.write(`${what}   ${value}   ${ratio}\n`)
}
