import type { Diagnostic, Severity } from '../../base/diagnostic.ts'
import { FORMAT_NAMES, type Bridge, type FormatName } from '../../backlog/formats.ts'
import type { Task } from '../../backlog/model.ts'
import { readOrigin, type OriginReport } from '../../backlog/origin.ts'
import { backlogMd } from './backlog-md.ts'
import { checklist } from './boxes.ts'
import { findCycles } from '../../backlog/select/cycles.ts'
import { beads } from './beads.ts'
import { bmad } from './bmad.ts'
import { change } from './change.ts'
import { db } from './db.ts'
import { featureList } from './feature-list.ts'
import { within, type ForeignDraft, type Format, type ReadingOptions } from './format.ts'
import { githubIssues } from './github-issues.ts'
import { implementation } from './implementation.ts'
import { orchestrator } from './orchestrator.ts'
import { outline } from './outline.ts'
import { prdJson } from './prd-json.ts'
import { editedTexts, openSources, type Sources } from './source.ts'
import { taskMaster } from './task-master.ts'
import type { Tree } from './tree.ts'

/** All formats that can be read, the most specific first, as the content decides. */
export const FORMATS: Readonly<Record<FormatName, Format>> = {
  implementation,
  'prd-json': prdJson,
  'feature-list': featureList,
  beads,
  bmad,
  change,
  'task-master': taskMaster,
  'github-issues': githubIssues,
  orchestrator,
  db,
  'backlog-md': backlogMd,
  checklist,
  outline,
}

/** A backlog that was found: its format and path. */
export interface FoundBacklog {
  readonly format: FormatName
  readonly path: string
}

/** The backlog at a path; null if it has no known format, or not the requested one. */
export function findBacklog(
  path: string,
  sources: Sources,
  only: FormatName | null = null,
): FoundBacklog | null {
  const names = only === null ? FORMAT_NAMES.filter((name) => name !== 'outline') : [only]
  for (const format of names) {
    const found = FORMATS[format].find(path, sources)
    if (found !== null) return { format, path: found }
  }
  return null
}

/** Another tool's backlog, as drafts that refer only to each other. It cannot be used if one of its mistakes is an error. */
export function readForeign({ format, path }: FoundBacklog, tree: Tree, how: ReadingOptions) {
  const sources = openSources(tree)
  const { tasks, archived = [], documents } = FORMATS[format].read(path, sources, how)
  const all = tasks.map(({ draft }) => draft())
  const drafts = all.filter(({ isDropped }) => !isDropped)
  const exact = new Set(drafts.map(({ key }) => key))
  const known = new Map(drafts.map(({ key }) => [key.toLowerCase(), key]))
  const dropped = new Set([...all.flatMap(({ key, isDropped }) => (isDropped ? [key] : [])), ...archived])
  const gone = new Set([...dropped].map((key) => key.toLowerCase()))
  const found: Diagnostic[] = []
  const report = ({ place }: ForeignDraft, severity: Severity, message: string): void =>
    void found.push({ ...place, severity, rule: 'import', message })
  const resolved = drafts.map((draft): ForeignDraft => {
    if (draft.title === '') report(draft, 'error', `the task ${draft.key} has no title`)
    const depends = draft.depends.flatMap((need) => {
      const key = exact.has(need) ? need : known.get(need.toLowerCase())
      if (key !== undefined) return key === draft.key ? [] : [key]
      if (how.imported?.includes(need)) return [need]
      if (!gone.has(need.toLowerCase()))
        report(draft, 'warning', `${draft.key} depends on ${need}, which is not there: that is left out`)
      return []
    })
    return { ...draft, depends: [...new Set(depends)] }
  })
  const numbers = new Map(resolved.map(({ key }, index) => [key, index]))
  const waiters = resolved.map(({ key, depends, place }, number) => {
    return { id: key, number, needs: depends.flatMap((need) => numbers.get(need) ?? []), place }
  })
  for (const { ids, tasks } of findCycles(waiters))
    found.push({
      ...tasks[0]!.place,
      severity: 'error',
      rule: 'import',
      message: `${[...ids, ids[0]].join(' → ')} wait for each other, so none could begin`,
    })
  return {
    drafts: resolved,
    documents: documents?.() ?? new Map<string, string>(),
    /** How many of its tasks are dropped. */
    dropped: dropped.size,
    mistakes: [...sources.mistakes, ...found],
  }
}

/** Whether there is a mistake because of which a backlog cannot be used. */
export function isBroken(mistakes: readonly Diagnostic[]): boolean {
  return mistakes.some(({ severity }) => severity === 'error')
}

/** The new texts of a synced origin after its task's status has changed; empty if there is none, or it cannot be read. */
export function originTexts(
  bridges: readonly Bridge[],
  tree: Tree,
  { task, report }: { task: Pick<Task, 'origin'>; report: OriginReport },
): ReadonlyMap<string, string> {
  const origin = readOrigin(task.origin)
  const bridge = origin && bridges.find(({ path, sync }) => sync && path === origin.path)
  if (!bridge) return new Map()
  const sources = openSources(tree)
  const how = { independent: true, only: origin.key }
  const { tasks } = FORMATS[bridge.as].read(bridge.path, sources, how)
  const edits = tasks.find(({ key }) => key === origin.key)?.write?.(report) ?? []
  const texts = isBroken(sources.mistakes) ? [] : [...editedTexts(edits)]
  return new Map(texts.filter(([file, text]) => text !== tree.text(file)))
}

/** The files of all synced origins: no agent may change them. */
export function originFiles(bridges: readonly Bridge[], tree: Tree): readonly string[] {
  return bridges.flatMap(({ path, as, sync }) => (sync ? (FORMATS[as].files?.(path, tree) ?? [path]) : []))
}

/** The status of each task in synced origins, by path and key, without origins that cannot be read. */
export function statusesIn(bridges: readonly Bridge[], tree: Tree) {
  return Object.fromEntries(
    bridges.flatMap(({ as, path }) => {
      const { drafts, mistakes } = readForeign({ format: as, path }, tree, { independent: true })
      if (isBroken(mistakes)) return []
      return [[path, Object.fromEntries(drafts.map(({ key, status }) => [key, status]))] as const]
    }),
  )
}

/** Where other tools keep their backlog, relative to a project's root. */
const USUAL_PLACES = [
  'implementation.json',
  '.ralph/db/tasks.yaml',
  '.ralph/tasks',
  '.taskmaster/tasks/tasks.json',
  'tasks/tasks.json',
  'backlog',
  'prd.json',
  'scripts/ralph/prd.json',
  'feature_list.json',
  '.beads',
  'docs/stories',
  '_bmad-output/implementation-artifacts/sprint-status.yaml',
  'docs/sprint-artifacts/sprint-status.yaml',
  'spectr/changes/*',
  'openspec/changes/*',
  '.kiro/specs/*',
  'specs/*',
  '.ralph/fix_plan.md',
  'TODO.md',
] as const

/** The backlogs of other tools in their usual places, if something there is to be done. */
export function usualBacklogs(tree: Tree): readonly FoundBacklog[] {
  const paths = USUAL_PLACES.flatMap((place): readonly string[] => {
    if (!place.endsWith('/*')) return [place]
    const folder = place.slice(0, -2)
    const names = tree.list(folder).filter((name) => name.endsWith('/') && name !== 'archive/')
    return names.map((name) => within(folder, name.slice(0, -1)))
  })
  const sources = openSources(tree)
  const found = paths.flatMap((path) => findBacklog(path, sources) ?? [])
  return found.filter((one) => {
    const { drafts, mistakes } = readForeign(one, tree, { independent: true })
    return isBroken(mistakes) || drafts.some(({ status }) => status !== 'DONE')
  })
}
