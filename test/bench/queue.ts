import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import type { RunEvent } from '../../src/engine/events/event.ts'
import { ENV, git, makeFolder, makeRepository } from '../repository.ts'
import { startPostgres } from '../worker/postgres.ts'
import { ms, PROGRAM, scriptedFiles, type Row } from './measure.ts'

const TASKS = 100
const WORKERS = 3
const AGENT_SECONDS = 2
/** The first and the last of them have other company. */
const EDGE = 10

/** Measures what a task costs more that a worker does, on a real Postgres, than one in a workspace here. */
export async function benchQueue(): Promise<readonly Row[]> {
  const server = await startPostgres()
  if (!server) return [{ what: 'a task over a queue', value: 'not measured', ratio: 'no Postgres is here' }]
  try {
    const here = await perTask(['--jobs', String(WORKERS)])
    const there = await perTask(['--queue', server.database()], { hasWorkers: true })
    return [
      {
        what: `${TASKS} tasks over ${WORKERS} workers, agent ${AGENT_SECONDS} s, on Postgres`,
        value: `${ms(there)} a task`,
        ratio: `${ms(there - here)} more than with --jobs ${WORKERS} (${ms(here)}; at most 200)`,
      },
    ]
  } finally {
    server.remove()
  }
}

/** Milliseconds from one landing to the next, in the middle of a run. */
async function perTask(more: readonly string[], { hasWorkers = false } = {}): Promise<number> {
  const folder = makeFolder()
  const script = `sleep ${AGENT_SECONDS}\necho x > "$RALPH_TASK"`
  const gates = [{ name: 'check', command: 'true' }]
  const [seed, remote] = [makeRepository(scriptedFiles(TASKS, script, { gates })), join(folder, 'remote.git')]
  git(folder, 'clone', '-q', '--bare', seed, remote)
  const clone = (name: string): string => {
    const at = join(folder, name)
    git(folder, 'clone', '-q', '-c', 'user.name=bench', '-c', 'user.email=bench@example.com', remote, at)
    return at
  }
  const landed: number[] = []
  const run = ralph(clone('run'), ['run', '--loop', '--json', ...more])
  createInterface(run.stdout).on('line', (line) => {
    if ((JSON.parse(line) as RunEvent).type === 'task-completed') landed.push(performance.now())
  })
  const names = Array.from({ length: hasWorkers ? WORKERS : 0 }, (_, index) => `worker-${index}`)
  const workers = names.map((name) => ralph(clone(name), ['worker', '--queue', more[1]!, '--json']))
  for (const worker of workers) worker.stdout.resume()
  await once(run, 'close')
  for (const worker of workers) worker.kill('SIGKILL')
  if (landed.length < TASKS) throw new Error(`only ${landed.length} landed`)
  return (landed.at(-EDGE)! - landed[EDGE]!) / (TASKS - 2 * EDGE)
}

function ralph(cwd: string, args: readonly string[]) {
  const env = { ...ENV, RALPH_SANDBOX: 'off', XDG_CACHE_HOME: `${cwd}.cache` }
  return spawn(process.execPath, [PROGRAM, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
}
