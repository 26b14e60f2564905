import { fewOf } from '../base/few-of.ts'
import type { StatusEntry } from '../git/status.ts'
import type { Happening } from '../events/event.ts'
import type { Run } from '../run/run.ts'
import type { Displaced } from './workspace.ts'

/**
 * Keeps what gates and hooks leave in the tree apart from any agent's work, and says so once. What git does not know
 * stays out of every commit, unless a task is to produce just that; a tracked file cannot be told from work later.
 */
export function setAside(run: Run, entries: readonly StatusEntry[], where: string): Happening {
  const { workspace, source } = run.ports
  run.litter = new Set([...run.litter, ...entries.map(({ path }) => path)])
  const awaited = new Set(
    source
      .tasks()
      .flatMap(({ produces }) => (produces ?? []).map(({ path }) => `${workspace.prefix}${path}`)),
  )
  const isAside = ({ kind, path }: StatusEntry): boolean => kind === 'untracked' && !awaited.has(path)
  const aside = entries.filter(isAside).map(({ path }) => path)
  const inside = entries.filter(({ dirtyInside }) => dirtyInside).map(({ path }) => path)
  const swept = entries.filter((entry) => !isAside(entry) && !entry.dirtyInside).map(({ path }) => path)
  workspace.leaveAside(aside)
  const parts = [
    ...(aside.length > 0 ? [`${fewOf(aside)} (left out of every commit: add it to .gitignore)`] : []),
    ...(swept.length > 0 ? [`${fewOf(swept)} (the next commit will hold it)`] : []),
    ...(inside.length > 0 ? [`${fewOf(inside)} (a submodule: commit in it what is to be kept)`] : []),
  ]
  return { type: 'warning', message: `${where}: ${parts.join('; ')}` }
}

/** What git ignores, and stood in the way of the tree going back. */
export function toldDisplaced({ folder, paths }: Displaced): Happening {
  const message = `${fewOf(paths)} stood where the tree goes back to; git ignores what was there, so it is kept in ${folder}`
  return { type: 'warning', message }
}
