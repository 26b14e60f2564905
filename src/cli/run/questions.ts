import { createInterface } from 'node:readline'
import { fewOf } from '../../base/text.ts'
import type { Questions } from '../../project/questions.ts'
import { FAILURE_ANSWERS, type FailureAnswer } from '../../engine/ports.ts'
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
export function questionsOf(
  { signal, ...dialogue }: Dialogue & { readonly signal: AbortSignal },
  desk: QuestionTerminal,
): Questions {
  let before: Promise<unknown> = Promise.resolve()
  const ask = (question: string, choices: readonly string[], over: AbortSignal): Promise<string | null> => {
    const answer = before.then(() =>
      answerTo(question, choices, { ...dialogue, desk, over: AbortSignal.any([signal, over]) }),
    )
    before = answer.catch(() => undefined)
    return answer
  }
  return {
    ask: async ({ task, reason, asks }, over) => {
      const choices: ReadonlyMap<string, FailureAnswer> = new Map([
        ...(asks ? [] : [['try again', 'retry'] as const]),
        ['leave it, go on with the next', 'skip'],
        ['block it, go on with the next', 'block'],
        ['end the run', 'abort'],
      ])
      const question = `${task.id} ${asks ? 'asks' : 'failed'}: ${reason}`
      const answer = await ask(question, [...choices.keys()], over)
      if (answer === null) return 'abort'
      return choices.get(answer) ?? FAILURE_ANSWERS.find((word) => word === answer) ?? { text: answer }
    },
    reply: ({ id, text, options }, over) => ask(`${id} asks: ${text}`, options, over),
    askToCommit: async (paths, over) =>
      /^y(?:es)?$/i.test((await ask(`commit ${fewOf(paths, 5)} first?`, ['yes', 'no'], over)) ?? ''),
  }
}

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
