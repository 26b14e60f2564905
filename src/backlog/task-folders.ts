/** The folders of a project's tasks, relative to its root, with forward slashes. */
export interface TaskFolders {
  readonly names: readonly string[]
  /** New tasks go into this one. */
  readonly first: string
  /** Whether a path, relative to the root, is a task file's. */
  readonly includes: (path: string) => boolean
  /** Whether a file of that name is configured to be no task. */
  readonly ignores: (name: string) => boolean
}

/** The folders of these names. */
export function taskFoldersOf(
  names: readonly [string, ...string[]],
  ignores: TaskFolders['ignores'] = () => false,
): TaskFolders {
  const folders = new Set(names)
  return {
    names: [...folders],
    first: names[0],
    ignores,
    includes(path) {
      const name = path.slice(path.lastIndexOf('/') + 1)
      const folder = path.slice(0, -name.length - 1) || '.'
      return folders.has(folder) && idInFileName(name) !== null && !ignores(name)
    },
  }
}

/** The folders without a configuration. */
export const USUAL_FOLDERS = taskFoldersOf(['docs/tasks'])

/** The path of a file in a folder, which may be the root. */
export function fileIn(folder: string, name: string): string {
  return folder === '.' ? name : `${folder}/${name}`
}

/** The id in a task file's name: `T-004.md`, `T-004-some-slug.md`; null for a name that is not a task's. */
export function idInFileName(name: string): string | null {
  if (/^T-\d{1,12}\.md$/.test(name)) return name.slice(0, -3)
  return /^(T-\d{1,12})(?:-.*)?\.md$/is.exec(name)?.[1]?.toUpperCase() ?? null
}

/** The id in the path of a task file. */
export function idInPath(file: string): string {
  return idInFileName(file.slice(file.lastIndexOf('/') + 1)) ?? file
}

/** Whether a name that is not a task's was probably meant as one: `T-302a.md`, `task_4.md`, `T4.markdown`. */
export function isMisnamed(name: string): boolean {
  return /^t(?:ask)?[-_. ]?\d.*\.(?:md|markdown)$/i.test(name) && idInFileName(name) === null
}
