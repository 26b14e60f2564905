/**
 * What ralph keeps in `.ralph/`, one by one: the folder may also hold what another tool keeps there. Those that end with
 * a slash are folders.
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
  'logs/',
  'results/',
  'set-aside/',
  'queue/',
] as const

/** Files that are on their way to become one of these. */
const DRAFTS = /^(?:lock(?:\..+)?|(?:run|plan|state|run-state)\.json\.[0-9a-f]+\.draft)$/

/** Whether a path inside `.ralph/` is ralph's own. */
export function isRalphEntry(path: string): boolean {
  if (DRAFTS.test(path)) return true
  return RALPH_ENTRIES.some((entry) => (entry.endsWith('/') ? path.startsWith(entry) : path === entry))
}

const HEADER = '# What ralph keeps here, and nobody else needs: all of it may be removed.'

/** The `.gitignore` of the folder; `state.json` is left out where another tool keeps its own. */
export function ralphIgnore(isStateOurs: boolean): string {
  const entries = RALPH_ENTRIES.filter((entry) => isStateOurs || entry !== 'state.json')
  return [HEADER, ...entries.map((entry) => `/${entry}`), '/lock.*', '/*.draft', ''].join('\n')
}

/** Whether that is a `.gitignore` that ralph has written, now or in its first version. */
export function isRalphIgnore(text: string): boolean {
  return text.startsWith(HEADER) || text === '*\n'
}
