import { fewOf } from '../../base/few-of.ts'
import type { FailureAnswer, RunPorts } from '../../run/ports.ts'
import { printable } from '../../ui/printable.ts'
import type { Dialogue } from '../io.ts'

/**
 * Asks a person what a run cannot decide; the signal takes a question back. `pause` is called before each, so that
 * nothing is drawn over it.
 */
export function questions(
  dialogue: Dialogue & { readonly signal: AbortSignal },
  pause: () => void,
): Required<Pick<RunPorts, 'ask' | 'askToCommit'>> {
  return {
    ask: async ({ task, reason }) => {
      pause()
      const { isCancel, select } = await import('@clack/prompts')
      const answer = await select<FailureAnswer>({
        message: printable(`${task.id} failed: ${reason}`),
        options: [
          { value: 'retry', label: 'Try again' },
          { value: 'skip', label: 'Leave it, go on with the next' },
          { value: 'block', label: 'Block it, go on with the next' },
          { value: 'abort', label: 'End the run' },
        ],
        ...dialogue,
      })
      return isCancel(answer) ? 'abort' : answer
    },
    askToCommit: async (paths) => {
      pause()
      const { confirm, isCancel } = await import('@clack/prompts')
      const answer = await confirm({ message: printable(`Commit ${fewOf(paths, 5)} first?`), ...dialogue })
      return !isCancel(answer) && answer
    },
  }
}
