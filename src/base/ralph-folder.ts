/**
 * The names of ralph's own entries in `.ralph/`, which may also contain other tools' files. Those with a slash are
 * folders.
 */
const RALPH_ENTRIES = [
  '.gitignore',
  'lock',
  'control.sock',
  'run.json',
  'plan.json',
  'ignored',
  'state.json',
  'run-state.json',
  'report.html',
  'logs/',
  'results/',
  'set-aside/',
  'queue/',
] as const

/** The paths of ralph's own entries, at the top of a repository and in the project at `prefix`. */
export function ralphPaths(prefix: string): readonly string[] {
  return [...new Set(['', prefix])].flatMap((at) => RALPH_ENTRIES.map((entry) => `${at}.ralph/${entry}`))
}

const HEADER = '# What ralph keeps here, and nobody else needs: all of it may be removed.'

/** The `.gitignore` of the folder; without `state.json` if that is another tool's. */
export function ralphIgnore(isStateOurs: boolean): string {
  const entries = RALPH_ENTRIES.filter((entry) => isStateOurs || entry !== 'state.json')
  return [HEADER, ...entries.map((entry) => `/${entry}`), '/lock.*', '/*.draft', ''].join('\n')
}

/** Whether the text is a `.gitignore` by this or an earlier version of ralph. */
export function isRalphIgnore(text: string): boolean {
  return text.startsWith(HEADER) || text === '*\n'
}
