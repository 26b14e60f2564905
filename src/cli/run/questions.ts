import { fewOf } from '../../base/text.ts'
import type { Questions } from '../../project/run-ports.ts'
import type { FailureAnswer } from '../../run/ports.ts'
import { printable } from '../../ui/printable.ts'
import type { Dialogue } from '../io.ts'

/**
 * Asks a person what a run cannot decide; a signal takes a question back. `pause` is called before each, so that
 * nothing is drawn over it.
 */
export function questionsOf(
  { signal, ...dialogue }: Dialogue & { readonly signal: AbortSignal },
  pause: () => void,
): Questions {
  return {
    ask: async ({ task, reason, asks }, answered) => {
      pause()
      const { isCancel, select, text } = await import('@clack/prompts')
      const shared = { ...dialogue, signal: AbortSignal.any([signal, answered]) }
      const choice = await select<FailureAnswer>({
        message: printable(`${task.id} ${asks ? 'asks' : 'failed'}: ${reason}`),
        options: [
          { value: 'retry', label: asks ? 'Answer it' : 'Try again' },
          { value: 'skip', label: 'Leave it, go on with the next' },
          { value: 'block', label: 'Block it, go on with the next' },
          { value: 'abort', label: 'End the run' },
        ],
        ...shared,
      })
      if (isCancel(choice)) return 'abort'
      if (choice !== 'retry' || !asks) return choice
      const answer = await text({ message: 'Your answer', validate: refuseEmpty, ...shared })
      return isCancel(answer) ? 'abort' : { text: answer }
    },
    reply: async ({ id, text: question, options }, answered) => {
      pause()
      const { isCancel, select, text } = await import('@clack/prompts')
      const shared = { ...dialogue, signal: AbortSignal.any([signal, answered]) }
      const message = printable(`${id} asks: ${question}`)
      if (options.length > 0) {
        const choices = options.map((option) => ({ value: option, label: printable(option) }))
        const other = { value: '', label: 'Another answer' }
        const choice = await select<string>({ message, options: [...choices, other], ...shared })
        if (isCancel(choice)) return null
        if (choice !== '') return choice
      }
      const answer = await text({ message, validate: refuseEmpty, ...shared })
      return isCancel(answer) ? null : answer
    },
    askToCommit: async (paths) => {
      pause()
      const { confirm, isCancel } = await import('@clack/prompts')
      const message = printable(`Commit ${fewOf(paths, 5)} first?`)
      const answer = await confirm({ message, ...dialogue, signal })
      return !isCancel(answer) && answer
    },
  }
}

function refuseEmpty(answer: string | undefined): string | undefined {
  return (answer ?? '').trim() === '' ? 'It needs an answer.' : undefined
}
