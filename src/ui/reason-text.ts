import { placeAt, type Span } from '../base/diagnostic.ts'
import { unreachable } from '../base/errors.ts'
import type { Reason, TaskState } from '../select/selection.ts'
import { blockedReason, whyNot } from '../select/why-not.ts'
import { sectionOf, type Task, type TaskHead } from '../task/model.ts'

/** Why a task is not up, and where to look or what to do about it. */
export interface Explanation {
  readonly why: string
  /** A place in a file, or a command; empty where the reason says it all. */
  readonly where: string
}

/** Everything that keeps a task from being eligible, in words. Nothing for one that is eligible or done. */
export function explain(state: TaskState): readonly Explanation[] {
  return explainListed(state, blockedReason(state.task), state.task)
}

/** The same of a task that is whole only where `needsWhole` says so. */
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

/** Whether it takes the whole task to tell where to look. */
export function needsWhole({ waiting }: TaskState<TaskHead>): boolean {
  return waiting.some(({ kind }) => kind === 'missing' || kind === 'blocked-section' || kind === 'invalid')
}

/** As much of a text as says the most in one row. */
export function firstSentence(text: string): string {
  return /^.*?(?:[.!?](?=\s)|[。！？])/.exec(text)?.[0] ?? text
}

type OtherReason = Exclude<Reason, { kind: 'dependency' }>

/** Where a reason stands; without the whole task no nearer than its file. */
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
