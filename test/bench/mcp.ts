import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openSignalFolder } from '../../src/agents/signal/folder.ts'
import { git } from '../repository.ts'
import { writeBacklog } from './backlog.ts'
import type { Row } from './row.ts'

const PROGRAM = fileURLToPath(new URL('../../dist/bin.cjs', import.meta.url))
const TASKS = 1000
const ROUNDS = 31
/** Certificates that somebody has node read take it longer than all else. */
const ENV = { ...process.env, NODE_EXTRA_CA_CERTS: '' }

/** Measures the server: from its start to its first answer, and calls of its tools on a backlog of 1,000. */
export async function benchMcp(): Promise<readonly Row[]> {
  const root = mkdtempSync(join(tmpdir(), 'ralph-bench-mcp-'))
  try {
    writeBacklog(root, TASKS, 'ordinary')
    git(root, 'init', '-q')
    git(root, 'config', 'user.name', 'Ada')
    git(root, 'config', 'user.email', 'ada@example.com')
    git(root, 'add', '-A')
    git(root, 'commit', '-q', '-m', 'Begin')
    ageFiles(root)
    return [await startRow(root), ...(await callRows(root)), await signalRow(root)]
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
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
    bare.push(await timed(() => exitOf(spawn(process.execPath, ['-e', '0'], { env: ENV }))))
    const begun = performance.now()
    const line = await start(root)
    server.push(performance.now() - begun)
    await line.close()
  }
  return {
    what: 'ralph mcp, from its start to its answer to initialize',
    value: ms(median(server)),
    ratio: `at most 80; bare node takes ${ms(median(bare))}`,
  }
}

async function callRows(root: string): Promise<Row[]> {
  const line = await start(root)
  const rows: Row[] = []
  // The time of change, which nobody can set back, must be past too.
  await new Promise((resolve) => setTimeout(resolve, 2500))
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
      value: ms(median(again)),
      ratio: `at most 5; the first time ${ms(first)}`,
    })
  }
  await line.close()
  return rows
}

async function signalRow(root: string): Promise<Row> {
  const path = join(root, 'signals')
  mkdirSync(path)
  const folder = openSignalFolder(path, [], {
    said: ({ id }) => folder.reply({ id, ok: true, text: 'Noted.' }),
    refused: () => undefined,
  })
  const line = await start(root, folder.env)
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++)
    times.push(await timed(() => line.call('progress', { note: 'half of it' })))
  await line.close()
  folder.close()
  return { what: 'mcp progress, to ralph and back', value: ms(median(times)), ratio: 'at most 5' }
}

/** A server that has answered to initialize, spoken to line by line. */
async function start(cwd: string, env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [PROGRAM, 'mcp'], {
    cwd,
    env: { ...ENV, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const waiting = new Map<number, () => void>()
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) waiting.get((JSON.parse(line) as { id: number }).id)?.()
  })
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
      await exitOf(child)
    },
  }
}

function exitOf(child: ReturnType<typeof spawn>): Promise<void> {
  return new Promise((resolve) => child.once('exit', () => resolve()))
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

function median(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)]!
}

function ms(time: number): string {
  return `${time.toFixed(1)} ms`
}
