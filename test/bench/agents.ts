import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import type { Provider } from '../../src/agents/port.ts'
import { claude } from '../../src/agents/providers/claude.ts'
import { cageAvailable } from '../../src/process/cage/available.ts'
import { agentPolicy, gatePolicy } from '../../src/process/cage/rules.ts'
import { cagedStart } from '../../src/process/cage/start.ts'
import { createAgent } from '../../src/agents/runtime.ts'
import { startProcess } from '../../src/process/start.ts'
import { gateRunner } from '../../src/engine/gates/run.ts'
import { benchOverhead } from './overhead.ts'
import type { Row } from './row.ts'
import { requestOf } from '../agent/requests.ts'

const BYTES = 1_000_000_000
const ROUNDS = 41

/** Measures the stream of an agent and of a gate, what it costs to leave nothing of a process alive, and all of it over a real agent. */
export async function benchAgents(): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const length of [100, 1000, 20_000]) {
    const line = assistantLine(length)
    const what = `claude's stream of 1 GB, lines of ${line.length} bytes`
    rows.push(await measure(what, () => readStream(line)))
  }
  rows.push(await measure('output of a gate of 1 GB, lines of 52 bytes', readGate))
  return [...rows, await benchEnd(), ...(await benchCage()), await benchOverhead()]
}

function assistantLine(length: number): string {
  const content = [{ type: 'text', text: 'y'.repeat(length) }]
  return JSON.stringify({ type: 'assistant', message: { id: 'm', model: 'x', content, usage: {} } })
}

async function readStream(line: string): Promise<void> {
  const provider: Provider = { ...claude, invocation: () => printing(line) }
  const agent = createAgent(provider, { start: startProcess, now: () => new Date() })
  await agent.run(REQUEST, () => undefined)
}

const printing = (line: string) => ({
  program: 'sh',
  args: ['-c', `yes '${line}' | head -c ${BYTES}`],
  env: {},
  stdin: '',
  files: {},
})

const REQUEST = requestOf({
  prompt: '',
  limits: { turns: Infinity, seconds: 3600, stallSeconds: 3600, budgetUsd: null },
})

async function readGate(): Promise<void> {
  const command = `yes 'compiling a module and another one of the same kind' | head -c ${BYTES}; exit 1`
  const gate = { name: 'test', command, required: true, timeoutSeconds: 3600 }
  await gateRunner(startProcess)(gate, { ...REQUEST, log: () => undefined })
}

async function measure(what: string, work: () => Promise<void>): Promise<Row> {
  let peak = 0
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 50)
  const begun = performance.now()
  await work()
  const seconds = (performance.now() - begun) / 1000
  clearInterval(timer)
  return {
    what,
    value: `${Math.round(BYTES / 1e6 / seconds)} MB/s (at least 100)`,
    ratio: `${Math.round(peak / 1e6)} MB at the peak`,
  }
}

async function benchEnd(): Promise<Row> {
  const [bare, ours]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await time(() => new Promise((resolve) => spawn('true').once('close', resolve))))
    ours.push(await time(() => startProcess({ program: 'true', args: [] }, QUIET).finished))
  }
  const extra = median(ours) - median(bare)
  return {
    what: 'to look for what a process has left',
    value: `${extra.toFixed(1)} ms`,
    ratio: `over a bare spawn of ${median(bare).toFixed(1)} ms`,
  }
}

/** What the sandbox adds to each start of an agent, with its network and its own folders, and of a gate. */
async function benchCage(): Promise<readonly Row[]> {
  const available = await cageAvailable({ env: process.env, cwd: '/' })
  if (!available.ok) return [{ what: 'the sandbox', value: 'none', ratio: available.reason }]
  const cwd = process.cwd()
  const settings = { write: [], read: [], denyRead: [], network: [], gatesNetwork: [], copy: [] }
  const place = { top: cwd, root: cwd, checkout: '/nowhere', borrowed: [], tracked: [] }
  const world = { place, settings, env: process.env }
  const needs = claude.cageNeeds!(process.env)
  const agent = cagedStart(available.program, (asked) => agentPolicy(world, needs, asked))
  const gate = cagedStart(available.program, (asked) => gatePolicy(world, asked))
  const times: Record<'bare' | 'agent' | 'gate', number[]> = { bare: [], agent: [], gate: [] }
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, start] of Object.entries({ bare: startProcess, agent, gate }))
      times[name as keyof typeof times].push(
        await time(() => start({ program: 'true', args: [] }, { ...QUIET, cwd }).finished),
      )
  return (['agent', 'gate'] as const).map((name) => ({
    what: `the sandbox, each start of ${name === 'agent' ? 'an agent' : 'a gate'}`,
    value: `${(median(times[name]) - median(times.bare)).toFixed(0)} ms (at most ${name === 'agent' ? 250 : 150})`,
    ratio: `over ${median(times.bare).toFixed(1)} ms without`,
  }))
}

const QUIET = { cwd: tmpdir(), env: process.env, onOutput: () => undefined }

async function time(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

// Run alone: bundle it, and start the bundle by a name that begins like this file's.
if (/(?:^|[\\/])agents\.[cm]?js$/.test(process.argv[1] ?? '')) {
  for (const { what, value, ratio } of await benchAgents()) {
    process.stdout.write(`${what.padEnd(50)}${value.padStart(28)}   ${ratio}\n`)
  }
}
