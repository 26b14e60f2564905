import type { Emit } from '../../attempt/ports.ts'
import type { RunEvent } from '../../events/event.ts'
import type { PersonTerminal } from '../../process/terminal.ts'
import { DEFAULTS } from '../../project/config/defaults.ts'
import { NO_QUESTIONS, type Questions } from '../../project/run-ports.ts'
import { accent, paragraph, type Block } from '../../ui/block.ts'
import { layOutNow, type Canvas } from '../../ui/layout.ts'
import { printableJson } from '../../ui/printable.ts'
import { RunReporter } from '../../ui/run-reporter.ts'
import { measureForAny } from '../../ui/width.ts'
import type { Context } from '../command.ts'
import { canvasFor } from '../context.ts'
import { questionsOf } from './questions.ts'
import { openPersonTerminal } from './person-terminal.ts'

/** What shows a run, and asks for it. */
export interface Show {
  readonly event: Emit<RunEvent>
  readonly questions: Questions
  /** Where a person can drive an agent; null where nobody sits at one. */
  readonly terminal: PersonTerminal | null
  /** Tells a person something, between the lines of the run. */
  readonly say: (text: string) => void
  /** Writes lines of somebody else's between those of the run. */
  readonly lines: (blocks: readonly Block[]) => void
  readonly end: () => void
}

/** Each event as a line of JSON. */
export function showJson(context: Context): Show {
  return {
    event: (event) => context.printRaw(`${printableJson(JSON.stringify(event))}\n`),
    questions: NO_QUESTIONS,
    terminal: null,
    say: () => undefined,
    lines: () => undefined,
    end: () => undefined,
  }
}

const TICK_MS = 500

/** Lines for a person, and in a terminal one that says what goes on. */
export async function showLines(
  { io, options }: Context,
  { verbose, detachKey = DEFAULTS.detachKey }: { readonly verbose: boolean; readonly detachKey?: string },
): Promise<Show> {
  const canvas = (): Canvas => canvasFor(io.stdout, io.env, options.on('no-color'))
  const measure = await measureForAny()
  const reporter = new RunReporter({
    write: io.stdout.write,
    canvas,
    measure,
    now: io.now,
    verbose,
  })
  /** What happens while somebody else has the terminal is shown afterwards. */
  let missed: RunEvent[] | null = null
  const suspend = (): (() => void) => {
    reporter.pause()
    missed ??= []
    return () => {
      const events = missed ?? []
      missed = null
      for (const event of events) reporter.event(event)
    }
  }
  const say = (text: string): void => {
    reporter.pause()
    io.stdout.write(layOutNow([paragraph(['     ', accent('→'), ' '], text)], canvas(), measure))
  }
  const ticking = setInterval(() => missed ?? reporter.tick(), TICK_MS)
  const dialogue = io.dialogue()
  return {
    event: (event) => (missed ? void missed.push(event) : reporter.event(event)),
    terminal: openPersonTerminal(io, { suspend, say, detachKey }),
    questions: dialogue
      ? questionsOf({ ...dialogue, signal: io.signal }, () => reporter.pause())
      : NO_QUESTIONS,
    say,
    lines(blocks) {
      reporter.pause()
      io.stdout.write(layOutNow(blocks, canvas(), measure))
    },
    end() {
      clearInterval(ticking)
      reporter.pause()
    },
  }
}
