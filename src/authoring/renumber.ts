import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../base/errors.ts'
import { contentsOf } from '../git/contents.ts'
import type { Git } from '../git/git.ts'
import { mergeBase } from '../git/head.ts'
import { mainBranch } from '../git/range.ts'
import { filesIn } from '../git/tree.ts'
import { idInFileName } from '../backlog/task-folders.ts'
import type { Task, TaskHead } from '../backlog/model.ts'
import { parseTask } from '../backlog/parse.ts'
import { withDepends, withIds } from '../backlog/renumber.ts'
import { readTask } from '../backlog/read.ts'
import { idOf, numberOf } from '../backlog/values.ts'
import { highestNumber } from './highest-number.ts'
import { writeFileOf } from './not-written.ts'
import type { Place } from '../config/project.ts'

/** A task with a new number. */
export interface Renumbered {
  readonly from: string
  readonly to: string
  /** Its file with the new name. */
  readonly file: string
}

interface Renumbering extends Renumbered {
  readonly task: TaskHead
}

/**
 * Gives tasks of this branch new numbers if the main branch has another task with that number, and updates all
 * references: two people have used one number. The main branch's tasks stay. `git` runs in the project's root.
 */
export async function renumber(
  git: Git,
  place: Place,
  tasks: readonly TaskHead[],
): Promise<readonly Renumbered[]> {
  const { code } = await git.run(['rev-parse', '--verify', '--quiet', 'HEAD'], { okCodes: [0, 1] })
  if (code !== 0) return []
  const main = await mainTasks(git, place, new Set(tasks.map(({ file }) => file)))
  const moved: TaskHead[] = []
  for (const task of tasks) if (await main.hasAnother(task)) moved.push(task)
  if (moved.length === 0) return []
  let highest = await highestNumber(git, place, tasks)
  const renumberings = moved.map((task): Renumbering => {
    const to = idOf(++highest, task.id.length - 'T-'.length)
    const [folder, name] = split(task.file)
    return { task, from: task.id, to, file: `${folder}${to}${name.slice(task.id.length)}` }
  })
  const texts = await changedTexts(place, { renumberings, tasks, main })
  for (const [file, text] of texts) writeFileOf(place.root, file, text)
  for (const { task } of renumberings) rmSync(join(place.root, task.file))
  return renumberings.map(({ from, to, file }) => ({ from, to, file }))
}

/** The backlog of the main branch. */
interface MainTasks {
  readonly has: (file: string) => boolean
  /** Whether the task is this branch's, and the main branch has another one with its number. */
  readonly hasAnother: (task: TaskHead) => Promise<boolean>
  /** The task in that file of the main branch; null if it has none. */
  readonly task: (file: string) => Promise<Task | null>
}

async function mainTasks(
  git: Git,
  { root, folders, vocabulary }: Place,
  here: ReadonlySet<string>,
): Promise<MainTasks> {
  const name = await mainBranch(git)
  const base = await mergeBase(git, name, 'HEAD')
  const listed = async (commit: string | null): Promise<ReadonlyMap<string, string>> => {
    if (commit === null) return new Map()
    const files = (await Promise.all(folders.names.map((folder) => filesIn(git, commit, folder)))).flat()
    return new Map(files.map(({ path, hash }) => [path, hash]))
  }
  const [now, before] = await Promise.all([listed(name), listed(base)])
  const rivalsOf = new Map<number | null, string[]>()
  for (const path of now.keys()) {
    const number = numberIn(path)
    rivalsOf.set(number, [...(rivalsOf.get(number) ?? []), path])
  }
  const task = async (file: string): Promise<Task | null> => {
    const blob = now.get(file)
    const bytes = blob === undefined ? undefined : (await contentsOf(git, [blob])).get(blob)
    return bytes ? parseTask({ file, text: bytes.toString() }, vocabulary) : null
  }
  return {
    has: (file) => now.has(file),
    task,
    async hasAnother({ file, number }) {
      if (before.has(file)) return false
      const rivals = rivalsOf.get(number) ?? []
      // A file of the merge base that is missing here was renamed here.
      if (rivals.some((path) => path !== file && before.has(path) && here.has(path))) return true
      const news = rivals.filter((path) => !before.has(path))
      if (news.length === 0) return false
      // The same task may have landed there already, with its status changed.
      const mine = await readTask(root, file, vocabulary)
      const titles = await Promise.all(news.map(async (path) => (await task(path))?.title))
      return !titles.includes(mine.title)
    },
  }
}

/** The new texts by file, of the renumbered tasks and of those that refer to them. */
async function changedTexts(
  { root, vocabulary }: Place,
  {
    renumberings,
    tasks,
    main,
  }: {
    readonly renumberings: readonly Renumbering[]
    readonly tasks: readonly TaskHead[]
    readonly main: MainTasks
  },
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  for (const head of tasks) {
    const move = renumberings.find(({ task }) => task === head)
    const isOurs = move !== undefined || !main.has(head.file)
    const needed = renumberings.filter(({ task }) => head.needs.includes(task.number))
    if (!isOurs && needed.length === 0) continue
    const task = await readTask(root, head.file, vocabulary)
    const before = isOurs ? null : await main.task(head.file)
    const meant = new Map(
      renumberings
        .filter((one) => isOurs || (needed.includes(one) && before?.needs.includes(one.task.number) !== true))
        .map(({ task: { number }, to }) => [number, to]),
    )
    const text = isOurs ? withIds(task, meant) : withDepends(task, meant)
    if (!move && text === withIds(task, new Map())) continue
    const file = move?.file ?? head.file
    const { needs } = await parseTask({ file, text }, vocabulary)
    const wanted = task.needs.map((number) => numberOf(meant.get(number) ?? idOf(number, 1)))
    if (needs.length !== wanted.length || wanted.some((number) => !needs.includes(number)))
      throw new UserError(
        `${head.file} needs ${needed.map(({ from }) => from).join(', ')} in a range, and that number is two tasks`,
        'Name the tasks one by one there, then run ralph lint --fix again.',
      )
    texts.set(file, text)
  }
  return texts
}

function numberIn(path: string): number | null {
  const id = idInFileName(split(path)[1])
  return id === null ? null : numberOf(id)
}

function split(path: string): readonly [string, string] {
  const at = path.lastIndexOf('/') + 1
  return [path.slice(0, at), path.slice(at)]
}
