import { join } from 'node:path'
import type { Task, TaskHead } from '../task/model.ts'
import { parseTask } from '../task/parse.ts'
import { readTask } from '../task/read.ts'
import { readTaskText } from '../task/task-text.ts'
import type { Place } from './project.ts'

/** A place with at least the head of each of its tasks. */
export interface HeadedPlace extends Place {
  readonly tasks: readonly TaskHead[]
}

/** One task of the place, whole. */
export async function wholeTask({ root, vocabulary }: Place, head: TaskHead): Promise<Task> {
  return isWhole(head) ? head : await readTask(root, head.file, vocabulary)
}

/**
 * The tasks that the prompt of one of them can speak of, whole: those that it depends on, and those that may share its
 * milestone. In a large backlog reading these alone is a fraction of reading all.
 */
export async function relatedTasks(place: HeadedPlace, task: Task): Promise<readonly Task[]> {
  const needed = new Set(task.depends.map(({ number }) => number))
  const words = wordsOf(task.milestone ?? '')
  const tasks: Task[] = []
  for (const head of place.tasks) {
    if (isWhole(head) || needed.has(head.number)) tasks.push(await wholeTask(place, head))
    else if (words !== null) tasks.push(...(await withWords(place, head, words)))
  }
  return tasks
}

/** The task if its text holds the words: one of the same milestone does, whatever marks it is written with. */
async function withWords(
  { root, vocabulary }: Place,
  { file }: TaskHead,
  words: RegExp,
): Promise<readonly Task[]> {
  const text = readTaskText(join(root, file), root)
  if (typeof text !== 'string' || !words.test(text)) return []
  return [await parseTask({ file, text }, vocabulary)]
}

function wordsOf(text: string): RegExp | null {
  const words = text.match(/[\p{L}\p{N}]+/gu)
  const between = String.raw`(?:&\w+;|[^\p{L}\p{N}])+`
  return words && new RegExp(String.raw`(?<![\p{L}\p{N}])${words.join(between)}(?![\p{L}\p{N}])`, 'u')
}

function isWhole(head: TaskHead): head is Task {
  return 'source' in head
}
