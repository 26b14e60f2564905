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
import { requestOf } from '../agent/requests.ts'
import { inTurns, ms, timed, type Row } from './measure.ts'

const BYTES = 1_000_000_000
const ROUNDS = 41

/** Measures the stream of an agent and of a gate, what it costs to leave nothing of a process alive, and the sandbox. */
export async function benchAgents(): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const length of [100, 1000, 20_000]) {
    const line = assistantLine(length)
    const what = `claude's stream of 1 GB, lines of ${line.length} bytes`
    rows.push(await measure(what, () => readStream(line)))
  }
  rows.push(await measure('output of a gate of 1 GB, lines of 52 bytes', readGate))
  return [...rows, await benchEnd(), ...(await benchCage())]
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
  limits: { turns: Infinity, seconds: 3600, stallSeconds: 3600, budgetUsd: null, tokens: null },
})

async function readGate(): Promise<void> {
  const command = `yes 'compiling a module and another one of the same kind' | head -c ${BYTES}; exit 1`
  const gate = { name: 'test', command, required: true, timeoutSeconds: 3600 }
  await gateRunner(startProcess)(gate, { ...REQUEST, log: () => undefined })
}

async function measure(what: string, work: () => Promise<void>): Promise<Row> {
  let peak = 0
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 50)
  const seconds = (await timed(work)) / 1000
  clearInterval(timer)
  return {
    what,
    value: `${Math.round(BYTES / 1e6 / seconds)} MB/s (at least 100)`,
    ratio: `${Math.round(peak / 1e6)} MB at the peak`,
  }
}

async function benchEnd(): Promise<Row> {
  const { bare, ours } = await inTurns(ROUNDS, {
    bare: () => new Promise((resolve) => spawn('true').once('close', resolve)),
    ours: () => startProcess(TRUE, QUIET).finished,
  })
  const ratio = `over a bare spawn of ${ms(bare, 1)}`
  return { what: 'to look for what a process has left', value: ms(ours - bare, 1), ratio }
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
  const taken = await inTurns(ROUNDS, {
    bare: () => startProcess(TRUE, { ...QUIET, cwd }).finished,
    agent: () => agent(TRUE, { ...QUIET, cwd }).finished,
    gate: () => gate(TRUE, { ...QUIET, cwd }).finished,
  })
  return (['agent', 'gate'] as const).map((name) => ({
    what: `the sandbox, each start of ${name === 'agent' ? 'an agent' : 'a gate'}`,
    value: `${ms(taken[name] - taken.bare)} (at most ${name === 'agent' ? 250 : 150})`,
    ratio: `over ${ms(taken.bare, 1)} without`,
  }))
}

const TRUE = { program: 'true', args: [] }
const QUIET = { cwd: tmpdir(), env: process.env, onOutput: () => undefined }
