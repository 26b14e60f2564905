import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RunEvent } from '../../src/engine/events/event.ts'
import { ENV, git, put } from '../repository.ts'
import { startPostgres } from '../worker/postgres.ts'
import type { Row } from './row.ts'

const TASKS = 100
const WORKERS = 3
const AGENT_SECONDS = 2
/** The first and the last of them have other company. */
const EDGE = 10

const PROGRAM = fileURLToPath(new URL('../../dist/bin.cjs', import.meta.url))

/** Measures what a task costs more that a worker does, on a real Postgres, than one in a workspace here. */
export async function benchQueue(): Promise<readonly Row[]> {
  const server = await startPostgres()
  if (!server) return [{ what: 'a task over a queue', value: 'not measured', ratio: 'no Postgres is here' }]
  const folder = mkdtempSync(join(tmpdir(), 'ralph-bench-queue-'))
  try {
    const here = await perTask(folder, 'here', ['--jobs', String(WORKERS)])
    const there = await perTask(folder, 'there', ['--queue', server.database()], { hasWorkers: true })
    return [
      {
        what: `${TASKS} tasks over ${WORKERS} workers, agent ${AGENT_SECONDS} s, on Postgres`,
        value: `${there.toFixed(0)} ms a task`,
        ratio: `${(there - here).toFixed(0)} ms more than with --jobs ${WORKERS} (${here.toFixed(0)} ms; at most 200)`,
      },
    ]
  } finally {
    server.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Milliseconds from one landing to the next, in the middle of a run. */
async function perTask(
  folder: string,
  name: string,
  more: readonly string[],
  { hasWorkers = false } = {},
): Promise<number> {
  const [remote, seed] = [join(folder, `${name}.git`), join(folder, name)]
  git(folder, 'init', '-q', '-b', 'main', '--bare', remote)
  git(folder, 'clone', '-q', remote, seed)
  makeBacklog(seed)
  const clones = Array.from({ length: WORKERS }, (_, index) => join(folder, `${name}-${index}`))
  const landed: number[] = []
  const run = ralph(seed, ['run', '--loop', '--agent', 'script', '--json', ...more])
  let rest = ''
  run.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    const events = lines.map((line) => JSON.parse(line) as RunEvent)
    for (const { type } of events) if (type === 'task-completed') landed.push(performance.now())
  })
  const workers = hasWorkers
    ? clones.map((clone) => {
        git(folder, 'clone', '-q', remote, clone)
        identify(clone)
        return ralph(clone, ['worker', '--queue', more[1]!, '--json'])
      })
    : []
  await once(run, 'close')
  for (const worker of workers) worker.kill('SIGKILL')
  if (landed.length < TASKS) throw new Error(`only ${landed.length} landed`)
  return (landed.at(-EDGE)! - landed[EDGE]!) / (TASKS - 2 * EDGE)
}

function ralph(cwd: string, args: readonly string[]) {
  const env = { ...ENV, RALPH_SANDBOX: 'off', XDG_CACHE_HOME: `${cwd}.cache` }
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.resume()
  return child
}

function makeBacklog(root: string): void {
  const ids = Array.from({ length: TASKS }, (_, index) => `T-${String(index + 1).padStart(4, '0')}`)
  const script = `sleep ${AGENT_SECONDS}\necho x > "$RALPH_TASK"`
  const files = ids.map((id) => [
    `docs/tasks/${id}.md`,
    `# ${id}: Write a file\n\n- **Status**: TODO\n\n## Script\n\`\`\`sh\n${script}\n\`\`\`\n`,
  ])
  const config = '{"agent":"script","commit":{"seal":false},"gates":[{"name":"check","command":"true"}]}'
  put(root, { ...Object.fromEntries(files), '.gitignore': '.ralph/\n', 'ralph.config.json': config })
  identify(root)
  execFileSync('sh', ['-c', 'git add -A && git commit -q -m Begin && git push -q origin HEAD:main'], {
    cwd: root,
    env: ENV,
  })
}

function identify(root: string): void {
  git(root, 'config', 'user.name', 'bench')
  git(root, 'config', 'user.email', 'bench@example.com')
}
