/** What is wrong with a path that is to name a file of the repository; null where nothing is. Only its text is looked at, unless somebody knows better. */
export function strayingOf(path: string, isOutside = climbsOut): string | null {
  if (/^(?:[/\\~]|[A-Za-z]:[/\\])/.test(path)) return 'is not relative to the root'
  return isOutside(path) ? 'is outside the repository' : null
}

/** Whether the path leads above the root. */
function climbsOut(path: string): boolean {
  let depth = 0
  for (const part of path.split(/[/\\]/)) {
    if (part === '..') depth--
    else if (part !== '' && part !== '.') depth++
    if (depth < 0) return true
  }
  return false
}
