import { join } from 'node:path'
import { decoded, ownText } from '../task/byte-text.ts'
import type { Task, TaskName } from '../task/model.ts'
import { parseTask } from '../task/parse.ts'
import { readTaskFiles, type Unreadable } from '../task/task-files.ts'
import { isWhole, wholeTask } from './find-task.ts'
import type { Place } from './project.ts'

/**
 * The tasks that the prompt of one of them can speak of, whole: those that it depends on, and those that may share its
 * milestone. In a large backlog reading these alone is a fraction of reading all.
 */
export async function relatedTasks(
  place: Place,
  names: readonly TaskName[],
  task: Task,
): Promise<readonly Task[]> {
  const needed = new Set(task.needs)
  const words = wordsOf(task.milestone ?? '')
  const isMeant = (name: TaskName): boolean => isWhole(name) || needed.has(name.number)
  const others = bytesOf(place, words === null ? [] : names.filter((name) => !isMeant(name)))
  const tasks: Task[] = []
  for (const name of names) {
    if (isMeant(name)) {
      tasks.push(await wholeTask(place, name))
      continue
    }
    const bytes = others.next().value
    // One of the same milestone holds its words, whatever marks it is written with.
    if (typeof bytes === 'string' && words?.test(decoded(blockOf(bytes)))) {
      tasks.push(await parseTask({ file: name.file, text: ownText(bytes) }, place.vocabulary))
    }
  }
  return tasks
}

function* bytesOf(
  { root, dir }: Place,
  names: readonly TaskName[],
): Generator<string | Unreadable, undefined> {
  const files = names.map(({ file }) => file.slice(dir.length + 1))
  for (const batch of readTaskFiles(join(root, dir), files, root)) yield* batch
}

/** What stands above the first section, or all of it where something in it may only look like one. */
function blockOf(text: string): string {
  const end = text.indexOf('\n## ')
  const block = end === -1 ? text : text.slice(0, end)
  return /<!--|`{3}|~{3}/.test(block) ? text : block
}

function wordsOf(text: string): RegExp | null {
  const words = text.match(/[\p{L}\p{N}]+/gu)
  const between = String.raw`(?:&\w+;|[^\p{L}\p{N}])+`
  return words && new RegExp(String.raw`(?<![\p{L}\p{N}])${words.join(between)}(?![\p{L}\p{N}])`, 'u')
}
