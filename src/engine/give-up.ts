import { shortened } from '../base/text.ts'
import type { Base } from '../git/head.ts'
import type { KeptAttempt } from '../git/record.ts'
import { composeMessage } from '../git/trailers.ts'
import { answerTask, blockTask, type Blockage } from '../backlog/finish.ts'
import type { Task } from '../backlog/model.ts'
import { failurePrint } from './check.ts'
import { asFailed, currentTask } from './land.ts'
import type { Outcome } from './outcome.ts'
import { askPerson } from './questions.ts'
import { commitText, type Place, type Run } from './run-parts.ts'

/** What a person can say of a failed task. */
const FAILURE_ANSWERS = ['retry', 'skip', 'block', 'abort'] as const
type FailureAnswer = (typeof FAILURE_ANSWERS)[number]

/** What to do with the task, or what to tell its agent. */
type PersonAnswer = FailureAnswer | { readonly text: string }

/** How a task ended without a commit of its own. */
export type TaskEnd =
  | { readonly kind: 'blocked' }
  | { readonly kind: 'left'; readonly reason: string }
  /** Its agent did nothing: the next task shows whether it is to be blocked for that. */
  | { readonly kind: 'idle' }
  /** The whole run ends. */
  | {
      readonly kind: 'stop'
      readonly why: 'interrupted' | 'stopped' | 'failed' | 'budget'
      readonly reason: string
    }

/** A task that is given up, and why. */
interface GivingUp {
  readonly task: Task
  readonly reason: string
}

/** The task is tried again from here: the answer to its agent's question is in its file. */
interface AnsweredTask {
  readonly kind: 'answered'
  readonly task: Task
  readonly base: Base
}

/** Blocks the task, leaves it or stops, as configured; null to try it again. `isBlocked` if its agent said so. */
export async function giveUp(
  run: Run,
  place: Place,
  giving: GivingUp & { readonly isBlocked: boolean },
): Promise<TaskEnd | AnsweredTask | null> {
  const { onFailure } = run.options
  if (onFailure !== 'ask')
    return conclude(run, place, giving, giving.isBlocked || onFailure === 'block' ? 'block' : 'abort')
  const answer = await answerTo(run, place, giving)
  if (typeof answer === 'object') return enterAnswer(run, place, giving, answer.text)
  return answer === 'retry' ? null : conclude(run, place, giving, answer)
}

/** Whether the last attempt ended with a question of its agent. */
function asks({ ledger }: Run, { id }: Task): boolean {
  return ledger.attemptsAt(id).at(-1)?.outcome === 'blocked'
}

/** Writes the answer below the question and commits it; the next attempt begins there. */
async function enterAnswer(
  run: Run,
  place: Place,
  { task, reason }: GivingUp,
  answer: string,
): Promise<TaskEnd | AnsweredTask> {
  const { source } = run.ports
  const result = await commitText(run, place, {
    task,
    text: (now) => answerTask(now, { question: reason, answer }, source.words),
    message: answerMessage(task.id, answer),
  })
  if (typeof result === 'string')
    return { kind: 'stop', why: 'stopped', reason: `the answer to ${task.id} was not committed: ${result}` }
  place.note.clear()
  return { kind: 'answered', task: currentTask(source, task) ?? task, base: result }
}

/** The message of the commit with a person's answer to an agent's question. */
export function answerMessage(id: string, answer: string): string {
  return composeMessage({
    subject: subjectOf(`${id}: Answer: ${answer.trim()}`),
    body: answer.trim(),
    trailers: [
      { key: 'Task', value: id },
      { key: 'Retried', value: 'yes' },
    ],
  })
}

/** Blocks the task, leaves it, or ends the run. */
export async function conclude(
  run: Run,
  place: Place,
  giving: GivingUp,
  answer: Exclude<FailureAnswer, 'retry'>,
): Promise<TaskEnd> {
  const { task, reason } = giving
  if (answer === 'block') return block(run, place, giving)
  place.note.clear()
  place.emit({ type: 'task-given-up', id: task.id, title: task.title, reason })
  if (answer === 'skip') return { kind: 'left', reason }
  const why = run.ports.control.signal.aborted ? 'interrupted' : 'failed'
  return { kind: 'stop', why, reason: `${task.id}: ${reason}` }
}

/** What a person says about the task; it is blocked if nobody says anything. Words that are no choice are for its agent. */
async function answerTo(run: Run, { emit }: Place, { task, reason }: GivingUp): Promise<PersonAnswer> {
  const { control, ask } = run.ports
  if (!ask) return 'block'
  const isQuestion = asks(run, task)
  const text = `${task.id} ${isQuestion ? 'asks' : 'failed'}: ${reason}`
  const options = FAILURE_ANSWERS.filter((choice) => choice !== 'retry' || !isQuestion)
  const answer = await askPerson(run, emit, { id: task.id, text, options })
  if (answer === null) return control.signal.aborted ? 'abort' : 'block'
  return FAILURE_ANSWERS.find((choice) => choice === answer) ?? { text: answer }
}

/** Commits the reason for blocking a task. */
export async function block(run: Run, place: Place, { task, reason }: GivingUp): Promise<TaskEnd> {
  const { ports, ledger } = run
  const ended = ledger.endedSeriesAt(task.id)
  const blockage = { reason, attempts: ended.length, asks: asks(run, task) }
  place.note.update({ blocking: reason })
  ports.checkpoint('blocking-noted')
  const result = await commitText(run, place, {
    task,
    text: (now) => blockTask(now, blockage, ports.source.words),
    report: { status: 'BLOCKED', reason, at: ports.now(), failed: ended.map(asFailed) },
    message: blockMessage(task, blockage),
  })
  if (typeof result === 'string') {
    // The note stays in this phase: the next run repeats the commit, without another attempt.
    const why = `the commit that blocks ${task.id} was not made: ${result}`
    return { kind: 'stop', why: 'stopped', reason: why }
  }
  ports.checkpoint('block-committed')
  place.note.clear()
  place.emit({ type: 'task-blocked', id: task.id, title: task.title, ...blockage, commit: result.head })
  return { kind: 'blocked' }
}

/** In lists of commits one reads the first line; the body has all of it. */
export function subjectOf(text: string): string {
  return shortened(text.split('\n', 1)[0]!, 120)
}

/** The message of the commit that blocks a task. */
export function blockMessage({ id }: Task, { reason, attempts }: Blockage): string {
  return composeMessage({
    subject: subjectOf(`${id}: Block: ${reason}`),
    body: reason,
    trailers: [
      { key: 'Task', value: id },
      { key: 'Blocked', value: reason },
      { key: 'Attempts', value: String(attempts) },
    ],
  })
}

/** Why no further attempt is made, if the gates fail as they did before the run: that is no fault of the task's. */
export function sameAsBaseline({ ledger }: Run, failure: Outcome): string | null {
  const before = ledger.failedBefore.filter((result) => result.gate.required)
  if (failure.kind !== 'gate-failed' || before.length === 0 || failure.fingerprint !== failurePrint(before))
    return null
  return `the gates fail exactly as they did before the run began: ${failure.reason}`
}

/** Whether the agent failed without having done anything. A script belongs to its task. */
export function isIdleFailure(record: KeptAttempt | null): record is KeptAttempt {
  return record !== null && record.idle && record.outcome === 'agent-failed' && record.agent !== 'script'
}

/**
 * Why the agent is of no use in this run, if it failed without doing anything at the task before in the very same way: that
 * is the agent's fault, or the system's, and every other task would be blocked for it.
 */
export function sameAsBefore(
  { ledger: { idleEnd: before } }: Run,
  record: KeptAttempt | null,
): string | null {
  if (!before || !isIdleFailure(record)) return null
  const { fingerprint, agent } = before.record
  if (record.fingerprint !== fingerprint || record.agent !== agent || record.task === before.task.id)
    return null
  return `the agent did nothing at ${record.task}, nor at ${before.task.id}: ${record.reason}`
}
