import { fieldOf, STATUSES, type Status, type Task } from './model.ts'
import { type TaskVocabulary, wordKey } from './vocabulary.ts'

/** The vocabulary with each status spelled as in most of the tasks, so that edits write it that way. */
export function asSpelled(
  vocabulary: TaskVocabulary,
  tasks: Iterable<Pick<Task, 'status' | 'fields'>>,
): TaskVocabulary {
  const counts = new Map<Status, Map<string, number>>()
  for (const task of tasks) {
    const word = task.fields.find(({ name }) => name === 'Status')?.value
    // A word with a remark is about one task only.
    if (task.status === null || word === undefined || /[(（]/.test(word)) continue
    const known = counts.get(task.status) ?? new Map<string, number>()
    counts.set(task.status, known.set(word, (known.get(word) ?? 0) + 1))
  }
  const spelled = new Map<Status, string>()
  for (const [status, words] of counts) spelled.set(status, [...words].toSorted((a, b) => b[1] - a[1])[0]![0])
  return { ...vocabulary, spelled }
}

/** The word for a status: in the style of the file's own status, else of the backlog. */
export function statusWord(task: Task, status: Status, vocabulary: TaskVocabulary): string {
  const { own, spelled } = vocabulary
  const present = fieldOf(task, 'Status')?.value ?? ''
  const isCanonical = CANONICAL.has(wordKey(present))
  const word = spelled?.get(status) ?? (isCanonical ? undefined : own.statuses.get(status)) ?? status
  return isCanonical && CANONICAL.has(wordKey(word)) && present !== present.toUpperCase()
    ? inCaseOf(present, word)
    : word
}

const CANONICAL: ReadonlySet<string> = new Set(STATUSES.map(wordKey))

function inCaseOf(model: string, word: string): string {
  const small = word.toLowerCase()
  return model === model.toLowerCase() ? small : small[0]!.toUpperCase() + small.slice(1)
}
