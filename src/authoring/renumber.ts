import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileOf } from '../base/atomic-file.ts'
import { UserError } from '../base/errors.ts'
import type { Task, TaskHead } from '../backlog/model.ts'
import { parseTask } from '../backlog/parse.ts'
import { readTask } from '../backlog/read.ts'
import { withDepends, withIds } from '../backlog/renumber.ts'
import { idLike } from '../backlog/ids.ts'
import type { Place } from '../config/project.ts'
import { contentsOf } from '../git/contents.ts'
import type { Git } from '../git/git.ts'
import { mergeBase } from '../git/head.ts'
import { mainBranch } from '../git/range.ts'
import { filesIn } from '../git/tree.ts'
import { highestNumber } from './new-task.ts'

/** A task with a new number, and its file with the new name. */
interface Renumbering {
  readonly task: TaskHead
  readonly to: string
  readonly file: string
}

/**
 * Gives tasks of this branch new numbers if the main branch has another task with that number, and updates all
 * references: two people have used one number. The main branch's tasks stay. `git` runs in the project's root.
 */
export async function renumber(git: Git, place: Place, tasks: readonly TaskHead[]) {
  const { code } = await git.run(['rev-parse', '--verify', '--quiet', 'HEAD'], { okCodes: [0, 1] })
  if (code !== 0) return []
  const main = await mainTasks(git, place)
  const here = new Set(tasks.map(({ file }) => file))
  const moved: TaskHead[] = []
  for (const task of tasks) if (await isTaken(task, { place, main, here })) moved.push(task)
  if (moved.length === 0) return []
  let highest = await highestNumber(git, place, tasks)
  const renumberings = moved.map((task): Renumbering => {
    const to = idLike(task.id, ++highest)
    const name = task.file.lastIndexOf('/') + 1
    return { task, to, file: task.file.slice(0, name) + to + task.file.slice(name + task.id.length) }
  })
  const texts = new Map<string, string>()
  for (const task of tasks) {
    const changed = await changedText(task, place, { renumberings, main })
    if (changed) texts.set(changed.file, changed.text)
  }
  for (const [file, text] of texts) writeFileOf(place.root, file, text)
  for (const { task } of renumberings) rmSync(join(place.root, task.file))
  return renumberings.map(({ task, to, file }) => ({ from: task.id, to, file }))
}

/** Tasks with their old and new numbers. */
export type Renumbered = Awaited<ReturnType<typeof renumber>>

/** The main branch's task files by path, those that it shares with this branch, and its tasks. */
async function mainTasks(git: Git, { folders, vocabulary }: Place) {
  const name = await mainBranch(git)
  const base = await mergeBase(git, name, 'HEAD')
  const listed = async (commit: string | null): Promise<ReadonlyMap<string, string>> => {
    if (commit === null) return new Map()
    const found = await Promise.all(folders.names.map((folder) => filesIn(git, commit, folder)))
    const files = found.flat().filter(({ path }) => folders.includes(path))
    return new Map(files.map(({ path, hash }) => [path, hash]))
  }
  const [now, before] = await Promise.all([listed(name), listed(base)])
  const taskIn = async (file: string): Promise<Task | null> => {
    const blob = now.get(file)
    const bytes = blob === undefined ? undefined : (await contentsOf(git, [blob])).get(blob)
    return bytes ? parseTask({ file, text: bytes.toString() }, vocabulary) : null
  }
  return { now, before, taskIn }
}

type MainTasks = Awaited<ReturnType<typeof mainTasks>>

/** Whether the task is this branch's, and the main branch has another one with its number. */
async function isTaken(
  { file, number }: TaskHead,
  around: { place: Place; main: MainTasks; here: ReadonlySet<string> },
): Promise<boolean> {
  const { place, main, here } = around
  const { now, before, taskIn } = main
  const { ids } = place.vocabulary
  if (before.has(file)) return false
  const rivals = [...now.keys()].filter((path) => ids.numberOf(ids.inPath(path)) === number)
  // A file of the merge base that is missing here was renamed here.
  if (rivals.some((path) => path !== file && before.has(path) && here.has(path))) return true
  const news = rivals.filter((path) => !before.has(path))
  if (news.length === 0) return false
  // The same task may have landed there already, with its status changed.
  const mine = await readTask(place.root, file, place.vocabulary)
  const titles = await Promise.all(news.map(async (path) => (await taskIn(path))?.title))
  return !titles.includes(mine.title)
}

/** The new text of a renumbered task, or of one that refers to one; null if it stays as it is. */
async function changedText(
  head: TaskHead,
  { root, vocabulary }: Place,
  { renumberings, main }: { renumberings: readonly Renumbering[]; main: MainTasks },
): Promise<{ file: string; text: string } | null> {
  const move = renumberings.find(({ task }) => task === head)
  const isOurs = move !== undefined || !main.now.has(head.file)
  const needed = renumberings.filter(({ task }) => head.needs.includes(task.number))
  if (!isOurs && needed.length === 0) return null
  const task = await readTask(root, head.file, vocabulary)
  const before = isOurs ? null : await main.taskIn(head.file)
  const meant = isOurs ? renumberings : needed.filter((one) => !before?.needs.includes(one.task.number))
  const { ids: known } = vocabulary
  const ids = new Map(meant.map((one) => [one.task.number, one.to]))
  const text = isOurs ? withIds(task, ids, known) : withDepends(task, ids, known)
  if (!move && text === withIds(task, new Map(), known)) return null
  const file = move?.file ?? head.file
  const { needs } = await parseTask({ file, text }, vocabulary)
  const wanted = task.needs.map((number) => known.numberOf(ids.get(number) ?? known.idOf(number, 1)))
  if (needs.length === wanted.length && wanted.every((number) => needs.includes(number)))
    return { file, text }
  throw new UserError(
    `${head.file} needs ${needed.map((one) => one.task.id).join(', ')} in a range, and that number is two tasks`,
    'Name the tasks one by one there, then run ralph lint --fix again.',
  )
}
