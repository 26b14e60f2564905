import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import type { RunEvent } from '../../src/engine/events/event.ts'
import { ENV, git, makeFolder, makeRepository } from '../repository.ts'

/** The built program. */
export const PROGRAM = fileURLToPath(new URL('../../dist/bin.cjs', import.meta.url))

/** A remote, and clones of it that stand for machines. */
export interface Machines {
  readonly folder: string
  readonly remote: string
  /** A clone that is one machine's. */
  readonly clone: (name: string) => string
}

/** A backlog of tasks that a script does, by their ids, on a remote. */
export function makeMachines(
  scripts: Readonly<Record<string, string>>,
  {
    config = {},
    fields = {},
  }: { readonly config?: object; readonly fields?: Readonly<Record<string, string>> } = {},
): Machines {
  const tasks = Object.entries(scripts).map(([id, script]) => [
    `docs/tasks/${id}.md`,
    taskText(id, script, fields[id]),
  ])
  const seed = makeRepository({
    ...Object.fromEntries(tasks),
    '.gitignore': '.ralph/\n',
    'ralph.config.json': JSON.stringify({
      agent: 'script',
      commit: { seal: false },
      gates: [{ name: 'check', command: 'test ! -e broken' }],
      queue: { heartbeat: '1s', lost: '4s', workerTimeout: '20s' },
      ...config,
    }),
  })
  const folder = makeFolder()
  const remote = join(folder, 'remote.git')
  git(folder, 'clone', '-q', '--bare', seed, remote)
  return {
    folder,
    remote,
    clone(name) {
      const at = join(folder, name)
      git(
        folder,
        'clone',
        '-q',
        '-c',
        `user.name=${name}`,
        '-c',
        `user.email=${name}@example.com`,
        remote,
        at,
      )
      return at
    },
  }
}

function taskText(id: string, script: string, more = '- **Depends**: none'): string {
  return `# ${id}: Do ${id}\n\n- **Status**: TODO\n${more}\n\n## Description\nDo it.\n\n## Script\n\n\`\`\`sh\n${script}\n\`\`\`\n`
}

/** A ralph that goes on as a process of its own. */
export interface Going {
  readonly child: ChildProcess
  /** All that happened so far. */
  readonly events: readonly RunEvent[]
  /** Resolves once something of that kind has happened, also where it has already. */
  readonly until: (what: (event: RunEvent) => boolean) => Promise<RunEvent>
  /** Its exit code, and what it said as errors. */
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>
}

/** Starts ralph in a clone, with a folder of caches that is that machine's. */
export function start(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Going {
  const child = spawn(process.execPath, [PROGRAM, ...args, '--json'], {
    cwd,
    env: { ...ENV, RALPH_SANDBOX: 'off', XDG_CACHE_HOME: `${cwd}.cache`, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const events: RunEvent[] = []
  const waiting = new Set<() => void>()
  let stderr = ''
  createInterface(child.stdout).on('line', (line) => {
    events.push(JSON.parse(line) as RunEvent)
    for (const look of waiting) look()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = once(child, 'close').then(([code]: (number | null)[]) => ({ code: code ?? null, stderr }))
  return {
    child,
    events,
    ended,
    until: (what) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = events.find(what)
          if (!found) return
          waiting.delete(look)
          resolve(found)
        }
        waiting.add(look)
        look()
        void ended.then(({ code, stderr: said }) => reject(new Error(`it ended with ${code}: ${said}`)))
      }),
  }
}

/** The events of one kind. */
export function those<Type extends RunEvent['type']>(
  { events }: Going,
  type: Type,
): readonly Extract<RunEvent, { type: Type }>[] {
  return events.filter((event): event is Extract<RunEvent, { type: Type }> => event.type === type)
}

/** Tasks that each write a file of their own, once a file is there that lets them. */
export function gated(count: number): { readonly machines: Machines; readonly open: () => void } {
  const go = join(makeFolder(), 'go')
  const ids = Array.from({ length: count }, (_, index) => `T-${String(index + 1).padStart(3, '0')}`)
  const script = (id: string): string => `until test -e ${go}; do sleep 0.1; done; echo ${id} | tee ${id}.txt`
  const machines = makeMachines(Object.fromEntries(ids.map((id) => [id, script(id)])))
  return { machines, open: () => writeFileSync(go, '') }
}

/** Each task has landed once, on a line, here and there, and nothing waits any more. */
export function expectAllLanded({ remote }: Machines, at: string, count: number): void {
  const subjects = git(at, 'log', '--format=%s', 'main').split('\n')
  const done = subjects.filter((subject) => subject.includes(': Do T-'))
  expect(done.toSorted((a, b) => a.localeCompare(b))).toEqual(
    Array.from({ length: count }, (_, index) => {
      const id = `T-${String(index + 1).padStart(3, '0')}`
      return `${id}: Do ${id}`
    }),
  )
  expect(git(at, 'rev-list', '--merges', '--count', 'main')).toBe('0')
  expect(git(remote, 'rev-parse', 'main')).toBe(git(at, 'rev-parse', 'main'))
  expect(git(remote, 'for-each-ref', 'refs/ralph/candidates')).toBe('')
  expect(git(at, 'for-each-ref', 'refs/ralph/candidates')).toBe('')
  expect(git(at, 'status', '--porcelain')).toBe('')
}

/** Whether an event is of that kind. */
export const isType =
  (type: RunEvent['type']) =>
  (event: RunEvent): boolean =>
    event.type === type
