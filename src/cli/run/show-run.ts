import type { Emit } from '../../attempt/ports.ts'
import type { RunEvent } from '../../events/event.ts'
import { NO_QUESTIONS, type Questions } from '../../project/run-ports.ts'
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
  readonly end: () => void
}

/** Each event as a line of JSON. */
export function showJson(context: Context): Show {
  return {
    event: (event) => context.printRaw(`${printableJson(JSON.stringify(event))}\n`),
    questions: NO_QUESTIONS,
    end: () => undefined,
  }
}

const TICK_MS = 500

/** Lines for a person, and in a terminal one that says what goes on. */
export async function showLines(
  { io, options }: Context,
  { verbose }: { readonly verbose: boolean },
): Promise<Show> {
  const reporter = new RunReporter({
    write: io.stdout.write,
    canvas: () => canvasFor(io.stdout, io.env, options.on('no-color')),
    measure: await measureForAny(),
    now: io.now,
    verbose,
  })
  const ticking = setInterval(() => reporter.tick(), TICK_MS)
  const dialogue = io.dialogue()
  return {
    event: (event) => reporter.event(event),
    questions: dialogue
      ? questionsOf({ ...dialogue, signal: io.signal }, () => reporter.pause())
      : NO_QUESTIONS,
    end() {
      clearInterval(ticking)
      reporter.pause()
    },
  }
}
