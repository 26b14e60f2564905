import type { Emitted, RunEvent } from '../../src/engine/events/event.ts'
import { RunReporter } from '../../src/screen/run-reporter.ts'
import { START } from './recorded.ts'
import { openScreen } from './screen.ts'

/** A run that is shown in a terminal, at a time that the test decides. */
export async function liveRun(
  columns: number,
  rows: number,
  { verbose = false, ascii = false, colour = false, reflows = true } = {},
) {
  const screen = openScreen(columns, rows)
  let size = { columns, rows }
  let now = START
  let waiting: { readonly at: number; readonly callback: () => void }[] = []
  let [count, bytes] = [0, 0]
  const reporter = new RunReporter({
    write(text) {
      count++
      bytes += Buffer.byteLength(text)
      screen.write(text)
    },
    canvas: () => ({ columns: size.columns, colour, ascii }),
    now: () => new Date(now),
    verbose,
    live: {
      rows: () => size.rows,
      reflows,
      later(callback, milliseconds) {
        const timer = { at: now + milliseconds, callback }
        waiting.push(timer)
        return () => void (waiting = waiting.filter((other) => other !== timer))
      },
    },
  })
  const until = (time: number): void => {
    for (;;) {
      const next = waiting.find(({ at }) => at <= time)
      if (!next) break
      now = Math.max(now, next.at)
      waiting = waiting.filter((other) => other !== next)
      next.callback()
    }
    now = Math.max(now, time)
  }
  const emit = (seconds: number, happening: Emitted): void => {
    until(START + seconds * 1000)
    reporter.event({ at: new Date(now).toISOString(), ...happening })
  }
  return {
    reporter,
    screen,
    /** How often something was written, and how much in all. */
    writes: () => ({ count, bytes }),
    emit,
    play: (journal: readonly RunEvent[]) => {
      for (const { at, ...event } of journal) emit((Date.parse(at) - START) / 1000, event)
    },
    /** Lets time pass; what is to be seen then is drawn. */
    pass: (seconds: number) => {
      until(now + seconds * 1000)
      reporter.tick()
    },
    resize: async (to: number, height: number) => {
      await screen.resize(to, height)
      size = { columns: to, rows: height }
      reporter.tick()
    },
  }
}
