import type { Status, Task } from '../../backlog/model.ts'
import { readOrigin, type OriginReport } from '../../backlog/origin.ts'
import { FORMATS, readForeign } from './formats.ts'
import type { Bridge } from '../../backlog/formats.ts'
import { openSources, type Tree } from './source.ts'

/** The new texts of a synced origin after its task's status has changed; empty if there is none, or it cannot be read. */
export function originTexts(
  bridges: readonly Bridge[],
  tree: Tree,
  { task, report }: { readonly task: Pick<Task, 'origin'>; readonly report: OriginReport },
): ReadonlyMap<string, string> {
  const origin = readOrigin(task.origin)
  const bridge = origin && bridges.find(({ path, sync }) => sync && path === origin.path)
  const write = bridge && FORMATS[bridge.as].write
  if (!origin || !bridge || !write) return new Map()
  const sources = openSources(tree)
  const texts = write(bridge.path, sources, { ...report, key: origin.key })
  const isReadable = sources.mistakes.every(({ severity }) => severity !== 'error')
  return new Map(isReadable ? [...texts].filter(([file, text]) => text !== tree.text(file)) : [])
}

/** The files of all synced origins: no agent may change them. */
export function originFiles(bridges: readonly Bridge[], tree: Tree): readonly string[] {
  const sources = openSources(tree)
  return bridges.flatMap(({ path, as, sync }) => (sync ? (FORMATS[as].files?.(path, sources) ?? [path]) : []))
}

/** The status of each task in synced origins, by path and key, without origins that cannot be read. */
export function statusesIn(
  bridges: readonly Bridge[],
  tree: Tree,
): Readonly<Record<string, Readonly<Record<string, Status>>>> {
  return Object.fromEntries(
    bridges.flatMap(({ as, path }) => {
      const { drafts, mistakes } = readForeign({ format: as, path }, tree, { independent: true })
      if (mistakes.some(({ severity }) => severity === 'error')) return []
      return [[path, Object.fromEntries(drafts.map(({ key, status }) => [key, status]))] as const]
    }),
  )
}
