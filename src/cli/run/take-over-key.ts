import type { RunStatus } from '../../events/status.ts'
import type { Questions } from '../../project/run-ports.ts'
import type { Control } from '../../run/control.ts'
import type { Keyboard } from '../keyboard.ts'

/** What the key that takes over needs of the run. */
interface Steered {
  readonly control: Control
  /** How the run stands. */
  readonly status: () => RunStatus | null
  readonly say: (text: string) => void
}

/** Has `i` take over the task at work; what it returns ends that. */
export function takeOverKey(keyboard: Keyboard, { control, status, say }: Steered): () => void {
  return keyboard.listen(({ name, ctrl }) => {
    if (name !== 'i' || ctrl) return
    const problem = takeOver(status(), control)
    if (problem !== null) say(problem)
  })
}

/** Takes over the task at work; a sentence that says why not, null where the person has it. */
export function takeOver(status: RunStatus | null, control: Control): string | null {
  const jobs = status?.jobs ?? []
  const [job, ...others] = jobs
  if (!job) return 'no agent is at work'
  if (others.length > 0) return `several agents are at work: ${jobs.map(({ id }) => id).join(', ')}`
  return control.takeOver(job.id)
}

/** The same questions; while one is asked no key is read but by it. */
export function askedAlone(questions: Questions, keyboard: Keyboard): Questions {
  const alone = async <T>(ask: () => Promise<T>): Promise<T> => {
    const takeBack = keyboard.pause()
    return ask().finally(takeBack)
  }
  const { ask, reply, askToCommit } = questions
  return {
    ask: ask && ((question, signal) => alone(() => ask(question, signal))),
    reply: reply && ((question, signal) => alone(() => reply(question, signal))),
    askToCommit: askToCommit && ((paths) => alone(() => askToCommit(paths))),
  }
}
