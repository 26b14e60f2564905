import { inOrder } from '../task/order.ts'
import { type BacklogOptions, readBacklog, readTask } from '../task/read.ts'
import type { Task } from '../task/model.ts'
import { idInFileName } from '../task/file-name.ts'
import type { TaskVocabulary } from '../task/vocabulary.ts'

/** The tasks of a run. */
export interface TaskSource {
  /** The folder relative to the project's root, with forward slashes. */
  readonly dir: string
  /** Whether a path, relative to the root, is a task's. */
  isTask(path: string): boolean
  /** The tasks by number, as last read. */
  tasks(): readonly Task[]
  /** Reads these files again, relative to the root; without any, all files. */
  refresh(files?: readonly string[]): Promise<void>
}

/** Distinguishes task files from other files by their paths. */
export function taskFilesIn({
  dir,
  moreDirs = [],
  isIgnored,
}: Pick<BacklogOptions, 'moreDirs' | 'isIgnored'> & { readonly dir: string }): TaskSource['isTask'] {
  return (path) =>
    [dir, ...moreDirs].some((folder) => {
      const name = path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : ''
      return !name.includes('/') && idInFileName(name) !== null && !isIgnored?.(name)
    })
}

/** The task folder of a checkout. */
export async function openTaskFolder(
  where: BacklogOptions & { readonly dir: string; readonly vocabulary: TaskVocabulary },
): Promise<TaskSource> {
  const { root, dir, vocabulary } = where
  const isTask = taskFilesIn(where)
  let tasks = (await readBacklog(where)).tasks
  return {
    dir,
    isTask,
    tasks: () => tasks,
    async refresh(files) {
      if (!files) {
        tasks = (await readBacklog(where)).tasks
        return
      }
      for (const file of new Set(files.filter(isTask))) {
        const task = await readTask(root, file, vocabulary)
        const others = tasks.filter((other) => other.file !== file)
        tasks = inOrder([...others, task])
      }
    },
  }
}

/** A task as its file is now; null if the file is gone. */
export async function currentTask(
  source: TaskSource,
  { id, file }: Pick<Task, 'id' | 'file'>,
): Promise<Task | null> {
  await source.refresh([file])
  return source.tasks().find((task) => task.id === id && task.file === file) ?? null
}
