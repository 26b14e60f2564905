import { expect, it } from 'vitest'
import type { Emitted } from '../../src/engine/events/event.ts'
import { RunReporter } from '../../src/screen/run-reporter.ts'
import { runStarted } from '../events/run-started.ts'
import { liveRun } from './live-run.ts'
import { attemptStarted, completed, passed, START, taskStarted, tool, usage } from './recorded.ts'

/** `npm run test:screen` has more of them. */
const RUNS = Number(process.env['RALPH_SCREEN_RUNS'] ?? 25)

/** The same numbers for the same seed. */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const TEXTS = [
  'reads the code',
  'x'.repeat(300),
  '為替レートを調べる '.repeat(12),
  '👩‍👩‍👧 a family and e\u0301',
  '\u001b[2J\u001b[3J\u001b[1;1H\u001b]0;pwned\u0007',
  'one\ntwo\r\nthree\n',
  '\u001b[?1049h',
  'tab\tand \u202e backwards',
]

/** Something that may happen to that task next. */
function happening(id: string, pick: (below: number) => number): Emitted {
  const text = TEXTS[pick(TEXTS.length)]!
  switch (pick(12)) {
    case 0:
      return taskStarted(id, text)
    case 1:
      return attemptStarted(id)
    case 2:
      return tool(id, `Bash ${text}`, 'failed')
    case 3:
      return { type: 'agent-usage', id, usage: usage(pick(90), pick(300) / 100) }
    case 4:
      return passed(id, usage(3, 0.1))
    case 5:
      return {
        type: 'gate-started',
        id,
        gate: { name: 'test', command: 'x', required: true, timeoutSeconds: 9 },
      }
    case 6:
      return { type: 'landing-finished', id, result: pick(2) ? 'held' : 'landed', paths: ['src/a.ts'] }
    case 7:
      return completed(id, text)
    case 8:
      return { type: 'waiting', id, until: new Date(START + pick(9) * 1e6).toISOString(), reason: text }
    case 9:
      return { type: 'warning', message: text }
    case 10:
      return { type: 'question', id, text, options: ['yes', 'no'] }
    default:
      return pick(2) ? tool(id, `Read ${text}`) : { type: 'agent-text', id, text }
  }
}

const solid = (text: string): string => text.replaceAll(/\s+/g, '')

it.each(Array.from({ length: RUNS }, (_, seed) => seed))(
  'what stands in a terminal in the end is what a pipe gets, however it was resized (seed %i)',
  async (seed) => {
    const pick = random(seed + 1)
    const size = { columns: 40 + pick(211), rows: 6 + pick(50) }
    const ascii = pick(4) === 0
    const run = await liveRun(size.columns, size.rows, { verbose: true, ascii, colour: pick(2) === 0 })
    let piped = ''
    const pipe = new RunReporter({
      write: (text) => void (piped += text),
      canvas: () => ({ columns: size.columns, colour: false, ascii }),
      now: () => new Date(START),
      verbose: true,
      live: null,
    })
    let seconds = 0
    const emit = (event: Emitted): void => {
      run.emit(seconds, event)
      pipe.event({ at: new Date(START + seconds * 1000).toISOString(), ...event })
    }
    emit(runStarted({ jobs: pick(2) === 0 ? 1 : 4, counts: { TODO: 9, DONE: 4, BLOCKED: 1 } }))
    run.reporter.keys(['p pause', 's skip', 'q stop', '? keys'])
    run.reporter.pace({ durations: [100, 200, 300, 400, 500], most: Infinity })
    for (let step = 0; step < 120; step++) {
      seconds += [0, 0.001, 0.01, 0.3, 5, 700][pick(6)]!
      const kind = pick(20)
      if (kind === 0) {
        // What was to stay is written first: how wide it is drawn is decided then.
        run.pass(1)
        seconds += 1
        // A terminal that loses more than half of its width or height at once may scroll live lines away by itself.
        size.columns = Math.max(40 + pick(211), Math.ceil(size.columns / 2))
        await run.resize(size.columns, size.rows)
        size.rows = Math.max(6 + pick(50), Math.ceil(size.rows / 2))
        await run.resize(size.columns, size.rows)
      } else if (kind === 1) run.pass(pick(3))
      else if (kind === 2) run.reporter.overlay(pick(2) ? [{ kind: 'line', line: [' stop?'] }] : null)
      else if (kind === 3) run.reporter.hold()()
      else emit(happening(`T-00${1 + pick(6)}`, pick))
      seconds += 3
    }
    run.reporter.end()
    const lines = await run.screen.allLines()
    expect(solid(lines.join('\n'))).toBe(solid(piped))
    const written = run.screen.written()
    expect(written).not.toContain('\u001b[3J')
    expect(written).not.toContain('\u001b[2J')
    expect(written.split('\u001b[?2026h').length).toBe(written.split('\u001b[?2026l').length)
    expect([await run.screen.isAlternate(), run.screen.title()]).toEqual([false, ''])
  },
)

it('draws no more than sixty frames a second, of what has changed, and one a second while nothing happens', async () => {
  const run = await liveRun(100, 30)
  run.emit(0, runStarted())
  run.emit(0, taskStarted('T-001', 'Do it'))
  run.emit(0, attemptStarted('T-001'))
  run.pass(1)
  const before = run.writes()
  for (let at = 0; at < 10_000; at++) run.emit(2 + at / 10_000, tool('T-001', `Read src/${at}.ts`))
  expect(run.writes().count - before.count).toBeLessThanOrEqual(61)
  run.pass(1)
  const idle = run.writes()
  for (let second = 0; second < 10; second++) run.pass(1)
  expect(run.writes().count - idle.count).toBe(10)
  expect((run.writes().bytes - idle.bytes) / 10).toBeLessThan(200)
})
