import type { Choice } from '../../authoring/plan/decisions.ts'
import type { PlanPorts } from '../../authoring/plan/ports.ts'
import { printable } from '../../screen/printable.ts'
import type { Dialogue } from '../io.ts'

const OWN_WORDS = '\0own'
const LATER = '\0later'

/** The questions of planning to a person. */
interface PlanQuestions {
  readonly decide: NonNullable<PlanPorts['decide']>
  readonly agree: (message: string) => Promise<boolean>
}

/** Asks a person what planning cannot decide. */
export function planQuestions({
  signal,
  ...streams
}: Dialogue & { readonly signal: AbortSignal }): PlanQuestions {
  const shared = { ...streams, signal }
  return {
    decide: async ({ title, options, recommended, why, number, of }) => {
      const { isCancel, note, select, text } = await import('@clack/prompts')
      const consequences = options
        .map((option) => printable(`${option.title}: ${option.consequences}`))
        .join('\n')
      note(consequences, `${number} of ${of}`, { output: streams.output })
      const chosen = await select<string>({
        message: printable(title),
        initialValue: recommended ?? '',
        options: [
          ...options.map((option) => ({
            value: option.title,
            label: printable(option.title),
            ...(option.title === recommended ? { hint: printable(`recommended: ${why}`) } : {}),
          })),
          { value: OWN_WORDS, label: 'Say it in your own words' },
          { value: LATER, label: 'Decide it later, in its file' },
        ],
        ...shared,
      })
      if (isCancel(chosen) || chosen === LATER) return 'later'
      if (chosen !== OWN_WORDS) return choiceOf(chosen, chosen === recommended ? why : '')
      const typed = await text({ message: 'Your decision', validate: refuseEmpty, ...shared })
      return isCancel(typed) ? 'later' : choiceOf(typed, '')
    },
    agree: async (message) => {
      const { confirm, isCancel } = await import('@clack/prompts')
      const answer = await confirm({ message, ...shared })
      return !isCancel(answer) && answer
    },
  }
}

function choiceOf(chosen: string, why: string): Choice {
  return { chosen, remark: '', why }
}

function refuseEmpty(answer: string | undefined): string | undefined {
  return (answer ?? '').trim() === '' ? 'It needs an answer.' : undefined
}
