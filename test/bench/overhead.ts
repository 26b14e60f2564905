import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { startProcess } from '../../src/process/start.ts'
import type { AgentRequest } from '../../src/agents/port.ts'
import { claude } from '../../src/agents/providers/claude.ts'
import { createAgent } from '../../src/agents/runtime.ts'
import { startFakeModelApi } from '../agents/fake-model-api.ts'
import { environment } from '../agents/home.ts'
import { inTurn, say, shell } from '../agents/model.ts'
import type { Row } from './row.ts'
import { requestOf } from '../agent/requests.ts'

const ROUNDS = 15
const CACHE = process.env['RALPH_AGENT_CACHE'] ?? path.resolve('node_modules/.cache/agents')
const WHAT = "a session of the real claude through ralph, over claude's own"

/** Runs the real claude against the fake API by itself and through ralph, in turn: the same command line, session and prompt. */
export async function benchOverhead(): Promise<Row> {
  const programs = path.join(CACHE, 'claude/node_modules/.bin')
  if (!existsSync(path.join(programs, 'claude'))) {
    return { what: WHAT, value: 'not measured', ratio: 'npm run test:agents installs claude' }
  }
  const folder = mkdtempSync(path.join(homedir(), '.ralph-bench-'))
  const api = await startFakeModelApi(inTurn(shell('echo one'), shell('echo two'), say('Done. <TASK_DONE>')))
  try {
    const [cwd, home] = [path.join(folder, 'project'), path.join(folder, 'home')]
    for (const made of [cwd, home]) mkdirSync(made)
    return await measure({ cwd, env: environment('claude', api.url, home, programs) })
  } finally {
    await api[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function measure(where: Where): Promise<Row> {
  // The first of each writes the settings of a fresh home.
  await runBare(where)
  await runOurs(where)
  const [bare, ours]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    const bareFirst = round % 2 === 0
    if (bareFirst) bare.push(await time(() => runBare(where)))
    ours.push(await time(() => runOurs(where)))
    if (!bareFirst) bare.push(await time(() => runBare(where)))
  }
  const extra = least(ours) - least(bare)
  return {
    what: WHAT,
    value: `${extra.toFixed(0)} ms (at most 50, or 5 %)`,
    ratio: `${((extra / least(bare)) * 100).toFixed(1)} % of ${least(bare).toFixed(0)} ms`,
  }
}

interface Where {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

function request({ cwd, env }: Where): AgentRequest {
  const permission = { level: 'custom', args: ['--permission-mode', 'acceptEdits'] } as const
  const limits = { turns: 20, seconds: 90, stallSeconds: 60, budgetUsd: null }
  return requestOf({ prompt: 'Do the task.', cwd, env, limits, permission })
}

async function runBare(where: Where): Promise<void> {
  const { program, args, env, stdin } = claude.invocation(request(where))
  const child = spawn(program, args, { cwd: where.cwd, env: { ...where.env, ...env }, stdio: 'pipe' })
  for (const stream of [child.stdout, child.stderr]) stream.resume()
  child.stdin.end(stdin)
  const code = await new Promise((resolve) => child.once('close', resolve))
  if (code !== 0) throw new Error(`claude exited with ${String(code)}`)
}

async function runOurs(where: Where): Promise<void> {
  const agent = createAgent(claude, { start: startProcess, now: () => new Date() })
  const { end } = await agent.run(request(where), () => undefined)
  if (end.kind !== 'done') throw new Error(`claude ended as ${JSON.stringify(end)}`)
}

async function time(work: () => Promise<void>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

/** What else the machine does can only add. */
function least(values: readonly number[]): number {
  return Math.min(...values)
}
