import type { Emit } from '../../attempt/ports.ts'
import type { RunEvent } from '../../events/event.ts'
import { NO_QUESTIONS, type Questions } from '../../project/run-ports.ts'
import type { Block } from '../../ui/block.ts'
import { layOutNow, type Canvas } from '../../ui/layout.ts'
import { printableJson } from '../../ui/printable.ts'
import { RunReporter } from '../../ui/run-reporter.ts'
import { measureForAny } from '../../ui/width.ts'
import type { Context } from '../command.ts'
import { canvasFor } from '../context.ts'
import { questionsOf } from './questions.ts'

/** What shows a run, and asks for it. */
export interface Show {
  readonly event: Emit<RunEvent>
  readonly questions: Questions
  /** Writes lines of somebody else's between those of the run. */
  readonly lines: (blocks: readonly Block[]) => void
  /** Takes away what is live and writes nothing, until what it returns is called. */
  readonly hold: () => () => void
  readonly end: () => void
}

/** Each event as a line of JSON. */
export function showJson(context: Context): Show {
  return {
    event: (event) => context.printRaw(`${printableJson(JSON.stringify(event))}\n`),
    questions: NO_QUESTIONS,
    lines: () => undefined,
    hold: () => () => undefined,
    end: () => undefined,
  }
}

const TICK_MS = 500

/** Lines for a person, and in a terminal one that says what goes on. */
export async function showLines(
  { io, options }: Context,
  { verbose }: { readonly verbose: boolean },
): Promise<Show> {
  const canvas = (): Canvas => canvasFor(io.stdout, io.env, options.on('no-color'))
  const measure = await measureForAny()
  let held: string[] | null = null
  const write = (text: string): void => {
    if (held) held.push(text)
    else io.stdout.write(text)
  }
  const reporter = new RunReporter({
    write,
    canvas,
    measure,
    now: io.now,
    verbose,
  })
  const ticking = setInterval(() => held || reporter.tick(), TICK_MS)
  const dialogue = io.dialogue()
  return {
    event: (event) => reporter.event(event),
    questions: dialogue
      ? questionsOf({ ...dialogue, signal: io.signal }, () => reporter.pause())
      : NO_QUESTIONS,
    lines(blocks) {
      reporter.pause()
      io.stdout.write(layOutNow(blocks, canvas(), measure))
    },
    hold() {
      reporter.pause()
      held = []
      return () => {
        const text = (held ?? []).join('')
        held = null
        io.stdout.write(text)
      }
    },
    end() {
      clearInterval(ticking)
      reporter.pause()
    },
  }
}
