import { placeAt, type Span } from '../base/diagnostic.ts'
import { unreachable } from '../base/errors.ts'
import type { Reason, TaskState } from '../backlog/select/selection.ts'
import { blockedReason, whyNot } from '../backlog/select/why-not.ts'
import { sectionOf, type Task, type TaskHead } from '../backlog/model.ts'

/** Why a task is not eligible, and where to look or what to do. */
export interface Explanation {
  readonly why: string
  /** A place in a file, or a command; empty if the reason says it all. */
  readonly where: string
}

/** The reasons why a task is not eligible, in words. Empty for one that is eligible or done. */
export function explain(state: TaskState): readonly Explanation[] {
  return explainListed(state, blockedReason(state.task), state.task)
}

/** The same for a task that was read whole only if `needsWhole` asks for it. */
export function explainListed(
  state: TaskState<TaskHead>,
  blockedReason: string,
  whole: Task | null,
): readonly Explanation[] {
  const { task, waiting } = state
  const others = waiting.filter((reason) => reason.kind !== 'dependency')
  const texts = whyNot(state, blockedReason)
  const first = texts.length - others.length
  return texts.map((why, index) => {
    if (task.status === 'BLOCKED') return { why, where: `ralph retry ${task.id}` }
    return { why, where: index < first ? '' : placeOf(others[index - first]!, task, whole) }
  })
}

/** Whether the place of a reason needs the whole task. */
export function needsWhole({ waiting }: TaskState<TaskHead>): boolean {
  return waiting.some(({ kind }) => kind === 'missing' || kind === 'blocked-section' || kind === 'invalid')
}

/** The first sentence of a text, cut to one row. */
export function firstSentence(text: string): string {
  return /^.*?(?:[.!?](?=\s)|[。！？])/.exec(text)?.[0] ?? text
}

type OtherReason = Exclude<Reason, { kind: 'dependency' }>

/** The place of a reason; without the whole task only its file. */
function placeOf(reason: OtherReason, { file }: TaskHead, whole: Task | null): string {
  if (reason.kind === 'duplicate') return ''
  const span = whole && spanOf(reason, whole)
  if (whole && span) {
    const { line, column } = placeAt(whole.source, span.start)
    return `${file}:${line}:${column}`
  }
  return reason.kind === 'invalid' ? `${file}:${reason.line}` : file
}

function spanOf(reason: OtherReason, task: Task): Span | undefined {
  switch (reason.kind) {
    case 'missing':
      return task.depends.find(({ id }) => id === reason.id)?.span
    case 'blocked-section':
      return sectionOf(task, 'Blocked')?.span
    case 'invalid':
      return task.problems.find(({ message, line }) => message === reason.message && line === reason.line)
        ?.span
    case 'cycle':
    case 'duplicate':
      return undefined
    default:
      return unreachable(reason)
  }
}
