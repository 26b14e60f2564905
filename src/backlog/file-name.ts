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
