import { sectionBodies } from '../../backlog/edit-section.ts'
import { giveStatus } from '../../backlog/finish.ts'
import { fieldOf, STATUSES, type Status, type Task } from '../../backlog/model.ts'
import type { TaskVocabulary } from '../../backlog/vocabulary.ts'
import type { ProposedAliases } from './propose-aliases.ts'

/** What only the people of a backlog know: what its words mean, or which tasks are done. */
export interface Question {
  readonly about: 'status' | 'depends' | 'no-status'
  /** The team's word; empty if the question is about all tasks. */
  readonly word: string
  readonly message: string
  readonly options: readonly { readonly value: string; readonly label: string }[]
}

/** The questions that were asked, with the chosen values. */
export type Answers = readonly (readonly [Question, string])[]

/** An answer that changes nothing. */
const LEAVE = { value: '', label: 'Leave it: I will look at it' } as const
const MOST_WORDS = 12
const LONGEST_WORD = 24

/** The questions on a backlog, as read with the proposed words. */
export function questionsOn(tasks: readonly Task[], canName: boolean): readonly Question[] {
  if (tasks.length > 0 && tasks.every((task) => !fieldOf(task, 'Status'))) return [noStatus(tasks)]
  if (!canName) return []
  const words = tasks.flatMap((task) => {
    const { value = '' } = (task.status === null && fieldOf(task, 'Status')) || {}
    return value.length > LONGEST_WORD ? [] : value
  })
  const names = tasks.flatMap(({ problems, fields, sections }) =>
    problems.flatMap(({ kind, span: { start } }) => {
      const isThere = ({ span }: Task['fields' | 'sections'][number]): boolean =>
        span.start <= start && start < span.end
      const field = fields.find((one) => one.name === null && isThere(one))
      const section = sections.find((one) => one.name === null && isThere(one))
      return kind === 'bad-depends' ? (field?.key ?? section?.title ?? '') : ''
    }),
  )
  return [...distinct(words).map(statusQuestion), ...distinct(names).map(dependsQuestion)]
}

function distinct(words: readonly string[]): readonly string[] {
  const known = new Map(words.map((word) => [word.toLowerCase(), word]))
  return [...known.values()].filter(Boolean).slice(0, MOST_WORDS)
}

function statusQuestion(word: string): Question {
  const options = [...STATUSES.map((value) => ({ value, label: value })), LEAVE]
  return { about: 'status', word, message: `What does the Status "${word}" mean?`, options }
}

function dependsQuestion(word: string): Question {
  const yes = { value: 'yes', label: 'Yes: a task waits for those that it names' }
  return {
    about: 'depends',
    word,
    message: `Does "${word}" name what a task depends on?`,
    options: [yes, LEAVE],
  }
}

function noStatus(tasks: readonly Task[]): Question {
  const ticked = tasks.filter(isTicked).length
  const byTicks = { value: 'ticked', label: `DONE where all criteria are checked (${ticked}), else TODO` }
  const all = { value: 'TODO', label: 'TODO, all of them' }
  return {
    about: 'no-status',
    word: '',
    message: `None of the ${tasks.length} tasks has a Status. What are they?`,
    options: [...(ticked > 0 ? [byTicks] : []), all, LEAVE],
  }
}

/** Whether all check boxes of a task's criteria are checked; without criteria, all in its file. */
function isTicked(task: Task): boolean {
  const text = sectionBodies(task, 'Acceptance Criteria').join('\n') || task.source
  const marks = [...text.matchAll(/^[ \t]*[-*+][ \t]+\[([ xX])\]/gm)].map(([, mark]) => mark)
  return marks.length > 0 && !marks.includes(' ')
}

/** The proposed words, with those of the answers. */
export function withAnswers(aliases: ProposedAliases, answers: Answers): ProposedAliases {
  const added = (about: Question['about'], answer: string, before: readonly string[] | undefined) => {
    const words = answers.flatMap(([question, value]) =>
      question.about === about && value === answer ? question.word : [],
    )
    return [...(before ?? []), ...words]
  }
  const filled = <Value extends readonly unknown[]>(entries: readonly (readonly [string, Value])[]) =>
    Object.fromEntries(entries.filter(([, words]) => words.length > 0))
  return {
    ...aliases,
    fields: { ...aliases.fields, ...filled([['Depends', added('depends', 'yes', aliases.fields.Depends)]]) },
    statuses: filled(STATUSES.map((status) => [status, added('status', status, aliases.statuses[status])])),
  }
}

/** The new texts of tasks without a Status, by path. */
export function statusTexts(
  tasks: readonly Task[],
  answers: Answers,
  vocabulary: TaskVocabulary,
): ReadonlyMap<string, string> {
  const answer = answers.find(([{ about }]) => about === 'no-status')?.[1] ?? ''
  const statusOf = (task: Task): Status => (answer === 'ticked' && isTicked(task) ? 'DONE' : 'TODO')
  return new Map(
    answer === '' ? [] : tasks.map((task) => [task.file, giveStatus(task, statusOf(task), vocabulary)]),
  )
}
