import { isDeepStrictEqual } from 'node:util'
import { join } from 'node:path'
import { textAt } from '../base/read-file.ts'
import { type Draft, draftWriter } from '../backlog/draft.ts'
import { sectionBodies } from '../backlog/edit-section.ts'
import type { FormatName } from '../backlog/formats.ts'
import type { Task } from '../backlog/model.ts'
import { readOrigin } from '../backlog/origin.ts'
import { parseTask } from '../backlog/parse.ts'
import { TASK_VOCABULARY } from '../backlog/vocabulary.ts'
import { findBacklog, isBroken, originTexts, readForeign } from './bridges/formats.ts'
import { openSources } from './bridges/source.ts'
import { foreignTree, type Tree } from './bridges/tree.ts'

/**
 * The backlog that tasks were imported from, with the status of each, byte for byte; null if it is not there, or if more
 * has changed than that. `same` compares tasks by what the format says of them.
 */
export async function originNow(
  { root, tasks, now }: { root: string; tasks: readonly Task[]; now: Date },
  format: FormatName,
  same: (tasks: readonly Task[]) => unknown,
): Promise<{ readonly path: string; readonly tree: Tree } | null> {
  const origins = tasks.map(({ origin }) => readOrigin(origin))
  const paths = new Set(origins.map((origin) => origin?.path))
  const [path] = paths
  const tree = changedTree(foreignTree(root))
  if (path === undefined || paths.size > 1) return null
  if (findBacklog(path, openSources(tree), format)?.path !== path) return null
  const read = () => readForeign({ format, path }, tree, { independent: false })
  const before = read()
  if (isBroken(before.mistakes)) return null
  const known = new Map(before.drafts.map((draft) => [draft.key, draft.status]))
  for (const [index, task] of tasks.entries()) {
    const { status } = task
    if (status === null || known.get(origins[index]!.key) === status) continue
    const [reason = ''] = sectionBodies(task, 'Blocked')
    const report = { status, reason, at: now, failed: [], author: null } as const
    for (const [file, text] of originTexts([{ path, as: format, sync: true }], tree, { task, report }))
      tree.changed.set(file, text)
  }
  const { drafts, documents } = read()
  const ids = new Map(tasks.map(({ id }, index) => [origins[index]!.key, id]))
  const write = draftWriter([], TASK_VOCABULARY)
  const imported = await Promise.all(
    drafts.map((draft, index) => {
      const id = ids.get(draft.key) ?? `T-${index}`
      const depends = draft.depends.flatMap((key) => ids.get(key) ?? [])
      const text = write(id, { ...draft, depends, origin: { path, key: draft.key } } satisfies Draft)
      return parseTask({ file: `${id}.md`, text })
    }),
  )
  const isSame =
    isDeepStrictEqual(same(imported), same(tasks)) &&
    [...documents].every(([file, text]) => textAt(join(root, file)) === text)
  return isSame ? { path, tree } : null
}

/** A tree in which texts can be changed. */
function changedTree(tree: Tree) {
  const changed = new Map<string, string>()
  return {
    changed,
    text: (path: string) => changed.get(path) ?? tree.text(path),
    list: (folder: string) => tree.list(folder),
  }
}
