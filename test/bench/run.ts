import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AgentRequest } from '../../src/agent/port.ts'
import type { Git } from '../../src/git/git.ts'
import { runTasks } from '../../src/engine/run.ts'
import { ENV, git, put } from '../git/bare-git.ts'
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
  return [row('11 tasks', small), row('1,000 tasks, the last 11 of them', large), streamRow()]
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

async function between(size: { readonly tasks: number; readonly done: number }): Promise<Measured> {
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
      async *run(request: AgentRequest) {
        const last = marks.at(-1)
        if (last) pauses.push({ ms: performance.now() - last.at, processes: processes - last.processes })
        put(request.cwd, { [`src/${request.task.id}.txt`]: 'x\n' })
        marks.push({ at: performance.now(), processes })
        yield { type: 'finished' as const, outcome: OUTCOME }
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

function makeBacklog(root: string, { tasks, done }: { readonly tasks: number; readonly done: number }): void {
  mkdirSync(join(root, 'docs/tasks'), { recursive: true })
  for (let number = 1; number <= tasks; number++) {
    const id = `T-${String(number).padStart(4, '0')}`
    const status = number <= done ? 'DONE' : 'TODO'
    const text = `# ${id}: Write a file\n\n- **Status**: ${status}\n\n## Description\nWrite it.\n${'More of it.\n'.repeat(50)}`
    writeFileSync(join(root, `docs/tasks/${id}.md`), text)
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
