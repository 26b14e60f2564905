import { decoded, ownText } from '../backlog/byte-text.ts'
import type { Task, TaskName } from '../backlog/model.ts'
import { parseTask } from '../backlog/parse.ts'
import { readTask } from '../backlog/read.ts'
import { readTaskFiles, type Unreadable } from '../backlog/task-files.ts'
import type { Place } from './project.ts'

/**
 * The whole tasks that another task's prompt can mention: those that it depends on, and those that may share its
 * milestone. In a large backlog this reads only a fraction of the files.
 */
export async function readRelated(
  place: Place,
  names: readonly TaskName[],
  task: Task,
): Promise<readonly Task[]> {
  const needed = new Set(task.needs)
  const mayShare = task.milestone === null ? null : milestoneSearch(task.milestone)
  const others = bytesOf(
    place.root,
    mayShare === null ? [] : names.filter(({ number }) => !needed.has(number)),
  )
  const tasks: Task[] = []
  for (const { number, file } of names) {
    if (needed.has(number)) {
      tasks.push(await readTask(place.root, file, place.vocabulary))
      continue
    }
    const bytes = others.next().value
    if (typeof bytes === 'string' && mayShare?.(decoded(blockOf(bytes)))) {
      tasks.push(await parseTask({ file, text: ownText(bytes) }, place.vocabulary))
    }
  }
  return tasks
}

function* bytesOf(root: string, names: readonly TaskName[]): Generator<string | Unreadable, undefined> {
  let at = 0
  while (at < names.length) {
    const batch = readTaskFiles(root, names, at)
    yield* batch
    at += batch.length
  }
}

/** The text above the first section, or the whole text if a heading may be something else. */
function blockOf(text: string): string {
  const end = text.indexOf('\n## ')
  const block = end === -1 ? text : text.slice(0, end)
  return /<!--|`{3}|~{3}/.test(block) ? text : block
}

/** Returns a test for texts that may name the milestone: such a text contains its words, with any Markdown. */
function milestoneSearch(milestone: string): (text: string) => boolean {
  // The first words are enough; a pattern of thousands could not be compiled.
  const words = milestone.match(/[\p{L}\p{N}]+/gu)?.slice(0, MOST_WORDS) ?? null
  // A name without words, such as `🚀`, cannot be searched for.
  if (words === null) return () => true
  const inTurn = new RegExp(
    String.raw`(?<![\p{L}\p{N}])${words.join(String.raw`[^\p{L}\p{N}]+`)}(?![\p{L}\p{N}])`,
    'u',
  )
  // A character reference, which begins with an ampersand, may stand for any letter.
  return (text) => text.includes('&') || inTurn.test(text)
}

const MOST_WORDS = 10
