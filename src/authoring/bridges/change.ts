import { parseGlob } from '../../base/glob.ts'
import { milestoneOf, milestoneParts } from '../../backlog/milestone.ts'
import {
  boxesOf,
  criteriaIn,
  descriptionOf,
  OPTIONAL,
  readBoxes,
  readHeadings,
  ticked,
  type BoxItem,
} from './boxes.ts'
import { setJson } from './edit.ts'
import {
  beside,
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
  type ReadingOptions,
} from './format.ts'
import { eachHas, keyReader, statusOf, type Edit, type Entry, type Source, type Sources } from './source.ts'
import type { Tree } from './tree.ts'

/**
 * A change of spectr or OpenSpec, with its specs, or a spec of Kiro or spec-kit: its tasks are in `tasks.jsonc` or
 * `tasks.md`. Whichever of its files is named, it has one path.
 */
export const change: Format = {
  about: 'a change or a spec (tasks.jsonc, tasks.md)',
  find(path, sources) {
    const name = nameOf(path)
    const isFile = /^tasks.*\.(?:jsonc?|md)$/.test(name)
    const tasks = isFile && !name.endsWith('.md') ? sources.items(path, 'tasks') : []
    if (!tasks || !eachHas(tasks, 'section', 'children')) return null
    const folder = isFile ? folderOf(path) : path
    const names = sources.tree.list(folder)
    const main = ['tasks.jsonc', name, 'tasks.md'].find((one) => names.includes(one))
    if (main === undefined || !(isFile || main.startsWith('tasks.'))) return null
    const file = within(folder, main)
    return !main.endsWith('.md') || DOCUMENTS.some((one) => names.includes(one)) || isNumbered(file, sources)
      ? file
      : null
  },
  read(path, sources, how) {
    const context = documentsOf(path, sources.tree)
    const tasks = path.endsWith('.md') ? tasksInMarkdown(path, sources) : tasksInJson(path, sources)
    const open = tasks.filter(({ status }) => status !== 'dropped')
    const sections = grouped(open, ({ key, section }) => prefixOf(key) || section)
    const names = [...sections.keys()]
    const isInOrder = path.endsWith('.md') && !isProposed(path, sources.tree)
    const groups = isInOrder ? [open] : [...sections.values()]
    const order = new Map(groups.flatMap((group) => [...inOrder(group, how)]))
    const draftOf = ({ key, status, section, text, box, tags, place, ...task }: ChangeTask): ForeignDraft => {
      const prefix = prefixOf(key)
      const index = Math.max(0, names.indexOf(prefix || section))
      const { name } = milestoneParts(section)
      const number = /^\d+(?:\.\d+)*$/.test(prefix) ? prefix : ''
      return foreignDraft({
        key,
        title: titleOf(text.replace(NEEDS, '')),
        status,
        milestone: section === '' ? null : number ? `${number} — ${name}` : milestoneOf(section, index + 1),
        depends: [...(order.get(key) ?? []), ...needsIn(text, open)],
        description: box ? descriptionOf({ ...box, text }) : text,
        background: task.background,
        criteria: box ? criteriaIn(box) : [],
        context,
        tags,
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
  readonly tags: readonly string[]
  /** Whether it is done together with others of its kind before and after it. */
  readonly isParallel: boolean
  readonly background: ForeignDraft['background']
  readonly place: ForeignDraft['place']
}

/** What is written beside the tasks. */
const DOCUMENTS = ['proposal.md', 'requirements.md', 'bugfix.md', 'design.md', 'spec.md', 'plan.md']

/** The documents, and a change's deltas: what an agent needs to know. They are read, so that an import keeps them. */
function documentsOf(path: string, tree: Tree): readonly string[] {
  const folder = folderOf(path)
  const specs = tree.list(within(folder, 'specs')).filter((name) => name.endsWith('/'))
  const names = [...DOCUMENTS, ...specs.map((name) => `specs/${name}spec.md`)]
  return names.map((name) => within(folder, name)).filter((file) => tree.text(file) !== null)
}

/** Whether it is a change, whose sections are independent; the tasks of a spec are done in order. */
function isProposed(path: string, tree: Tree): boolean {
  return tree.list(folderOf(path)).includes('proposal.md')
}

/** The tasks before each: those marked [P] go together within a section, and no task waits for an optional one. */
function inOrder(tasks: readonly ChangeTask[], { independent }: ReadingOptions) {
  const order = new Map<string, readonly string[]>()
  let before: readonly string[] = []
  let group: string[] = []
  let last: ChangeTask | undefined
  for (const task of independent ? [] : tasks) {
    const isBeside = task.isParallel && last?.isParallel && task.section === last.section
    if (!isBeside && group.length > 0) {
      before = group
      group = []
    }
    order.set(task.key, before)
    if (!task.box?.isOptional) group.push(task.key)
    last = task
  }
  return order
}

const NEEDS =
  /[ \t]*[(_]?\bdepends(?: on)?:?[ \t]+((?:(?:T\d+|\d+\.\d+(?:\.\d+)*)(?:[ \t]*(?:[,&+–-]|and\b)[ \t]*)?)+)[^)_\n]*[)_]?/gi

/** The tasks that a text says it depends on: `(depends on T001, T003-T005)`. */
function needsIn(text: string, tasks: readonly ChangeTask[]): readonly string[] {
  const keys = tasks.map(({ key }) => key)
  return [...text.matchAll(NEEDS)].flatMap(([, list = '']) =>
    [...list.matchAll(/([\w.]+)(?:[ \t]*[–-][ \t]*(T?\d[\w.]*))?/g)]
      .filter(([, first]) => first !== 'and')
      .flatMap(([, first = '', last]) =>
        last === undefined ? [first] : keys.slice(keys.indexOf(first), keys.indexOf(last) + 1),
      ),
  )
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
  const items = numbered(readBoxes(sources.tree.text(beside(path, 'tasks.md')) ?? ''))
  const boxes = new Map(items.map(({ key, box }) => [key, box]))
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
        ...(box?.text.startsWith(text.replace(/\s+/g, ' ').trim())
          ? { box, text: box.text }
          : { box: undefined }),
        ...PLAIN,
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

const ID = String.raw`T?\d+(?:\.\d+)*[a-z]?`
const NUMBER = new RegExp(String.raw`^(?:(${ID})|\*\*(${ID})[.:]?\*\*|\[(${ID})\])[.):]?\s+`, 'i')

/** The number at the beginning of a text, or undefined, and the rest. */
function numberIn(text: string): readonly [string | undefined, string] {
  const [whole = '', ...ids] = NUMBER.exec(text) ?? []
  return [ids.find(Boolean), text.slice(whole.length)]
}

/** An item of a list by its number, and the item that it is a part of. */
interface NumberedItem {
  readonly key: string
  /** Without its number. */
  readonly box: BoxItem
  readonly parent: NumberedItem | null
  /** Its numbered items, if all are: then it is no task itself. */
  readonly parts: readonly NumberedItem[]
}

/** The items of a list; one without a number is numbered by its position under the heading. */
function numbered(items: readonly BoxItem[]): readonly NumberedItem[] {
  const itemOf = (known: Omit<NumberedItem, 'parts'>): readonly NumberedItem[] => {
    const [, text] = numberIn(known.box.text)
    const parts: NumberedItem[] = []
    const item = { ...known, box: { ...known.box, text }, parts }
    const inner = known.box.nested.flatMap((box) => {
      const [key] = numberIn(box.text)
      return key?.startsWith(`${item.key}.`) ? itemOf({ key, box, parent: item }) : []
    })
    parts.push(...inner.filter(({ parent }) => parent === item))
    if (parts.length === known.box.nested.length) return [item, ...inner]
    parts.length = 0
    return [item]
  }
  const sections = [...grouped(items, ({ heading }) => heading?.at ?? -1).values()]
  return sections.flatMap((section, index) =>
    section.flatMap((box, place) => {
      const [number = String(index + 1)] = numberIn(box.heading?.text ?? '')
      const [own = `${number}.${place + 1}`] = numberIn(box.text)
      return itemOf({ key: own, box, parent: null })
    }),
  )
}

/** Whether all its tasks have numbers. */
function isNumbered(path: string, sources: Sources): boolean {
  const items = readBoxes(sources.open(path)?.text ?? '')
  return items.length > 0 && items.every(({ text }) => numberIn(text)[0] !== undefined)
}

const MARKER = /^[[(](P|US\d+)[\])]\s*/i
const PLAIN = { tags: [], isParallel: false, background: [] } as const

function tasksInMarkdown(path: string, sources: Sources): readonly ChangeTask[] {
  const source = sources.open(path)
  if (!source) return []
  const counts = new Map<string, number>()
  const sectionOf = isProposed(path, sources.tree)
    ? ({ heading }: BoxItem) => (heading && heading.depth > 1 ? heading.text : '')
    : phasesOf(source)
  return numbered(boxesOf(source))
    .filter(({ parts }) => parts.length === 0)
    .map((item) => {
      const { key, box, parent } = item
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      const own = count === 1 ? key : `${key}~${count}`
      if (count > 1)
        source.report(
          box.at,
          `the number ${key} is taken already: this task is called ${own} here`,
          'warning',
        )
      const [text, markers] = withoutMarkers(box.text)
      return {
        key: own,
        text,
        status: box.isTicked ? 'DONE' : 'TODO',
        section: parent?.box.text ?? sectionOf(box),
        box,
        tags: [...markers.filter((marker) => marker !== 'P'), ...(box.isOptional ? [OPTIONAL] : [])],
        isParallel: markers.includes('P'),
        background: parent?.box.below ? [[`Part of: ${parent.box.text}`, parent.box.below]] : [],
        place: source.placeOf(box.at),
        write: ({ status }) =>
          status === 'BLOCKED' ? [] : tickedWithParents(source, item, status === 'DONE'),
      }
    })
}

/** A task's text without its markers: `[P] [US1] …`. */
function withoutMarkers(text: string): readonly [string, readonly string[]] {
  const [whole, marker = ''] = MARKER.exec(text) ?? []
  if (whole === undefined) return [text, []]
  const [rest, markers] = withoutMarkers(text.slice(whole.length))
  return [rest, [marker.toUpperCase(), ...markers]]
}

/** The outermost heading below the title that an item stands under, if there are several. */
function phasesOf({ text }: Source): (box: BoxItem) => string {
  const below = readHeadings(text).filter(({ depth }) => depth > 1)
  const outermost = Math.min(...below.map(({ depth }) => depth))
  const phases = below.filter(({ depth }) => depth === outermost)
  const phaseOf = (at: number) => phases.findLast((phase) => phase.at < at)
  const used = new Set(readBoxes(text).map(({ at }) => phaseOf(at)))
  return ({ at }) => (used.size > 1 ? (phaseOf(at)?.text ?? '') : '')
}

/** A parent is done with its parts, but for the optional ones. */
function tickedWithParents(source: Source, item: NumberedItem, isDone: boolean): readonly Edit[] {
  const states = new Map([[item, isDone]])
  const isReady = (part: NumberedItem): boolean =>
    part.box.isOptional || (states.get(part) ?? part.box.isTicked)
  for (let at = item.parent; at; at = at.parent) states.set(at, at.parts.every(isReady))
  return [...states].flatMap(([{ box }, state]) => ticked(source, box, state))
}

/** The backlog as the tasks of one change. */
export function tasksJsoncText(drafts: readonly ForeignDraft[]): string {
  const sections = [...grouped(drafts, ({ milestone }) => milestone)]
  // Numbers from there stay, if all have one.
  const areNumbers = drafts.every(({ key }) => /^\d+(?:\.\d+)*$/.test(key))
  const tasks = sections.flatMap(([section, own], index) =>
    own.map(({ key, title, description, status }, at) => ({
      id: areNumbers ? key : `${index + 1}.${at + 1}`,
      section: milestoneParts(section ?? '').name || 'Tasks',
      description: description || title,
      status: WORDS[status] ?? 'pending',
    })),
  )
  return `${JSON.stringify({ version: 1, tasks }, null, 2)}\n`
}
