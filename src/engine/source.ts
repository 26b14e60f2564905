import { contentsOf } from '../git/contents.ts'
import { MODES } from '../git/raw-changes.ts'
import { idInFileName } from '../task/file-name.ts'
import type { Task } from '../task/model.ts'
import { inOrder } from '../task/order.ts'
import { parseTask, unreadableTask } from '../task/parse.ts'
import type { TaskVocabulary } from '../task/vocabulary.ts'
import type { TaskSource } from './ports.ts'
import type { Home } from './slot/home.ts'

/** Where tasks are, and how their files are read. */
export interface TaskPlace {
  readonly folders: readonly [string, ...string[]]
  /** Whether the file of that name is configured to be no task. */
  readonly isIgnored?: ((name: string) => boolean) | undefined
  readonly vocabulary: TaskVocabulary
}

/** Distinguishes task files from other files by their paths. */
export function isTaskIn({ folders, isIgnored }: Omit<TaskPlace, 'vocabulary'>): TaskSource['isTask'] {
  return (path) =>
    folders.some((folder) => {
      const name = folder === '.' ? path : path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : ''
      return !name.includes('/') && idInFileName(name) !== null && !isIgnored?.(name)
    })
}

/** A task file of a commit. */
interface TreeTask {
  readonly file: string
  readonly mode: string
  readonly blob: string
}

/** The tasks of a branch, read from commits: a file that has not changed is not read again. */
export class BranchTasks implements TaskSource {
  readonly folders: readonly [string, ...string[]]
  readonly isTask: TaskSource['isTask']
  readonly #home: Home
  readonly #place: TaskPlace
  #commit: string | null = null
  #known = new Map<string, { readonly blob: string; readonly task: Task }>()
  #tasks: readonly Task[] = []

  constructor(home: Home, place: TaskPlace) {
    this.#home = home
    this.#place = place
    this.folders = place.folders
    this.isTask = isTaskIn(place)
  }

  tasks(): readonly Task[] {
    return this.#tasks
  }

  async at(commit: string): Promise<void> {
    if (commit === this.#commit) return
    const files = await this.#files(commit)
    const changed = files.filter(({ file, blob }) => this.#known.get(file)?.blob !== blob)
    const texts = await contentsOf(
      this.#home.git,
      changed.map(({ blob }) => blob),
    )
    for (const one of changed) {
      const task = await this.#read(one, texts.get(one.blob))
      this.#known.set(one.file, { blob: one.blob, task })
    }
    const there = new Set(files.map(({ file }) => file))
    for (const file of this.#known.keys()) if (!there.has(file)) this.#known.delete(file)
    this.#tasks = inOrder([...this.#known.values()].map(({ task }) => task))
    this.#commit = commit
  }

  async #read({ file, mode }: TreeTask, bytes: Buffer | undefined): Promise<Task> {
    if (mode === MODES.link) return unreadableTask(file, 'it is a link')
    return parseTask({ file, text: bytes?.toString() ?? '' }, this.#place.vocabulary)
  }

  async #files(commit: string): Promise<readonly TreeTask[]> {
    const { git, prefix } = this.#home
    const paths = this.folders.map((folder) => (folder === '.' ? prefix : `${prefix}${folder}/`))
    const args = ['ls-tree', '-z', '--full-tree', commit, '--', ...paths.filter((path) => path !== '')]
    const { stdout } = await git.run(args)
    return stdout
      .toString()
      .split('\0')
      .flatMap((record) => {
        const [, mode, blob, path] = /^(\d+) blob ([0-9a-f]+)\t(.+)$/s.exec(record) ?? []
        if (mode === undefined || blob === undefined || !path?.startsWith(prefix)) return []
        const file = path.slice(prefix.length)
        return this.isTask(file) ? [{ file, mode, blob }] : []
      })
  }
}

/** A task as it is on the branch; null if its file is gone. */
export function currentTask(source: TaskSource, { id, file }: Pick<Task, 'id' | 'file'>): Task | null {
  return source.tasks().find((task) => task.id === id && task.file === file) ?? null
}
