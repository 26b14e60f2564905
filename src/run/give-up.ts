import { patience } from '../base/patience.ts'
import { failurePrint, isAnnounced, setAsideText } from '../attempt/check.ts'
import type { From } from '../attempt/job.ts'
import type { Outcome } from '../attempt/outcome.ts'
import { fewOf, shortened } from '../base/text.ts'
import { formatDuration } from '../base/time.ts'
import type { Happening } from '../events/event.ts'
import type { Base } from '../git/head.ts'
import type { KeptAttempt } from '../git/record.ts'
import type { StatusEntry } from '../git/status.ts'
import { composeMessage } from '../git/trailers.ts'
import type { Landed } from '../landing/land.ts'
import type { Blockage } from '../task/finish.ts'
import type { Task } from '../task/model.ts'
import type { Displaced } from '../workspace/port.ts'
import { FAILURE_ANSWERS, type FailureAnswer, type PersonAnswer } from './ports.ts'
import { announced } from './prepare.ts'
import { currentTask } from './source.ts'
import type { RunPorts } from './ports.ts'
import type { Run, TextCommit, Together } from './task.ts'

/** How a task ended; `base` is where the next one begins. */
export type TaskRunEnd =
  | {
      readonly kind: 'completed'
      /** Kept until the run has noted that it landed. */
      readonly candidate: KeptAttempt
      readonly landed: Extract<Landed, { kind: 'landed' }>
      readonly base: Base
    }
  | { readonly kind: 'blocked'; readonly base: Base }
  | { readonly kind: 'left'; readonly base: Base; readonly reason: string }
  /** The whole run ends; what could not be restored is left for the next run. */
  | {
      readonly kind: 'stop'
      readonly why: 'interrupted' | 'stopped' | 'failed' | 'budget'
      readonly reason: string
    }

/** The state of the task that is given up. */
interface At {
  readonly base: Base
  readonly from: From
}

/** A task that is given up. */
interface GivingUp extends At {
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
  giving: GivingUp & { readonly isBlocked: boolean },
): Promise<TaskRunEnd | AnsweredTask | null> {
  const { ports, options } = run
  if (options.onFailure !== 'ask')
    return conclude(run, giving, giving.isBlocked || options.onFailure === 'block' ? 'block' : 'abort')
  const answer = await answerTo(run, giving)
  if ((await ports.workspace.inspect.status()).head !== giving.base.head) return movedMeanwhile(run)
  if (typeof answer === 'object') return enterAnswer(run, giving, answer.text)
  return answer === 'retry' ? null : conclude(run, giving, answer)
}

/** Whether the last attempt ended with a question of its agent. */
function asks({ ledger }: Run, { id }: Task): boolean {
  return ledger.attemptsAt(id).at(-1)?.outcome === 'blocked'
}

/** Writes the answer below the question and commits it; the next attempt begins there. */
async function enterAnswer(run: Run, giving: GivingUp, answer: string): Promise<TaskRunEnd | AnsweredTask> {
  const { ports, note } = run
  const { source, edits } = ports
  const { base, reason } = giving
  const { id } = giving.task
  const stopped = (why: string): TaskRunEnd => ({ kind: 'stop', why: 'stopped', reason: why })
  const problem = await restoreTree(run, giving)
  if (problem !== null) return stopped(problem)
  await setAsideWhatIsLeft(run)
  const taskNow = async (): Promise<Task> => (await currentTask(source, giving.task)) ?? giving.task
  const result = await commitText(run, {
    task: await taskNow(),
    text: (task) => edits.answer(task, { question: reason, answer }),
    message: answerMessage(id, answer),
  })
  if (result.kind !== 'committed') return stopped(`git did not take the answer to ${id}: ${result.output}`)
  note.clear()
  return { kind: 'answered', task: await taskNow(), base: { ...base, head: result.head ?? base.head } }
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

/** Commits a text of a task's file: in the checkout at once; with several jobs, when no landing is under way. */
async function commitText(run: Run, request: TextCommit): ReturnType<Together['commitText']> {
  if (run.together) return run.together.commitText(request)
  const { workspace, control } = run.ports
  const { task, text, message } = request
  const texts = new Map([[task.file, text(task)], ...(await originTexts(run.ports, request))])
  return workspace.record.commitTexts({ texts, message, signal: control.killSignal })
}

/** Restores the tree, then blocks the task, leaves it, or ends the run. */
export async function conclude(
  run: Run,
  giving: GivingUp,
  answer: Exclude<FailureAnswer, 'retry'>,
): Promise<TaskRunEnd> {
  const { task, base, reason } = giving
  const problem = await restoreTree(run, giving)
  if (problem !== null) return { kind: 'stop', why: 'stopped', reason: problem }
  await setAsideWhatIsLeft(run)
  if (answer === 'block') return block(run, { task, base, reason })
  run.note.clear()
  run.emit({ type: 'task-given-up', id: task.id, title: task.title, reason })
  if (answer === 'skip') return { kind: 'left', base, reason }
  const why = run.ports.control.signal.aborted ? 'interrupted' : 'failed'
  return { kind: 'stop', why, reason: `${task.id}: ${reason}` }
}

/** A person's answer, from the run's terminal or from another one, whichever is first; the wait is limited. */
async function answerTo(run: Run, { task, reason }: GivingUp): Promise<PersonAnswer> {
  const { ports, options, emit } = run
  const { control, ask } = ports
  if (!ask) return 'block'
  const isQuestion = asks(run, task)
  const text = `${task.id} ${isQuestion ? 'asks' : 'failed'}: ${reason}`
  emit({ type: 'question', id: task.id, text, options: FAILURE_ANSWERS })
  const answered = new AbortController()
  const wait = patience(options.askSeconds, AbortSignal.any([control.signal, answered.signal]))
  const elsewhere = control.answerTo(task.id, wait.signal)
  const here = ask({ task, reason, asks: isQuestion }, wait.signal)
  const answer = await Promise.race([
    here,
    elsewhere.then((words) =>
      words === null ? (wait.isOver() ? 'block' : here) : readAnswer(words, isQuestion),
    ),
  ])
  wait.end()
  answered.abort()
  if (wait.isOver())
    emit({
      type: 'warning',
      message: `nobody has answered about ${task.id} in ${formatDuration(options.askSeconds)}`,
    })
  const meant = wait.isOver() ? 'block' : answer
  emit({ type: 'answered', id: task.id, answer: typeof meant === 'object' ? meant.text : meant })
  return meant
}

/** Reads an answer: text that is no known word answers a question, and is a mistake if there was none. */
function readAnswer(text: string, isQuestion: boolean): PersonAnswer {
  return FAILURE_ANSWERS.find((known) => known === text) ?? (isQuestion ? { text } : 'block')
}

/** The person may have committed before answering: then nothing is restored from here on. */
function movedMeanwhile({ note }: Run): TaskRunEnd {
  note.clear()
  const reason =
    'HEAD was moved while the question waited, so nothing is restored: the attempt is kept; remove what it left in the tree, and run ralph again'
  return { kind: 'stop', why: 'stopped', reason }
}

/** Commits the reason for blocking a task; the tree is the base's. */
export async function block(
  run: Run,
  { task, base, reason }: { readonly task: Task; readonly base: Base; readonly reason: string },
): Promise<TaskRunEnd> {
  const { ports, note, ledger, emit } = run
  const attempts = ledger.endedSeriesAt(task.id).length
  const blockage = { reason, attempts, asks: asks(run, task) }
  const failed = ledger
    .endedSeriesAt(task.id)
    .map((record) => ({ number: record.number, reason: record.reason, at: new Date(record.keptAt * 1000) }))
  note.update({ phase: 'blocking', reason })
  ports.checkpoint('blocking-noted')
  const result = await commitText(run, {
    task,
    text: (now) => ports.edits.block(now, blockage),
    report: { status: 'BLOCKED', reason, at: ports.now(), failed },
    message: blockMessage(task, blockage),
  })
  if (result.kind !== 'committed') {
    // The note stays in this phase: the next run repeats the commit, without another attempt.
    const why = `git did not take the commit that blocks ${task.id}: ${result.output}`
    return { kind: 'stop', why: 'stopped', reason: why }
  }
  ports.checkpoint('block-committed')
  const commit = result.head ?? base.head
  note.clear()
  emit({ type: 'task-blocked', id: task.id, title: task.title, ...blockage, commit })
  return { kind: 'blocked', base: { ...base, head: commit } }
}

/** In lists of commits one reads the first line; the body has all of it. */
function subjectOf(text: string): string {
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

/** Ends the run at this task, after restoring the tree. */
export async function stop(
  run: Run,
  at: At & { readonly why: 'interrupted' | 'stopped' | 'budget'; readonly reason: string },
): Promise<TaskRunEnd> {
  const problem = await restoreTree(run, at)
  if (problem === null) {
    run.note.clear()
    await setAsideWhatIsLeft(run)
  } else run.emit({ type: 'warning', message: problem })
  return { kind: 'stop', why: at.why, reason: at.reason }
}

/** Restores the tree to the base; null, or the reason why it cannot. Nothing unrecorded is moved. */
async function restoreTree({ ports, emit }: Run, { base, from }: At): Promise<string | null> {
  const { inspect, restore } = ports.workspace
  try {
    const recorded = from.kind === 'record' ? from.tree : await inspect.treeOf(base.head)
    const displaced = await restore.tree({ recorded, to: base.head })
    if (displaced === null)
      return 'somebody changed files after the attempt was recorded, so nothing was moved: the next run records them'
    for (const one of displaced) emit(displacedWarning(one))
  } catch (error) {
    return `the tree could not be restored: ${error instanceof Error ? error.message : String(error)}`
  }
  ports.checkpoint('tree-restored')
  return null
}

/** Ignored files that were where the restored tree has files. */
export function displacedWarning({ folder, paths }: Displaced): Happening {
  const message = `${fewOf(paths)} stood where the tree is restored to; no record could hold what was there, so it is kept in ${folder}`
  return { type: 'warning', message }
}

/** Files that only the attempt's own .gitignore hid are not in its record, and are visible again without it. */
async function setAsideWhatIsLeft(run: Run): Promise<void> {
  const { entries } = await run.ports.workspace.inspect.status()
  setAside(run, entries, 'left by the attempt that failed')
}

/**
 * Leaves out of the work what gates and hooks leave in the tree, and reports it once. No commit gets untracked
 * files among it, unless a task is to produce them; changes to a tracked file look like work later.
 */
export function setAside(
  { ports, ledger, emit }: Pick<Run, 'ports' | 'ledger' | 'emit'>,
  entries: readonly StatusEntry[],
  where: string,
): void {
  if (entries.length === 0) return
  const { workspace, source } = ports
  ledger.addGateOutput(entries.map(({ path }) => path))
  const produced = announced(source.tasks()).map((path) => `${workspace.prefix}${path}`)
  const isAside = ({ kind, path }: StatusEntry): boolean =>
    kind === 'untracked' && !isAnnounced(path, produced)
  const aside = entries.filter(isAside).map(({ path }) => path)
  const inside = entries.filter(({ dirtyInside }) => dirtyInside).map(({ path }) => path)
  const rest = entries.filter((entry) => !isAside(entry) && !entry.dirtyInside).map(({ path }) => path)
  workspace.restore.setAside(aside)
  const parts = [
    ...(aside.length > 0 ? [setAsideText(aside)] : []),
    ...(rest.length > 0 ? [`${fewOf(rest)} (the next commit will hold it)`] : []),
    ...(inside.length > 0 ? [`${fewOf(inside)} (a submodule: commit in it what is to be kept)`] : []),
  ]
  emit({ type: 'warning', message: `${where}: ${parts.join('; ')}` })
}

/** Why no further attempt is made, if the gates fail as they did before the run: that is no fault of the task's. */
export function sameAsBaseline({ ledger }: Run, failure: Outcome): string | null {
  const before = ledger.failedBefore.filter((result) => result.gate.required)
  if (failure.kind !== 'gate-failed' || before.length === 0 || failure.fingerprint !== failurePrint(before))
    return null
  return `the gates fail exactly as they did before the run began: ${failure.reason}`
}

/**
 * Why the run ends, if the agent failed at once at the task before in the very same way: that is the agent's fault, or
 * the system's, and every other task would be blocked for it. A script belongs to its task.
 */
export function sameAsBefore(
  { ledger: { idleEnd: before } }: Run,
  record: KeptAttempt | null,
): string | null {
  if (!before || !record?.idle || record.outcome !== 'agent-failed' || record.agent === 'script') return null
  const isSame = record.fingerprint === before.fingerprint && record.agent === before.agent
  if (!isSame || record.task === before.task) return null
  return `the agent ended at once at ${record.task}, as at ${before.task}: ${record.reason}`
}

/** The texts of a task's origin that go with a text of its file. */
export async function originTexts(
  { origins }: Pick<RunPorts, 'origins'>,
  { task, report }: TextCommit,
): Promise<ReadonlyMap<string, string>> {
  return report ? origins.texts(task, report) : new Map()
}
