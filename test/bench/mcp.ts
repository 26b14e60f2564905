import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openSignalFolder } from '../../src/agents/signal/folder.ts'
import { makeFolder } from '../repository.ts'
import { backlogRepository } from './backlog.ts'
import { median, ms, PROGRAM, runNode, timed, type Row } from './measure.ts'

const TASKS = 1000
const ROUNDS = 31

/** Measures the server: from its start to its first answer, and calls of its tools on a backlog of 1,000. */
export async function benchMcp(): Promise<readonly Row[]> {
  const root = backlogRepository(TASKS)
  ageFiles(root)
  return [await startRow(root), ...(await callRows(root)), await signalRow(root)]
}

/** A server takes what was written just now for what may still be written. */
function ageFiles(root: string): void {
  const past = new Date(Date.now() - 3_600_000)
  for (const name of readdirSync(join(root, 'docs/tasks')))
    utimesSync(join(root, 'docs/tasks', name), past, past)
}

async function startRow(root: string): Promise<Row> {
  const [server, bare]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await timed(() => runNode(root, ['-e', '0'])))
    const begun = performance.now()
    const line = await start(root)
    server.push(performance.now() - begun)
    await line.close()
  }
  return {
    what: 'ralph mcp, from its start to its answer to initialize',
    value: ms(median(server), 1),
    ratio: `at most 80; bare node takes ${ms(median(bare), 1)}`,
  }
}

async function callRows(root: string): Promise<Row[]> {
  const line = await start(root)
  const rows: Row[] = []
  // The time of change, which nobody can set back, must be past too.
  await pause(2500)
  for (const [name, input] of [
    ['next', {}],
    ['list', { status: 'TODO' }],
    ['lint', {}],
    ['graph', { id: 'T-500' }],
    ['show', { id: 'T-500' }],
    ['log', {}],
  ] as const) {
    const first = await timed(() => line.call(name, input))
    const again: number[] = []
    for (let round = 0; round < ROUNDS; round++) again.push(await timed(() => line.call(name, input)))
    rows.push({
      what: `mcp ${name}, ${TASKS} tasks`,
      value: ms(median(again), 1),
      ratio: `at most 5; the first time ${ms(first, 1)}`,
    })
  }
  await line.close()
  return rows
}

async function signalRow(root: string): Promise<Row> {
  const folder = openSignalFolder(makeFolder(), [], {
    said: ({ id }) => folder.reply({ id, ok: true, text: 'Noted.' }),
    refused: () => undefined,
  })
  const line = await start(root, folder.env)
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++)
    times.push(await timed(() => line.call('progress', { note: 'half of it' })))
  await line.close()
  folder.close()
  return { what: 'mcp progress, to ralph and back', value: ms(median(times), 1), ratio: 'at most 5' }
}

/** A server that has answered to initialize, spoken to line by line. */
async function start(cwd: string, env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [PROGRAM, 'mcp'], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const waiting = new Map<number, () => void>()
  createInterface(child.stdout).on('line', (line) => waiting.get((JSON.parse(line) as { id: number }).id)?.())
  let last = 0
  const send = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const ask = (method: string, params: object): Promise<void> =>
    new Promise((resolve) => {
      const id = ++last
      waiting.set(id, resolve)
      send({ id, method, params })
    })
  await ask('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  })
  send({ method: 'notifications/initialized' })
  return {
    call: (name: string, input: object) => ask('tools/call', { name, arguments: input }),
    close: async () => {
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}
