import type { Diagnostic, Severity } from '../../base/diagnostic.ts'
import { backlogMd } from './backlog-md.ts'
import { change } from './change.ts'
import { checklist } from './checklist.ts'
import { db } from './db.ts'
import { type ForeignDraft } from './draft.ts'
import { within, type Format, type Look, type ReadingOptions } from './format.ts'
import { FORMAT_NAMES, type FormatName } from '../../backlog/formats.ts'
import { githubIssues } from './github-issues.ts'
import { implementation } from './implementation.ts'
import { outline } from './outline.ts'
import { orchestrator } from './orchestrator.ts'
import { prdJson } from './prd-json.ts'
import { openSources, type Sources, type Tree } from './source.ts'
import { taskMaster } from './task-master.ts'

/** All formats that can be read, the most specific first, as the content decides. */
export const FORMATS: Readonly<Record<FormatName, Format>> = {
  implementation,
  'prd-json': prdJson,
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
export function findBacklog(path: string, tree: Tree, only: FormatName | null = null): FoundBacklog | null {
  const look = lookAt(path, openSources(tree))
  const names = only === null ? FORMAT_NAMES.filter((name) => name !== 'outline') : [only]
  for (const format of names) {
    const found = FORMATS[format].find(look)
    if (found !== null) return { format, path: found }
  }
  return null
}

/** Why a file cannot be read. */
export function whyUnread(path: string, tree: Tree): readonly Diagnostic[] {
  const sources = openSources(tree)
  const look = lookAt(path, sources)
  look.value()
  return sources.mistakes
}

function lookAt(path: string, sources: Sources): Look {
  const names = sources.tree.list(path)
  const isFolder = names.length > 0
  let source: ReturnType<Look['source']> | undefined
  let value: ReturnType<Look['value']> | undefined
  return {
    path,
    names: isFolder ? names : null,
    sources,
    source: () => (source ??= isFolder ? null : sources.open(path)),
    value: () =>
      (value ??=
        isFolder || !/\.(?:jsonc?|ya?ml)$/i.test(path) ? null : (sources.value(path)?.value ?? null)),
  }
}

/** Another tool's backlog, as drafts that refer only to each other, and its mistakes. */
export interface Reading {
  readonly drafts: readonly ForeignDraft[]
  readonly documents: ReadonlyMap<string, string>
  /** How many of its tasks are dropped. */
  readonly dropped: number
  /** If one of these is an error, the backlog cannot be used. */
  readonly mistakes: readonly Diagnostic[]
}

export function readForeign({ format, path }: FoundBacklog, tree: Tree, how: ReadingOptions): Reading {
  const sources = openSources(tree)
  const {
    drafts: all,
    archived = [],
    documents = new Map<string, string>(),
  } = FORMATS[format].read(path, sources, how)
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
      if (!gone.has(need.toLowerCase()))
        report(draft, 'warning', `${draft.key} depends on ${need}, which is not there: that is left out`)
      return []
    })
    return { ...draft, depends: [...new Set(depends)] }
  })
  return { drafts: resolved, documents, dropped: dropped.size, mistakes: [...sources.mistakes, ...found] }
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
  'spectr/changes/*',
  'openspec/changes/*',
  'TODO.md',
] as const

/** The backlogs of other tools in their usual places. */
export function usualBacklogs(tree: Tree): readonly FoundBacklog[] {
  const paths = USUAL_PLACES.flatMap((place): readonly string[] => {
    if (!place.endsWith('/*')) return [place]
    const folder = place.slice(0, -2)
    const names = tree.list(folder).filter((name) => name.endsWith('/') && name !== 'archive/')
    return names.map((name) => within(folder, name.slice(0, -1)))
  })
  return paths.flatMap((path) => findBacklog(path, tree) ?? [])
}
