import { askInTime, type QuestionToPerson } from '../agents/signals.ts'
import { formatDuration } from '../base/time.ts'
import type { Happening } from './events/event.ts'
import type { Emit, RunOptions, RunPorts } from './ports.ts'

type People = Pick<RunPorts, 'ask' | 'control'>

/** Puts a question of the run's own to a person, and says in events how that ends; null if nobody answers in time. */
export async function askPerson(
  { ports, options }: { ports: People; options: Pick<RunOptions, 'askSeconds'> },
  emit: Emit<Happening>,
  question: QuestionToPerson,
): Promise<string | null> {
  const { control } = ports
  const { id } = question
  const { askSeconds: seconds } = options
  const over = AbortSignal.any([control.signal, control.skipped(id)])
  const ask = (asked: QuestionToPerson, signal: AbortSignal) => answerFor(ports, asked, signal)
  const answer = await askInTime(question, { ask, seconds, over, emit })
  if (answer === null && !over.aborted)
    emit({ type: 'warning', message: `nobody has answered about ${id} in ${formatDuration(seconds)}` })
  return answer
}

/** A person's answer, from the run's terminal or from another one, whichever is first; null if the signal aborts before. */
export async function answerFor(
  { control, ask }: People,
  question: QuestionToPerson,
  signal: AbortSignal,
): Promise<string | null> {
  const answered = new AbortController()
  const over = AbortSignal.any([signal, answered.signal])
  const elsewhere = control.answerTo(question.id, over)
  const here = ask?.(question, over).then((text) => {
    // Ctrl-C at a question stops the run.
    if (text === null && !over.aborted) control.stop('clean')
    return text
  })
  const answer = await Promise.race([elsewhere, ...(here ? [here] : [])])
  answered.abort()
  return answer
}

/** The question as one sentence; the id is empty if it is about no task. */
export function questionText({ id, text }: Pick<QuestionToPerson, 'id' | 'text'>): string {
  // One about a failed task names it already.
  return id === '' || text.startsWith(`${id} `) ? text : `${id} asks: ${text}`
}
