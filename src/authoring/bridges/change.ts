import { milestoneParts } from '../../backlog/milestone.ts'
import { readBoxes, type BoxItem } from './boxes.ts'
import { criteriaIn, descriptionOf, ticked } from './checklist.ts'
import { foreignDraft, titleOf, type ForeignDraft, type ForeignStatus } from './draft.ts'
import { setJson } from './edit.ts'
import { parseGlob } from '../../base/glob.ts'
import {
  beside,
  chained,
  folderOf,
  grouped,
  nameOf,
  within,
  type Format,
  type Look,
  type OriginEnd,
} from './format.ts'
import { keyReader, statusOf, type Entry, type Sources } from './source.ts'

/** A change with its specs, from spectr or OpenSpec: its tasks are in `tasks.jsonc` or `tasks.md`. */
export const change: Format = {
  about: 'a change with its specs (tasks.jsonc, tasks.md)',
  find: (look) => {
    if (look.names) {
      const main = ['tasks.jsonc', 'tasks.md'].find((name) => look.names!.includes(name))
      return main === undefined ? null : within(look.path, main)
    }
    if (/^tasks\.jsonc?$/.test(nameOf(look.path)) && isTasksFile(look)) return look.path
    const isInChange = look.sources.tree.list(folderOf(look.path)).includes('proposal.md')
    return nameOf(look.path) === 'tasks.md' && isInChange ? look.path : null
  },
  read(path, sources, how) {
    const context = documentsOf(path, sources)
    const tasks = path.endsWith('.md') ? ofMarkdown(path, sources) : ofJson(path, sources)
    const open = tasks.filter(({ status }) => status !== 'dropped')
    const sections = grouped(open, ({ prefix, section }) => prefix || section)
    const orders = [...sections.values()].map((group) =>
      chained(
        group.map(({ key }) => key),
        how,
      ),
    )
    const places = new Map([...sections.keys()].map((key, index) => [key, index]))
    const drafts = tasks.map(({ prefix, section, ...task }): ForeignDraft => {
      const place = places.get(prefix || section) ?? 0
      const number = /^\d+(?:\.\d+)*$/.test(prefix) ? prefix : String(place + 1)
      const name = milestoneParts(section).name
      const milestone = section === '' ? null : `${number} — ${name}`
      return foreignDraft({ ...task, milestone, depends: orders[place]?.(task.key) ?? [], context })
    })
    return { drafts }
  },
  files: (path, sources) => (path.endsWith('.md') ? [path] : jsonFiles(path, sources)),
  write: (path, sources, end) =>
    path.endsWith('.md') ? writtenMarkdown(path, sources, end) : writtenJson(path, sources, end),
}

type ChangeTask = Pick<ForeignDraft, 'key' | 'title' | 'description' | 'criteria' | 'place'> & {
  readonly status: ForeignStatus
  readonly section: string
  /** For 1.2 it is 1. */
  readonly prefix: string
}

function isTasksFile(look: Look): boolean {
  const value = look.value()
  const tasks = value?.kind === 'table' ? value.entries.get('tasks') : undefined
  if (tasks?.kind !== 'list') return false
  return tasks.items.every(
    (task) => task.kind === 'table' && (task.entries.has('section') || task.entries.has('children')),
  )
}

/** Proposal, design and deltas: what an agent needs to know of the change. */
function documentsOf(path: string, { tree }: Sources): readonly string[] {
  const folder = folderOf(path)
  const own = tree.list(folder).filter((name) => name === 'proposal.md' || name === 'design.md')
  const deltas = tree
    .list(within(folder, 'specs'))
    .filter((name) => name.endsWith('/'))
    .map((name) => within(folder, `specs/${name}spec.md`))
    .filter((file) => tree.text(file) !== null)
  return [...own.toReversed().map((name) => within(folder, name)), ...deltas]
}

function prefixOf(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf('.')))
}

/** A task in one of the files, or the parent of tasks in another one. */
interface Item {
  /** Null if it has none. */
  readonly key: string | null
  readonly entry: Entry
  readonly parent: Item | null
  /** Its children, if they are in another file: then it is no task itself. */
  readonly parts: Item[] | null
}

/** The tasks of all files, each file once, even if they refer to each other in a circle; children follow their parent. */
function itemsIn(path: string, sources: Sources): readonly Item[] {
  const items: Item[] = []
  const seen = new Set<string>()
  const readKey = keyReader()
  const open = (file: string, parent: Item | null): void => {
    seen.add(file)
    const root = sources.root(file, 'an object with "tasks"')
    if (!root) return
    for (const entry of root.entries('tasks')) {
      const key = readKey(entry, entry.text('id'))
      const child = childFile(entry, { file, seen, sources })
      const item: Item = { key, entry, parent, parts: child === null ? null : [] }
      items.push(item)
      parent?.parts?.push(item)
      if (child !== null) open(child, item)
    }
    if (parent !== null) return
    for (const name of included(path, root.texts('includes'), sources)) if (!seen.has(name)) open(name, null)
  }
  open(path, null)
  return items
}

/** The file with an entry's children; null if there is none. */
function childFile(
  entry: Entry,
  { file, seen, sources }: { file: string; seen: ReadonlySet<string>; sources: Sources },
): string | null {
  const child = /^\$ref:(.*)$/.exec(entry.text('children'))?.[1]?.trim()
  if (child === undefined) return null
  const name = beside(file, child)
  if (/[/\\]/.test(child)) entry.report('children', `${child} is to stand beside ${nameOf(file)}`)
  else if (seen.has(name)) entry.report('children', `${child} is named twice: it would hold itself`)
  else if (sources.tree.text(name) === null) entry.report('children', `there is no file ${name}`)
  else return name
  return null
}

function included(path: string, patterns: readonly string[], { tree }: Sources): readonly string[] {
  const folder = folderOf(path)
  const globs = patterns.flatMap((pattern) => parseGlob(pattern) ?? [])
  return tree
    .list(folder)
    .filter((name) => globs.some((glob) => glob.matches(name)))
    .map((name) => within(folder, name))
}

function jsonFiles(path: string, { tree }: Sources): readonly string[] {
  const names = tree.list(folderOf(path)).filter((name) => /^tasks-.*\.jsonc?$/.test(name))
  return [path, ...names.map((name) => beside(path, name))]
}

function ofJson(path: string, sources: Sources): readonly ChangeTask[] {
  const whole = wholeTexts(path, sources)
  return itemsIn(path, sources).flatMap(({ key, entry, parent, parts }): readonly ChangeTask[] => {
    if (key === null || parts !== null) return []
    const short = entry.text('description', 'title')
    const found = whole.get(key)
    const item = found?.text.startsWith(short.replace(/\s+/g, ' ').trim()) ? found : null
    return [
      {
        key,
        title: titleOf(short),
        status: statusOf(entry),
        description: item ? descriptionOf(item) : short,
        criteria: item ? criteriaIn(item) : [],
        section: entry.text('section') || parent?.entry.text('section', 'description') || '',
        prefix: prefixOf(key),
        place: entry.source.placeOf(entry.at),
      },
    ]
  })
}

/** The full texts in the `tasks.md` beside it, where a task may have several lines. */
function wholeTexts(path: string, { tree }: Sources): ReadonlyMap<string, BoxItem> {
  return new Map(
    numbered(readBoxes(tree.text(beside(path, 'tasks.md')) ?? '')).map(({ key, item }) => [key, item]),
  )
}

const NUMBER = /^(\d+(?:\.\d+)*[a-z]?)[.):]?\s+/i

/** The items of a list by number; one without a number is numbered by its position under the heading. */
function numbered(items: readonly BoxItem[]): readonly { readonly key: string; readonly item: BoxItem }[] {
  const counts = new Map<number, number>()
  const headings = [...new Set(items.map(({ heading }) => heading?.at ?? -1))]
  return items.map((item) => {
    const own = NUMBER.exec(item.text)
    const heading = item.heading?.at ?? -1
    const count = (counts.get(heading) ?? 0) + 1
    counts.set(heading, count)
    const section = NUMBER.exec(item.heading?.text ?? '')?.[1] ?? String(headings.indexOf(heading) + 1)
    const key = own?.[1] ?? `${section}.${count}`
    return { key, item: { ...item, text: item.text.slice(own?.[0].length ?? 0) } }
  })
}

function ofMarkdown(path: string, sources: Sources): readonly ChangeTask[] {
  const source = sources.open(path)
  const items = numbered(readBoxes(source?.text ?? ''))
  const taken = new Set<string>()
  return items.map(({ key, item }): ChangeTask => {
    if (taken.has(key)) source?.report(item.at, `the number ${key} is taken already`)
    taken.add(key)
    return {
      key,
      title: titleOf(item.text),
      status: item.isTicked ? 'DONE' : 'TODO',
      description: descriptionOf(item),
      criteria: criteriaIn(item),
      section: item.heading && item.heading.depth > 1 ? item.heading.text : '',
      prefix: prefixOf(key),
      place: { file: path, line: 1, column: 1, ...source?.placeOf(item.at) },
    }
  })
}

function writtenMarkdown(
  path: string,
  sources: Sources,
  { key, status }: OriginEnd,
): ReadonlyMap<string, string> {
  const source = sources.open(path)
  const item = source && numbered(readBoxes(source.text)).find((one) => one.key === key)?.item
  return source && item && status !== 'BLOCKED' ? source.edited(ticked(item, status === 'DONE')) : new Map()
}

/** The format's words; it has none for blocked tasks. */
const WORDS = { TODO: 'pending', DONE: 'completed', BLOCKED: null } as const

function writtenJson(path: string, sources: Sources, end: OriginEnd): ReadonlyMap<string, string> {
  const word = WORDS[end.status]
  const found = itemsIn(path, sources).find(({ key, parts }) => key === end.key && parts === null)
  if (word === null || !found) return new Map()
  const words = new Map<Entry, string>([[found.entry, word]])
  for (let at = found.parent; at?.parts; at = at.parent)
    words.set(at.entry, parentWord(at.parts.map(({ entry }) => words.get(entry) ?? entry.text('status'))))
  const edits = grouped(words, ([{ source }]) => source)
  return new Map(
    [...edits].flatMap(([source, changes]) => [
      ...source.edited(changes.flatMap(([one, status]) => setJson(one, 'status', status))),
    ]),
  )
}

function parentWord(words: readonly string[]): string {
  if (words.every((word) => word === 'completed')) return 'completed'
  return words.some((word) => word === 'completed' || word === 'in_progress') ? 'in_progress' : 'pending'
}

/** The backlog as the tasks of one change. */
export function tasksJsoncText(drafts: readonly ForeignDraft[]): string {
  const sections = [...new Set(drafts.map(({ milestone }) => milestone))]
  const tasks = sections.flatMap((section, index) => {
    const own = drafts.filter(({ milestone }) => milestone === section)
    return own.map(({ title, description, status }, at) => ({
      id: `${index + 1}.${at + 1}`,
      section: milestoneParts(section ?? '').name || 'Tasks',
      description: description || title,
      status: WORDS[status] ?? 'pending',
    }))
  })
  return `${JSON.stringify({ version: 1, tasks }, null, 2)}\n`
}
