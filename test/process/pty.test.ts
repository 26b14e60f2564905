import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPty, type Pty } from '../../src/process/terminal.ts'
import { runProgram } from '../../src/process/run.ts'
import { startProcess, type ProcessOptions, type Running } from '../../src/process/start.ts'
import { isAlive } from './programs.ts'

interface Seated {
  readonly pty: Pty
  readonly running: Running
  /** Resolves once that was printed. */
  readonly shows: (text: string) => Promise<void>
  readonly printed: () => string
}

async function seat(shell: string, options: Partial<ProcessOptions> = {}): Promise<Seated> {
  const pty = await openPty({ columns: 77, rows: 11 })
  if ('problem' in pty) throw new Error(pty.problem)
  let printed = ''
  const waiting = new Set<() => void>()
  const running = startProcess(
    { shell },
    {
      cwd: tmpdir(),
      env: process.env,
      terminal: pty,
      onOutput: (chunk) => {
        printed += Buffer.from(chunk).toString()
        for (const look of waiting) look()
      },
      killAfterSeconds: 1,
      ...options,
    },
  )
  const shows = (text: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!printed.includes(text)) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })
  return { pty, running, shows, printed: () => printed }
}

test('a program at a terminal has its size, its keys and its exit code', async () => {
  const { pty, running, shows, printed } = await seat(
    'tty; stty size; [ -t 1 ] && [ -t 2 ] && echo yes; read line; echo "got $line"; exit 5',
  )
  await shows('yes')
  pty.stream.write('hello\r')
  expect(await running.finished).toMatchObject({ kind: 'exited', code: 5, survivors: [] })
  expect(printed()).toContain(pty.path)
  expect(printed()).toContain('11 77')
  expect(printed()).toContain('got hello')
})

test('no other process has it, nor both of its ends', async () => {
  const first = await seat('echo ready; read line')
  await first.shows('ready')
  const list = 'for fd in /proc/self/fd/*; do readlink $fd; done; true'
  const second = await seat(list)
  const { stdout } = await runProgram({
    program: 'sh',
    args: ['-c', list],
    cwd: tmpdir(),
    env: process.env,
  })
  await second.running.finished
  for (const seen of [second.printed(), stdout.toString()]) {
    expect(seen).not.toContain('ptmx')
    expect(seen.split(/\r?\n/)).not.toContain(first.pty.path)
    expect(seen).toContain('/')
  }
  first.pty.stream.write('\r')
  await first.running.finished
})

test('it is told of another size, and Ctrl-C is its own', async () => {
  const { pty, running, shows } = await seat(
    "trap 'stty size; echo resized' WINCH; trap 'echo interrupted; exit 3' INT; echo ready; while :; do sleep 0.05; done",
  )
  await shows('ready')
  pty.resize({ columns: 50, rows: 20 })
  await shows('20 50\r\nresized')
  pty.stream.write('\u0003')
  await shows('interrupted')
  expect(await running.finished).toMatchObject({ code: 3 })
})

test('it may read a file, and have the terminal for the rest', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'ralph-pty-')), 'prompt')
  writeFileSync(file, 'the prompt\n')
  const { running, printed } = await seat('cat; [ -t 0 ] || echo no keys; [ -t 1 ] && tty < /dev/tty', {
    stdinFile: file,
  })
  expect(await running.finished).toMatchObject({ code: 0 })
  expect(printed()).toMatch(/the prompt\r\nno keys\r\n\/dev\//)
})

test('all of it ends with it, also what has left its session', async () => {
  const { running, shows, printed } = await seat(
    "trap '' TERM HUP; (setsid sh -c 'trap \"\" TERM; echo child $$; sleep 60' &); echo self $$; sleep 60",
  )
  await shows('self')
  await shows('child')
  const pids = [...printed().matchAll(/(?:self|child) (\d+)/g)].map((match) => Number(match[1]))
  running.end('interrupt')
  expect(await running.finished).toMatchObject({ ended: 'interrupt', survivors: [] })
  expect(pids.map(isAlive)).toEqual([false, false])
})

test('the last that it printed is heard, much as it may be', async () => {
  const { running, printed } = await seat('seq 1 200000; printf END')
  await running.finished
  expect(printed().endsWith('200000\r\nEND')).toBe(true)
  expect(printed().split('\r\n')).toHaveLength(200_001)
})

test('what cannot be started leaves no terminal open', async () => {
  const pty = await openPty({ columns: 80, rows: 24 })
  if ('problem' in pty) throw new Error(pty.problem)
  const running = startProcess(
    { program: 'ralph-no-such-program', args: [] },
    { cwd: tmpdir(), env: process.env, terminal: pty, onOutput: () => undefined },
  )
  expect(await running.finished).toMatchObject({ kind: 'not-started', missing: true })
  expect(pty.stream.destroyed).toBe(true)
})
