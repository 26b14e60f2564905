import { formatDuration, minuteText } from '../base/time.ts'
import { checkOff } from './criteria.ts'
import { removeField, setField, setStatus } from './edit-field.ts'
import { extendSection, removeSection, sectionBodies, setSection } from './edit-section.ts'
import type { Status, Task } from './model.ts'
import { plainMarkdown, safeNotes } from './notes.ts'
import { edited, lineEnding } from './markdown/splice.ts'
import { TASK_VOCABULARY, type TaskVocabulary } from './vocabulary.ts'

/** The completion of a task, as its file records it. */
export interface Completion {
  /** Written as local time. */
  readonly at: Date
  readonly seconds: number
  /** Null omits the field. */
  readonly commit: string | null
  readonly costUsd: number | null
  /** The agent's notes, in Markdown. */
  readonly notes: string
  /** Acceptance criteria to check off. */
  readonly criteriaMet?: readonly string[]
}

/** The text of the task file after the task is done. */
export function completeTask(
  task: Task,
  completion: Completion,
  vocabulary: TaskVocabulary = TASK_VOCABULARY,
): string {
  const { at, seconds, commit, costUsd, notes, criteriaMet = [] } = completion
  const completed = `${minuteText(at)} (${wholeMinutes(seconds)} duration)`
  return edited(task, [
    ...setStatus(task, 'DONE', vocabulary),
    ...setField(task, 'Completed', completed, vocabulary),
    ...checkOff(task, criteriaMet),
    ...(commit === null ? removeField(task, 'Commit') : setField(task, 'Commit', commit, vocabulary)),
    ...(costUsd === null
      ? removeField(task, 'Cost')
      : setField(task, 'Cost', `$${costUsd.toFixed(2)}`, vocabulary)),
    ...(notes.trim() === '' ? [] : setSection(task, 'Completion Notes', safeNotes(notes), vocabulary)),
  ])
}

/** Why a task is blocked. */
export interface Blockage {
  readonly reason: string
  readonly attempts: number
  /** Whether the reason is a question of its agent. */
  readonly asks: boolean
}

/** The text of the task file after the task is blocked. */
export function blockTask(
  task: Task,
  blockage: Blockage,
  vocabulary: TaskVocabulary = TASK_VOCABULARY,
): string {
  const body = `${plainMarkdown(blockage.reason)}\n\n${hintOf(task, blockage)}`
  return edited(task, [
    ...setStatus(task, 'BLOCKED', vocabulary),
    ...setSection(task, 'Blocked', body, vocabulary),
  ])
}

/** What a person can do; the hint is removed with the reason. */
function hintOf({ id }: Task, { attempts, asks }: Blockage): string {
  if (asks) return `Its agent asks. To answer: \`ralph answer ${id} "…"\`.`
  const failed = attempts === 1 ? '1 attempt failed' : `${attempts} attempts failed`
  const tried = attempts === 0 ? '' : `${failed}; \`ralph attempts ${id}\` shows all that are kept. `
  return `${tried}To try again: \`ralph retry ${id}\`.`
}

const HINT =
  /^(?:\d+ attempts? failed; `ralph attempts [^`]*` [a-z ]+\. )?(?:To try again: `ralph retry|Its agent asks\. To answer: `ralph answer) [^`]*`\.$/gm

/** The hint in a task that a person has blocked. */
const BY_HAND = /^To try again: `ralph retry [^`]*`\.$/m

/** What an agent may not decide for a task that it adds: who does it, and at what cost. */
const WISHES = ['Agent', 'Model', 'Turns', 'Timeout', 'Tests', 'Review'] as const

/** A task as an agent may add it: with the defaults for whatever only people decide; null if it is no TODO. */
export function taskToAdd(task: Task): string | null {
  if (task.status !== 'TODO') return null
  return edited(
    task,
    WISHES.flatMap((name) => removeField(task, name)),
  )
}

/** The text of a blocked task's file after `ralph retry`: the reason is kept, with the answer. */
export function retryTask(
  task: Task,
  vocabulary: TaskVocabulary = TASK_VOCABULARY,
  answer: string | null = null,
): string {
  const reasons = sectionBodies(task, 'Blocked').map((body) =>
    // What a person has blocked was no attempt.
    answer === null && BY_HAND.test(body) ? '' : body.replace(HINT, '').trim(),
  )
  const addition = paragraphs(task, [...reasons, ...(answer === null ? [] : [answerText(answer)])])
  const removed = removeSection(task, 'Blocked')
  return edited(task, [
    ...setStatus(task, 'TODO', vocabulary),
    ...removed,
    ...(addition === '' ? [] : extendSection(task, 'Previous Attempts', addition, vocabulary, removed)),
  ])
}

/** The text of a DONE task's file after `ralph reopen`: the facts and notes of its completion are kept as an attempt. */
export function reopenTask(task: Task, why: string, vocabulary: TaskVocabulary = TASK_VOCABULARY): string {
  const { completed, commit, cost } = task
  const facts = [completed, commit === null ? null : `commit ${commit}`, cost].filter(Boolean).join(', ')
  const addition = paragraphs(task, [
    `**Completed**: ${plainMarkdown(facts)}`,
    why === '' ? '' : `**Reopened**: ${plainMarkdown(why)}`,
    ...sectionBodies(task, 'Completion Notes'),
  ])
  const removed = removeSection(task, 'Completion Notes')
  return edited(task, [
    ...setStatus(task, 'TODO', vocabulary),
    ...COMPLETION.flatMap((name) => removeField(task, name)),
    ...removed,
    ...extendSection(task, 'Previous Attempts', addition, vocabulary, removed),
  ])
}

const COMPLETION = ['Completed', 'Commit', 'Cost'] as const

/** The text of the task file after somebody answered its agent's question, while the task continues. */
export function answerTask(
  task: Task,
  { question, answer }: { question: string; answer: string },
  vocabulary: TaskVocabulary = TASK_VOCABULARY,
): string {
  const addition = paragraphs(task, [plainMarkdown(question), answerText(answer)])
  return edited(task, extendSection(task, 'Previous Attempts', addition, vocabulary))
}

function answerText(answer: string): string {
  return `**Answer**: ${plainMarkdown(answer)}`
}

function paragraphs({ source }: Task, texts: readonly string[]): string {
  const ending = lineEnding(source)
  return texts.filter((text) => text !== '').join(`${ending}${ending}`)
}

/** Sets only the Status. */
export function giveStatus(task: Task, status: Status, vocabulary: TaskVocabulary = TASK_VOCABULARY): string {
  return edited(task, setStatus(task, status, vocabulary))
}

/** Sets only the Commit field, to a sealed commit's prefix. */
export function setCommit(task: Task, commit: string, vocabulary: TaskVocabulary = TASK_VOCABULARY): string {
  return edited(task, setField(task, 'Commit', commit, vocabulary))
}

/** `42s`, `8m`, `1h 12m`: seconds are shown only below a minute. */
function wholeMinutes(seconds: number): string {
  return formatDuration(seconds < 60 ? seconds : Math.round(seconds / 60) * 60)
}
