import { contentsOf } from '../../git/contents.ts'
import { MODES } from '../../git/raw-changes.ts'
import { entriesIn, type TreeEntry } from '../../git/tree.ts'
import type { Task } from '../../backlog/model.ts'
import { inOrder } from '../../backlog/order.ts'
import { parseTask, unreadableTask } from '../../backlog/parse.ts'
import type { TaskFolders } from '../../backlog/task-folders.ts'
import type { TaskVocabulary } from '../../backlog/vocabulary.ts'
import type { TaskSource } from '../../engine/ports.ts'
import type { Home } from '../../engine/slot/home.ts'

/** The tasks of a branch, read from commits: a file that has not changed is not read again. */
export class BranchTasks implements TaskSource {
  readonly folders: TaskFolders
  readonly #home: Home
  readonly #vocabulary: TaskVocabulary
  #commit: string | null = null
  #known = new Map<string, { readonly blob: string; readonly task: Task }>()
  #tasks: readonly Task[] = []

  constructor(
    home: Home,
    { folders, vocabulary }: { readonly folders: TaskFolders; readonly vocabulary: TaskVocabulary },
  ) {
    this.#home = home
    this.#vocabulary = vocabulary
    this.folders = folders
  }

  tasks(): readonly Task[] {
    return this.#tasks
  }

  async at(commit: string): Promise<void> {
    if (commit === this.#commit) return
    const files = await this.#files(commit)
    const changed = files.filter(({ path, hash }) => this.#known.get(path)?.blob !== hash)
    const texts = await contentsOf(
      this.#home.git,
      changed.map(({ hash }) => hash),
    )
    for (const { path, mode, hash } of changed) {
      const task = await this.#read(path, mode, texts.get(hash))
      this.#known.set(path, { blob: hash, task })
    }
    const there = new Set(files.map(({ path }) => path))
    for (const file of this.#known.keys()) if (!there.has(file)) this.#known.delete(file)
    this.#tasks = inOrder([...this.#known.values()].map(({ task }) => task))
    this.#commit = commit
  }

  async #read(file: string, mode: string, bytes: Buffer | undefined): Promise<Task> {
    if (mode === MODES.link) return unreadableTask(file, 'it is a link')
    return parseTask({ file, text: bytes?.toString() ?? '' }, this.#vocabulary)
  }

  async #files(commit: string): Promise<readonly TreeEntry[]> {
    const { git, prefix } = this.#home
    const paths = this.folders.names.map((folder) => (folder === '.' ? prefix : `${prefix}${folder}/`))
    const entries = await entriesIn(git, [
      '--full-tree',
      commit,
      '--',
      ...paths.filter((path) => path !== ''),
    ])
    return entries.flatMap((entry) => {
      const path = entry.path.slice(prefix.length)
      return entry.path.startsWith(prefix) && this.folders.includes(path) ? [{ ...entry, path }] : []
    })
  }
}
