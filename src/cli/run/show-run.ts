import { createInterface } from 'node:readline'
import { oneAtATime } from '../../base/mutex.ts'
import type { RunPorts } from '../../engine/ports.ts'
import type { RunEvent } from '../../engine/events/event.ts'
import { questionText } from '../../engine/questions.ts'
import { headed, line, paragraph, warningBlock, type View } from '../../screen/block.ts'
import { type Key, typed } from '../../screen/full/keys.ts'
import { layOut, type Canvas } from '../../screen/layout.ts'
import { printable, printableJson } from '../../screen/printable.ts'
import { questionView } from '../../screen/run-state.ts'
import { reflowsLines, RunReporter } from '../../screen/run-reporter.ts'
import { wantsLiveLines, KEEP_TITLE, TITLE_BACK } from '../../screen/style.ts'
import { canvasFor, type Context } from '../command.ts'
import type { Dialogue, Io } from '../io.ts'
import type { Keyboard } from '../keyboard.ts'
import { keyReader } from '../terminal.ts'

/** Prints each event as a line of JSON; nobody is asked. */
export function showJson(context: Context) {
  return {
    event: (event: RunEvent): void => context.printRaw(`${printableJson(JSON.stringify(event))}\n`),
    ask: null,
    /** Shows what failed after the run's end. */
    warn: (message: string): void => context.note([warningBlock(message)]),
    end: async () => undefined,
  }
}

const TICK_MS = 1000

/** Prints lines for a person, and in a terminal live lines below them. */
export async function showLines({ io, options }: Context, { verbose = false } = {}) {
  const { env, now, stdout } = io
  const isLive = wantsLiveLines({ env, isTerminal: stdout.columns !== null })
  const live = { rows: () => stdout.rows ?? 24, reflows: reflowsLines(env), later }
  const reporter = new RunReporter({
    write: stdout.write,
    canvas: () => canvasFor(stdout, env, options.noColor),
    now,
    verbose,
    live: isLive ? live : null,
  })
  const ticking = setInterval(() => reporter.tick(), TICK_MS)
  const unwatch = isLive ? stdout.onResize(() => reporter.tick()) : () => undefined
  const dialogue = io.dialogue()
  const canvas = (): Canvas => canvasFor(io.stderr, env, options.noColor)
  return {
    reporter,
    /** Whether live lines are below the others. */
    isLive,
    event: (event: RunEvent): void => reporter.event(event),
    warn: (message: string): void => reporter.print([warningBlock(message)]),
    ask: dialogue && asksPerson(io, dialogue, { reporter, isLive, canvas }),
    end: async () => {
      clearInterval(ticking)
      unwatch()
      reporter.end()
    },
  }
}

/** A run as lines for a person. */
export type LineShow = Awaited<ReturnType<typeof showLines>>

function later(callback: () => void, milliseconds: number): () => void {
  const timer = setTimeout(callback, milliseconds)
  return () => clearTimeout(timer)
}

/** Asks a person what a run cannot decide, one question at a time; a signal withdraws a question. */
function asksPerson(
  io: Io,
  dialogue: Dialogue,
  { reporter, isLive, canvas }: { reporter: RunReporter; isLive: boolean; canvas: () => Canvas },
): NonNullable<RunPorts['ask']> {
  const inTurn = oneAtATime()
  return ({ options, isClosed = false, ...question }, over) =>
    inTurn(async () => {
      const ends = AbortSignal.any([io.signal, over])
      if (ends.aborted) return null
      const text = questionText(question)
      const choices = options.map((option) => MEANING.get(option) ?? option)
      const view = questionView(text, choices, isClosed).map((block) => headed(['  '], block))
      const keyboard = isLive ? io.keyboard() : null
      const lent = isLive ? [callPerson(io, text)] : []
      if (keyboard === null) {
        lent.push(reporter.hold())
        dialogue.output.write(layOut(view, canvas()))
      }
      try {
        const accept = (words: string): string | undefined =>
          chosenBy(words, options, choices) ?? (isClosed ? undefined : words)
        if (keyboard) return await typedBelow(view, { keyboard, reporter, over: ends, accept })
        for (;;) {
          const words = await typedLine(dialogue, ends, isLive)
          const answer = words === null ? null : accept(words)
          if (answer !== undefined) return answer
        }
      } finally {
        for (const end of lent.toReversed()) end()
      }
    })
}

/** The option that was typed: its number, its words, or, where only one begins so, their beginning. */
function chosenBy(typed: string, options: readonly string[], choices: readonly string[]): string | undefined {
  const words = typed.toLowerCase()
  const begun = choices.flatMap((choice, at) => (choice.toLowerCase().startsWith(words) ? [at] : []))
  const at = /^\d+$/.test(typed) ? Number(typed) - 1 : begun.length === 1 ? begun[0]! : -1
  return options[at]
}

/** What the choices for a failed task do. */
const MEANING: ReadonlyMap<string, string> = new Map([
  ['retry', 'try again'],
  ['skip', 'leave it as it is'],
  ['block', 'block it'],
  ['abort', 'end the run'],
])

/** Rings the bell, and shows the question in the window's title; the returned function restores the title. */
function callPerson({ stdout, atExit }: Pick<Io, 'stdout' | 'atExit'>, question: string): () => void {
  stdout.write(`${KEEP_TITLE}\u001b]2;ralph: ${printable(question)}\u0007\u0007`)
  const restore = (): void => stdout.write(TITLE_BACK)
  const forget = atExit(restore)
  return () => {
    forget()
    restore()
  }
}

/** Of a longer text the end is shown. */
const LONGEST_TYPED = 60

/** The accepted answer, typed below the live lines, which go on above it; null if the question was withdrawn. */
async function typedBelow(
  view: View,
  {
    keyboard,
    reporter,
    over,
    accept,
  }: {
    keyboard: Keyboard
    reporter: RunReporter
    over: AbortSignal
    accept: (words: string) => string | undefined
  },
): Promise<string | null> {
  const read = keyReader()
  let text = ''
  let comeBack: (() => void) | null = null
  let unlisten = (): void => undefined
  const show = (): void => {
    const end = [...text].slice(-LONGEST_TYPED).join('')
    reporter.question([...view, line('     ', end === text ? '' : '…', end, '_')])
  }
  show()
  const answer = await new Promise<string | null>((resolve) => {
    over.addEventListener('abort', () => resolve(null), { once: true })
    const press = (key: Key): void => {
      if (key.name !== 'return') text = typed(text, key)
      else if (text.trim() !== '') {
        const chosen = accept(text.trim())
        if (chosen !== undefined) return resolve(chosen)
        text = ''
      }
      show()
    }
    unlisten = keyboard.listen((key) => {
      if (key.name === 'suspend') comeBack = reporter.hold()
      else if (key.name === 'resume') comeBack?.()
      else read(key).forEach(press)
    })
  })
  unlisten()
  reporter.question(null)
  reporter.print([...view, paragraph(['     '], text)])
  return answer
}

/** The first line with words; null if the question was withdrawn, or the person left it. */
async function typedLine(
  { input, output }: Dialogue,
  over: AbortSignal,
  terminal: boolean,
): Promise<string | null> {
  const lines = createInterface({ input, output, terminal, prompt: '     ' })
  try {
    return await new Promise((resolve) => {
      const leave = (): void => resolve(null)
      over.addEventListener('abort', leave, { once: true })
      lines.on('SIGINT', leave).on('close', leave)
      lines.on('line', (line) => {
        const words = line.trim()
        if (words === '') lines.prompt()
        else resolve(words)
      })
      lines.prompt()
    })
  } finally {
    if (over.aborted) output.write('\n')
    lines.close()
  }
}
