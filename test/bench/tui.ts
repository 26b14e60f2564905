import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { ENV, put } from '../repository.ts'
import { runStarted } from '../events/run-started.ts'
import { timed } from '../tui/recorded.ts'
import { backlogRepository } from './backlog.ts'
import { median, ms, PROGRAM, type Row } from './measure.ts'

const [COLUMNS, ROWS] = [140, 40]
const FRAME = '\u001b[?2026h'

/**
 * Measures the full screen in a terminal: how soon it is there, how soon a key shows while an agent prints without end,
 * what a frame writes, what it does while nothing happens, and what it takes after a gigabyte. `script` makes the terminal.
 */
export async function benchTui(): Promise<readonly Row[]> {
  return [...(await firstFrame()), ...(await underFlood()), await afterGigabyte()]
}

/** A program in a terminal, and what it has written so far. */
function inTerminal(cwd: string, ...args: readonly string[]) {
  const command = `stty cols ${COLUMNS} rows ${ROWS}; exec ${[process.execPath, PROGRAM, ...args].map((arg) => `'${arg}'`).join(' ')}`
  const env = { ...ENV, TERM: 'xterm-256color', SHELL: '/bin/sh', RALPH_SANDBOX: 'off', LANG: 'C.UTF-8' }
  const child = spawn('script', ['-qfec', command, '/dev/null'], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let [text, bytes, frames] = ['', 0, 0]
  const waiting = new Set<{ readonly words: string; readonly from: number; readonly found: () => void }>()
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    bytes += Buffer.byteLength(chunk)
    frames += chunk.split(FRAME).length - 1
    for (const one of waiting)
      if (text.indexOf(one.words, one.from) >= 0) {
        waiting.delete(one)
        one.found()
      }
    // Whoever waits looks at what comes from then on.
    if (waiting.size === 0) text = text.slice(-1000)
  })
  return {
    send: (keys: string) => void child.stdin.write(keys),
    /** Resolves once these words have been written, from now on or already. */
    saying: (words: string, { already = false } = {}) =>
      new Promise<void>((found) => {
        if (already && text.includes(words)) found()
        else waiting.add({ words, from: text.length, found })
      }),
    written: () => ({ bytes, frames }),
    /** The ralph in it. */
    pid: () => descendant(child.pid ?? 0),
    async end() {
      process.kill(descendant(child.pid ?? 0), 'SIGTERM')
      await ended
    },
    ended,
  }
}

/** The last of the children of children: `script` starts a shell, which becomes ralph. */
function descendant(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return Number(children[0] || pid)
}

/** A repository with so many tasks, whose agent is a command. */
function project(tasks: number, command: string): string {
  const config = { agent: 'command', command, gates: [], commit: { seal: false } }
  return backlogRepository(tasks, { 'ralph.config.json': JSON.stringify(config) })
}

const TIMES = 15

async function firstFrame(): Promise<readonly Row[]> {
  const root = project(1000, 'sleep 1000')
  const events = timed([[0, runStarted()]])
  put(root, { '.ralph/logs/run-2025.ndjson': events.map((event) => `${JSON.stringify(event)}\n`).join('') })
  const watch = await firstShown(root, ['watch'], 'Tasks')
  const run = await firstShown(root, ['run'], 'T-501')
  const ratio = 'from the start of the program, in a terminal (at most 150 ms)'
  return [
    { what: 'ralph watch, first frame, 1000 tasks', value: ms(watch.median), ratio },
    { what: 'ralph run, first frame, 1000 tasks', value: ms(run.median), ratio },
    {
      what: 'ralph watch, nothing happens',
      value: `${watch.switches.toFixed(1)} wake-ups a second`,
      ratio: 'of all its threads; one of its own (at most 1)',
    },
  ]
}

/** How soon these words are shown, and how often the program wakes up after that. */
async function firstShown(root: string, args: readonly string[], words: string) {
  const took: number[] = []
  let switches = 0
  for (let times = 0; times < TIMES; times++) {
    const began = performance.now()
    const terminal = inTerminal(root, ...args)
    await terminal.saying(words, { already: true })
    took.push(performance.now() - began)
    if (times === TIMES - 1) switches = await wakeUps(terminal.pid())
    await terminal.end()
  }
  return { median: median(took), switches }
}

const IDLE_SECONDS = 6

async function wakeUps(pid: number): Promise<number> {
  await wait(2000)
  const before = switchesOf(pid)
  await wait(IDLE_SECONDS * 1000)
  return (switchesOf(pid) - before) / IDLE_SECONDS
}

/** How often the main thread has gone to sleep: as often as it was woken. */
function switchesOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/task/${pid}/status`, 'utf8')
  return Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1])
}

/** With its number some eighty characters. */
const LINE = 'a line as an agent may print it, of many characters, again and again'
const KEYS = 60

async function underFlood(): Promise<readonly Row[]> {
  // Ten thousand lines a second, a thousand at a time, each another one.
  const command = `n=0; while :; do seq -f "$n.%.0f ${LINE}" 1 1000; n=$((n+1)); sleep 0.09; done`
  const root = project(10_000, command)
  const terminal = inTerminal(root, 'run', '--tui')
  await terminal.saying('again and again')
  await wait(1500)
  const [before, began] = [terminal.written(), performance.now()]
  await wait(3000)
  const [after, seconds] = [terminal.written(), (performance.now() - began) / 1000]
  const frames = after.frames - before.frames
  // The first task is the run itself; from there each key chooses the next.
  terminal.send('\u001b[H')
  await terminal.saying('The run')
  const took: number[] = []
  for (let number = 1; number <= KEYS; number++) {
    await wait(20 + ((number * 37) % 60))
    const shown = terminal.saying(`T-${String(number).padStart(3, '0')}`)
    const pressed = performance.now()
    terminal.send('\u001b[B')
    await shown
    took.push(performance.now() - pressed)
  }
  await terminal.end()
  const sorted = took.toSorted((a, b) => a - b)
  return [
    {
      what: 'a key shows, 10,000 tasks, an agent that prints 10,000 lines a second',
      value: ms(median(took), 1),
      ratio: `${sorted[Math.floor(KEYS * 0.95)]!.toFixed(1)} ms in 95 of 100 (at most 16 ms)`,
    },
    {
      what: 'frames of that agent',
      value: `${(frames / seconds).toFixed(0)} a second`,
      ratio: `${((after.bytes - before.bytes) / frames / 1024).toFixed(1)} KB a frame (at most 60 a second)`,
    },
  ]
}

async function afterGigabyte(): Promise<Row> {
  const print = `seq -f "%.0f ${LINE}" 1 ${Math.ceil(1e9 / 80)}; echo all is printed`
  const command = `${print}; sleep 1000`
  const root = project(1000, command)
  const terminal = inTerminal(root, 'run', '--tui')
  await terminal.saying('again and again')
  const pid = terminal.pid()
  await terminal.saying('all is printed')
  const peak = Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
  await terminal.end()
  return {
    what: 'ralph run --tui, 1000 tasks, an agent that prints 1 GB',
    value: `${peak.toFixed(0)} MB at the peak`,
    ratio: 'at most 120 MB',
  }
}
