import { parseGlob } from '../../base/glob.ts'
import { milestoneParts } from '../../backlog/milestone.ts'
import { criteriaIn, descriptionOf, readBoxes, ticked, type BoxItem } from './boxes.ts'
import { setJson } from './edit.ts'
import {
  beside,
  chained,
  folderOf,
  foreignDraft,
  grouped,
  nameOf,
  titleOf,
  within,
  type ForeignDraft,
  type ForeignStatus,
  type ForeignTask,
  type Format,
} from './format.ts'
import { eachHas, keyReader, statusOf, type Edit, type Entry, type Sources } from './source.ts'
import type { Tree } from './tree.ts'

/** A change with its specs, from spectr or OpenSpec: its tasks are in `tasks.jsonc` or `tasks.md`. */
export const change: Format = {
  about: 'a change with its specs (tasks.jsonc, tasks.md)',
  find(path, sources) {
    const { tree } = sources
    const main = ['tasks.jsonc', 'tasks.md'].find((name) => tree.list(path).includes(name))
    if (main !== undefined) return within(path, main)
    if (nameOf(path) === 'tasks.md') return tree.list(folderOf(path)).includes('proposal.md') ? path : null
    const tasks = /^tasks\.jsonc?$/.test(nameOf(path)) ? sources.items(path, 'tasks') : null
    return tasks && eachHas(tasks, 'section', 'children') ? path : null
  },
  read(path, sources, how) {
    const context = documentsOf(path, sources.tree)
    const tasks = path.endsWith('.md') ? tasksInMarkdown(path, sources) : tasksInJson(path, sources)
    const open = tasks.filter(({ status }) => status !== 'dropped')
    const sections = grouped(open, ({ key, section }) => prefixOf(key) || section)
    const orders = [...sections.values()].map((group) => chained(group, how))
    const names = [...sections.keys()]
    const draftOf = ({ key, status, section, text, box, place }: ChangeTask): ForeignDraft => {
      const prefix = prefixOf(key)
      const index = Math.max(0, names.indexOf(prefix || section))
      const number = /^\d+(?:\.\d+)*$/.test(prefix) ? prefix : String(index + 1)
      return foreignDraft({
        key,
        title: titleOf(text),
        status,
        milestone: section === '' ? null : `${number} — ${milestoneParts(section).name}`,
        depends: orders[index]?.(key) ?? [],
        description: box ? descriptionOf(box) : text,
        criteria: box ? criteriaIn(box) : [],
        context,
        place,
      })
    }
    return { tasks: tasks.map((task) => ({ ...task, draft: () => draftOf(task) })) }
  },
  files(path, tree) {
    const names = path.endsWith('.md') ? [] : tree.list(folderOf(path))
    return [
      path,
      ...names.filter((name) => /^tasks-.*\.jsonc?$/.test(name)).map((name) => beside(path, name)),
    ]
  },
}

/** A task in one of the files. */
interface ChangeTask extends Omit<ForeignTask, 'draft'> {
  readonly status: ForeignStatus
  readonly section: string
  readonly text: string
  /** Its item in a check list, if it has one. */
  readonly box: BoxItem | undefined
  readonly place: ForeignDraft['place']
}

/** Proposal, design and deltas: what an agent needs to know of the change. They are read, so that an import keeps them. */
function documentsOf(path: string, tree: Tree): readonly string[] {
  const folder = folderOf(path)
  const specs = tree.list(within(folder, 'specs')).filter((name) => name.endsWith('/'))
  const names = ['proposal.md', 'design.md', ...specs.map((name) => `specs/${name}spec.md`)]
  return names.map((name) => within(folder, name)).filter((file) => tree.text(file) !== null)
}

/** The number of a section: for 1.2 it is 1. */
function prefixOf(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf('.')))
}

/** A task in a JSON file, or the parent of tasks in another one. */
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
    for (const entry of root?.entries('tasks') ?? []) {
      const child = childFile(entry, seen, sources.tree)
      const item: Item = { key: readKey(entry), entry, parent, parts: child === null ? null : [] }
      items.push(item)
      parent?.parts?.push(item)
      if (child !== null) open(child, item)
    }
    if (parent !== null) return
    const globs = (root?.texts('includes') ?? []).flatMap((pattern) => parseGlob(pattern) ?? [])
    for (const name of sources.tree.list(folderOf(path)))
      if (globs.some((glob) => glob.matches(name)) && !seen.has(beside(path, name)))
        open(beside(path, name), null)
  }
  open(path, null)
  return items
}

/** The file with an entry's children; null if there is none. */
function childFile(entry: Entry, seen: ReadonlySet<string>, tree: Tree): string | null {
  const child = /^\$ref:(.*)$/.exec(entry.text('children'))?.[1]?.trim()
  if (child === undefined) return null
  const { file } = entry.source
  const name = beside(file, child)
  if (/[/\\]/.test(child)) entry.report('children', `${child} is to stand beside ${nameOf(file)}`)
  else if (seen.has(name)) entry.report('children', `${child} is named twice: it would hold itself`)
  else if (tree.text(name) === null) entry.report('children', `there is no file ${name}`)
  else return name
  return null
}

/** The format's words; it has none for blocked tasks. */
const WORDS = { TODO: 'pending', DONE: 'completed', BLOCKED: null } as const

function tasksInJson(path: string, sources: Sources): readonly ChangeTask[] {
  // The full texts in the `tasks.md` beside it, where a task may have several lines.
  const boxes = new Map(numbered(readBoxes(sources.tree.text(beside(path, 'tasks.md')) ?? '')))
  return itemsIn(path, sources).flatMap((item): readonly ChangeTask[] => {
    const { key, entry, parent, parts } = item
    if (key === null || parts !== null) return []
    const text = entry.text('description', 'title')
    const box = boxes.get(key)
    return [
      {
        key,
        text,
        status: statusOf(entry),
        section: entry.text('section') || parent?.entry.text('section', 'description') || '',
        box: box?.text.startsWith(text.replace(/\s+/g, ' ').trim()) ? box : undefined,
        place: entry.source.placeOf(entry.at),
        write: ({ status }) => editsOf(item, WORDS[status]),
      },
    ]
  })
}

function editsOf(item: Item, word: string | null): readonly Edit[] {
  if (word === null) return []
  const words = new Map([[item.entry, word]])
  for (let at = item.parent; at?.parts; at = at.parent)
    words.set(at.entry, parentWord(at.parts.map(({ entry }) => words.get(entry) ?? entry.text('status'))))
  return [...words].flatMap(([entry, status]) => setJson(entry, 'status', status))
}

function parentWord(words: readonly string[]): string {
  if (words.every((word) => word === 'completed')) return 'completed'
  return words.some((word) => word === 'completed' || word === 'in_progress') ? 'in_progress' : 'pending'
}

const NUMBER = /^(\d+(?:\.\d+)*[a-z]?)[.):]?\s+/i

/** The items of a list by number; one without a number is numbered by its position under the heading. */
function numbered(items: readonly BoxItem[]): readonly (readonly [string, BoxItem])[] {
  const sections = [...grouped(items, ({ heading }) => heading?.at ?? -1).values()]
  return sections.flatMap((section, index) =>
    section.map((item, place) => {
      const [whole = '', own] = NUMBER.exec(item.text) ?? []
      const number = NUMBER.exec(item.heading?.text ?? '')?.[1] ?? String(index + 1)
      return [own ?? `${number}.${place + 1}`, { ...item, text: item.text.slice(whole.length) }]
    }),
  )
}

function tasksInMarkdown(path: string, sources: Sources): readonly ChangeTask[] {
  const source = sources.open(path)
  if (!source) return []
  const taken = new Set<string>()
  return numbered(readBoxes(source.text)).map(([key, box]) => {
    if (taken.has(key)) source.report(box.at, `the number ${key} is taken already`)
    taken.add(key)
    return {
      key,
      text: box.text,
      status: box.isTicked ? 'DONE' : 'TODO',
      section: box.heading && box.heading.depth > 1 ? box.heading.text : '',
      box,
      place: source.placeOf(box.at),
      write: ({ status }) => (status === 'BLOCKED' ? [] : ticked(source, box, status === 'DONE')),
    }
  })
}

/** The backlog as the tasks of one change. */
export function tasksJsoncText(drafts: readonly ForeignDraft[]): string {
  const sections = [...grouped(drafts, ({ milestone }) => milestone)]
  const tasks = sections.flatMap(([section, own], index) =>
    own.map(({ title, description, status }, at) => ({
      id: `${index + 1}.${at + 1}`,
      section: milestoneParts(section ?? '').name || 'Tasks',
      description: description || title,
      status: WORDS[status] ?? 'pending',
    })),
  )
  return `${JSON.stringify({ version: 1, tasks }, null, 2)}\n`
}
