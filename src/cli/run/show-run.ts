import type { Emit, RunPorts } from '../../engine/ports.ts'
import type { RunEvent } from '../../engine/events/event.ts'
import { headed, warningBlock } from '../../screen/block.ts'
import { layOut, type Canvas } from '../../screen/layout.ts'
import { reflowsLines } from '../../screen/live-region.ts'
import { printableJson } from '../../screen/printable.ts'
import { questionView } from '../../screen/run-state.ts'
import { RunReporter } from '../../screen/run-reporter.ts'
import { wantsLiveLines, KEEP_TITLE, TITLE_BACK } from '../../screen/style.ts'
import { canvasFor, type Context } from '../command.ts'
import type { Io } from '../io.ts'
import { asksPerson, type QuestionTerminal } from './questions.ts'

/** Shows a run, and asks its questions. */
export interface Show {
  readonly event: Emit<RunEvent>
  readonly ask: RunPorts['ask']
  /** Shows what failed after the run's end. */
  readonly warn: (message: string) => void
  readonly end: () => Promise<void>
}

/** Shows a run as lines for a person. */
export interface LineShow extends Show {
  readonly reporter: RunReporter
  readonly canvas: () => Canvas
  /** Whether live lines are below the others. */
  readonly isLive: boolean
}

/** Prints each event as a line of JSON. */
export function showJson(context: Context): Show {
  return {
    event: (event) => context.printRaw(`${printableJson(JSON.stringify(event))}\n`),
    ask: null,
    warn: (message) => context.note([warningBlock(message)]),
    end: async () => undefined,
  }
}

const TICK_MS = 1000

/** Prints lines for a person, and in a terminal live lines below them. */
export async function showLines(
  { io, options }: Context,
  { verbose }: { readonly verbose: boolean },
): Promise<LineShow> {
  const { env, now, stdout } = io
  const canvas = (): Canvas => canvasFor(stdout, env, options.noColor)
  const isLive = wantsLiveLines({ env, isTerminal: stdout.columns !== null })
  const live = { rows: () => stdout.rows ?? 24, reflows: reflowsLines(env), later }
  const reporter = new RunReporter({
    write: stdout.write,
    canvas,
    now,
    verbose,
    live: isLive ? live : null,
  })
  const ticking = setInterval(() => reporter.tick(), TICK_MS)
  const unwatch = isLive ? stdout.onResize(() => reporter.tick()) : () => undefined
  const dialogue = io.dialogue()
  const desk: QuestionTerminal = {
    moves: isLive,
    open(question) {
      const ends = [reporter.hold(), io.keyboard()?.pause(), isLive ? callPerson(io, question) : undefined]
      return () => ends.toReversed().forEach((end) => end?.())
    },
    draw: (question, choices) =>
      layOut(
        questionView(question, choices).map((block) => headed(['  '], block)),
        canvasFor(io.stderr, env, options.noColor),
      ),
  }
  return {
    reporter,
    canvas,
    isLive,
    event: (event) => reporter.event(event),
    warn: (message) => reporter.print([warningBlock(message)]),
    ask: dialogue && asksPerson({ ...dialogue, signal: io.signal }, desk),
    async end() {
      clearInterval(ticking)
      unwatch()
      reporter.end()
    },
  }
}

/** Rings the bell, and shows the question in the window's title; the returned function restores the title. */
function callPerson({ stdout, atExit }: Pick<Io, 'stdout' | 'atExit'>, question: string): () => void {
  stdout.write(`${KEEP_TITLE}\u001b]2;ralph: ${question}\u0007\u0007`)
  const restore = (): void => stdout.write(TITLE_BACK)
  const forget = atExit(restore)
  return () => {
    forget()
    restore()
  }
}

function later(callback: () => void, milliseconds: number): () => void {
  const timer = setTimeout(callback, milliseconds)
  return () => clearTimeout(timer)
}
