import { spawn } from 'node:child_process'
import { RunReporter } from '../../src/screen/run-reporter.ts'
import { git } from '../repository.ts'
import { attemptStarted, AT_WORK, START, tool, type At } from '../ui/recorded.ts'
import { backlogRepository } from './backlog.ts'
import { median, ms, PROGRAM, type Row } from './measure.ts'

const TASKS = 1000
const ROUNDS = 15

/** Measures the lines of a run: what is written of them, and when the first stands there. */
export async function benchScreen(): Promise<readonly Row[]> {
  return [...(await bytesRows()), await firstFrameRow(backlogRepository(TASKS))]
}

/** In a terminal of 100×30, with an agent at work. */
async function bytesRows(): Promise<Row[]> {
  let [bytes, frames, now] = [0, 0, START]
  let pending: (() => void) | null = null
  const reporter = new RunReporter({
    write(text) {
      bytes += Buffer.byteLength(text)
      frames++
    },
    canvas: () => ({ columns: 100, colour: true }),
    now: () => new Date(now),
    verbose: false,
    live: {
      rows: () => 30,
      reflows: true,
      later(callback) {
        pending = callback
        return () => (pending = null)
      },
    },
  })
  reporter.keys(['p pause', 's skip', 'q stop', '? keys'])
  const emit = ([seconds, happening]: At): void => {
    now = START + seconds * 1000
    reporter.event({ at: new Date(now).toISOString(), ...happening })
  }
  const counted = (work: () => void): string => {
    ;[bytes, frames] = [0, 0]
    work()
    return `${Math.round(bytes / Math.max(1, frames))} bytes a frame, ${frames} frames`
  }
  for (const at of AT_WORK) emit(at)
  emit([200, attemptStarted('T-004')])
  reporter.tick()
  const idle = counted(() => {
    for (let second = 1; second <= 10; second++) {
      now += 1000
      reporter.tick()
    }
  })
  const begun = (now - START) / 1000
  const busy = counted(() => {
    for (let at = 0; at < 10_000; at++) {
      emit([begun + at / 1000, tool('T-004', `Read src/folder/file-${at}.ts`)])
      // The timer of a frame, as it comes sixty times a second.
      if (at % 17 === 0) pending?.()
    }
  })
  return [
    { what: 'the lines of a run, 10 s in which nothing happens', value: idle, ratio: 'one frame a second' },
    { what: 'the same, 10 s with 1,000 events a second', value: busy, ratio: 'at most 60 frames a second' },
  ]
}

/** From the start of the program, in a terminal that `script` makes, which takes its own time. */
async function firstFrameRow(root: string): Promise<Row> {
  const [first, bare]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await firstOutput(root, `-e 'process.stdout.write("x")'`))
    first.push(await firstOutput(root, `'${PROGRAM}' run --command true`))
    git(root, 'checkout', '-q', '--force', 'HEAD')
  }
  const value = ms(median(first))
  const ratio = `at most 150; bare node takes ${ms(median(bare))} to its first letter`
  return { what: `ralph run, from its start to its first frame, ${TASKS} tasks`, value, ratio }
}

function firstOutput(cwd: string, args: string): Promise<number> {
  const begun = performance.now()
  const child = spawn('script', ['-qfc', `exec '${process.execPath}' ${args}`, '/dev/null'], {
    cwd,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let took = 0
  child.stdout.once('data', () => {
    took = performance.now() - begun
    child.kill('SIGTERM')
  })
  return new Promise((resolve) => child.once('close', () => resolve(took)))
}
