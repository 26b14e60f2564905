import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Git } from '../../src/git/git.ts'
import { openCheckout } from '../../src/run/checkout.ts'
import { runLoop } from '../../src/run/loop.ts'
import { openGit } from '../../src/git/door.ts'
import { ENV, git, put } from '../git/bare-git.ts'
import { makePorts, OPTIONS } from '../run/ports.ts'

/** One measured thing, and how it stands to what it is measured against. */
export interface RunRow {
  readonly what: string
  readonly value: string
  readonly ratio: string
}

const TRIVIAL = 10

/** Measures what ralph does between two agents, beside `git add -A && git commit` in the same repository. */
export async function benchRun(): Promise<readonly RunRow[]> {
  const small = await between({ tasks: TRIVIAL + 1, done: 0 })
  const large = await between({ tasks: 1000, done: 1000 - TRIVIAL - 1 })
  return [row('11 tasks', small), row('1,000 tasks, the last 11 of them', large)]
}

interface Measured {
  readonly pauseMs: number
  readonly bareMs: number
  readonly processes: number
}

function row(where: string, { pauseMs, bareMs, processes }: Measured): RunRow {
  return {
    what: `agent end to next agent, no gates, no seal: ${where}`,
    value: `${pauseMs.toFixed(1)} ms, ${processes} git processes`,
    ratio: `${(pauseMs / bareMs).toFixed(2)} × bare add and commit (${bareMs.toFixed(1)} ms)`,
  }
}

async function between(size: { readonly tasks: number; readonly done: number }): Promise<Measured> {
  const root = mkdtempSync(join(tmpdir(), 'ralph-bench-run-'))
  try {
    makeBacklog(root, size)
    const before = bare(root, 'before')
    const ports = await makePorts({ root })
    let processes = 0
    const door = openGit({ cwd: root, env: ENV })
    const counting: Git = { cwd: root, run: (args, options) => (processes++, door.run(args, options)) }
    const marks: { readonly at: number; readonly processes: number }[] = []
    const pauses: { readonly ms: number; readonly processes: number }[] = []
    const agent = {
      name: 'bench',
      async *run(request: { readonly task: { readonly id: string } }) {
        const last = marks.at(-1)
        if (last) pauses.push({ ms: performance.now() - last.at, processes: processes - last.processes })
        put(root, { [`src/${request.task.id}.txt`]: 'x\n' })
        marks.push({ at: performance.now(), processes })
        yield { type: 'finished' as const, outcome: OUTCOME }
      },
    }
    const choice = {
      agent,
      label: 'bench',
      model: null,
      permission: { level: 'edit' as const },
      mcpServers: {},
    }
    const workspace = openCheckout(counting, ports.repository, root)
    const events = runLoop(OPTIONS, { ...ports, workspace, agentsFor: async () => [choice] })
    for await (const event of events) if (event.type === 'warning') throw new Error(event.message)
    return {
      pauseMs: median(pauses.map(({ ms }) => ms)),
      // Before and after, for the machine may be busier at one time than at another.
      bareMs: median([...before, ...bare(root, 'after')]),
      processes: Math.max(...pauses.map((pause) => pause.processes)),
    }
  } finally {
    rmSync(root, { recursive: true, force: true })
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
  for (const { what, value, ratio } of await benchRun()) process.stdout.write(`${what}   ${value}   ${ratio}\n`)
}
