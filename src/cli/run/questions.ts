import { createInterface } from 'node:readline'
import { oneAtATime } from '../../base/mutex.ts'
import type { RunPorts } from '../../engine/ports.ts'
import { questionText } from '../../engine/questions.ts'
import { printable } from '../../screen/printable.ts'
import type { Dialogue } from '../io.ts'

/** The terminal for a question. */
export interface QuestionTerminal {
  /** Gives the terminal to the question, and notifies the person; the returned function ends that. */
  readonly open: (question: string) => () => void
  /** Lays out the lines of a question for the terminal. */
  readonly draw: (question: string, choices: readonly string[]) => string
  /** Whether the cursor may be moved while a person types. */
  readonly moves: boolean
}

/** Asks a person what a run cannot decide, one question at a time; a signal withdraws a question. */
export function asksPerson(
  { signal, ...dialogue }: Dialogue & { readonly signal: AbortSignal },
  desk: QuestionTerminal,
): NonNullable<RunPorts['ask']> {
  const inTurn = oneAtATime()
  return ({ options, ...question }, over) =>
    inTurn(async () => {
      const choices = options.map((option) => MEANING.get(option) ?? option)
      const asking = { ...dialogue, desk, over: AbortSignal.any([signal, over]) }
      const answer = await answerTo(questionText(question), choices, asking)
      return options[choices.indexOf(answer ?? '')] ?? answer
    })
}

/** What the choices for a failed task do. */
const MEANING: ReadonlyMap<string, string> = new Map([
  ['retry', 'try again'],
  ['skip', 'leave it, go on with the next'],
  ['block', 'block it, go on with the next'],
  ['abort', 'end the run'],
])

interface Asking extends Dialogue {
  readonly desk: QuestionTerminal
  readonly over: AbortSignal
}

/** The choice whose number was typed, or the text; null if the question was withdrawn, or the person left it. */
async function answerTo(
  question: string,
  choices: readonly string[],
  { input, output, desk, over }: Asking,
): Promise<string | null> {
  if (over.aborted) return null
  const close = desk.open(printable(question))
  output.write(desk.draw(question, choices))
  const lines = createInterface({ input, output, terminal: desk.moves, prompt: '     ' })
  try {
    return await new Promise((resolve) => {
      const leave = (): void => resolve(null)
      over.addEventListener('abort', leave, { once: true })
      lines.on('SIGINT', leave).on('close', leave)
      lines.on('line', (line) => {
        const words = line.trim()
        const choice = /^\d+$/.test(words) ? choices[Number(words) - 1] : undefined
        if (words === '') lines.prompt()
        else resolve(choice ?? words)
      })
      lines.prompt()
    })
  } finally {
    if (over.aborted) output.write('\n')
    lines.close()
    close()
  }
}
