import { openCriteria, type Criterion } from '../../backlog/draft.ts'
import { setJson } from './edit.ts'
import {
  foreignDraft,
  titleOf,
  wholeStatus,
  within,
  type ForeignDraft,
  type ForeignStatus,
  type Format,
} from './format.ts'
import { eachHas, entryAt, keyReader, statusOf, type Entry, type Sources } from './source.ts'

/** Task Master's tasks, by tag or, in older versions, without tags: `.taskmaster/tasks/tasks.json`. */
export const taskMaster: Format = {
  about: 'Task Master (.taskmaster/tasks/tasks.json)',
  find(path, sources) {
    const folders = [within(path, 'tasks'), path]
    const folder = folders.find((one) => sources.tree.list(one).includes('tasks.json'))
    if (folder !== undefined && /\.?taskmaster/.test(path)) return within(folder, 'tasks.json')
    if (!path.endsWith('.json')) return null
    const tasks = sources.items(path, 'tasks')
    return (tasks && eachHas(tasks, 'title')) || isTagged(path, sources) ? path : null
  },
  read(path, sources) {
    const tags = itemsIn(path, sources)
    const items = tags.flatMap((tag) => tag.flatMap((item) => [item, ...item.parts]))
    const wanted = items.filter(({ status, parts }) => parts.length === 0 || status === 'dropped')
    return {
      tasks: wanted.map((item) => ({
        key: item.key,
        draft: () => draftIn(item, tags.length === 1),
        write: ({ status }) => [
          ...setJson(item.entry, 'status', WORDS[status]),
          ...(item.parent ? setJson(item.parent.entry, 'status', parentWord(item, item.parent, status)) : []),
        ],
      })),
    }
  },
}

const WORDS = { TODO: 'pending', DONE: 'done', BLOCKED: 'blocked' } as const
const PARENT_WORDS = { completed: 'done', in_progress: 'in-progress', pending: 'pending' } as const

function parentWord(item: Item, { parts }: Item, status: ForeignStatus): string {
  return PARENT_WORDS[wholeStatus(parts.map((one) => (one === item ? status : one.status)))]
}

function isTagged(path: string, sources: Sources): boolean {
  const value = sources.value(path)
  if (value?.kind !== 'table' || value.entries.size === 0 || value.entries.has('tasks')) return false
  return [...value.entries.values()].every(
    (tag) => tag.kind === 'table' && tag.entries.get('tasks')?.kind === 'list',
  )
}

const MASTER = 'master'

/** A task or a subtask. */
interface Item {
  /** Its number in its tag: 1, or 1.2 for a subtask. */
  readonly id: string
  readonly key: string
  readonly entry: Entry
  readonly status: ForeignStatus
  readonly tag: string
  readonly milestone: string | null
  readonly parent: Item | null
  readonly parts: readonly Item[]
  /** All of its tag, by their numbers. */
  readonly others: ReadonlyMap<string, Item>
}

/** The tasks of each tag. */
function itemsIn(path: string, sources: Sources): readonly (readonly Item[])[] {
  const readKey = keyReader()
  return tagsOf(path, sources).map(([tag, tasks]) => {
    const others = new Map<string, Item>()
    let milestones = 0
    const itemOf = (entry: Entry, parent: Item | null): readonly Item[] => {
      const own = entry.text('id')
      const id = parent ? `${parent.id}.${own}` : own
      const key = readKey(entry, own === '' ? '' : keyIn(tag, id))
      if (key === null) return []
      const subtasks = parent ? [] : entry.entries('subtasks')
      const title = subtasks.length > 0 ? `${++milestones} — ${entry.text('title')}` : null
      const milestone = parent ? parent.milestone : title
      const parts: Item[] = []
      const item = { id, key, entry, status: statusOf(entry), tag, milestone, parent, parts, others }
      others.set(id, item)
      parts.push(...subtasks.flatMap((part) => itemOf(part, item)))
      return [item]
    }
    return tasks.flatMap((task) => itemOf(task, null))
  })
}

function tagsOf(path: string, sources: Sources): readonly (readonly [string, readonly Entry[]])[] {
  const root = sources.root(path, 'an object of tags')
  if (!root) return []
  if (root.table.entries.has('tasks')) return [[MASTER, root.entries('tasks')]]
  return [...root.table.entries].flatMap(([name, value]) => {
    const tag = entryAt(root.source, value, `the tasks of ${name}`)
    return tag ? [[name, tag.entries('tasks')]] : []
  })
}

/** The key of a task among all tags: its number in the main tag, with the tag's name in any other. */
function keyIn(tag: string, id: string): string {
  return tag === MASTER || id.includes(':') ? id : `${tag}:${id}`
}

/** The numbers of what an item waits for: those of siblings are short. */
function needsOf({ entry, parent }: Item): readonly string[] {
  const siblings = new Set(parent?.parts.map((one) => one.entry.text('id')))
  return entry.texts('dependencies').map((need) => (siblings.has(need) ? `${parent!.id}.${need}` : need))
}

/** The keys of what an item waits for. The first subtasks of a task wait for what the task waits for. */
function dependsOf(item: Item): readonly string[] {
  const { parent, others, tag } = item
  const needs = needsOf(item)
  const open = new Set(parent && openParts(parent).map(({ id }) => id))
  const isFirst = parent !== null && !needs.some((need) => open.has(need))
  return [...(isFirst ? needsOf(parent) : []), ...needs].flatMap((need) => {
    const needed = others.get(need)
    return needed ? lastOf(needed) : [keyIn(tag, need)]
  })
}

function openParts({ parts }: Item): readonly Item[] {
  return parts.filter(({ status }) => status !== 'dropped')
}

/** Who depends on a task with subtasks waits for those that no other one needs. */
function lastOf(item: Item): readonly string[] {
  if (item.parts.length === 0 || item.status === 'dropped') return [item.key]
  const needed = new Set(openParts(item).flatMap(needsOf))
  return openParts(item).flatMap(({ id, key }) => (needed.has(id) ? [] : [key]))
}

function draftIn(item: Item, isOnlyTag: boolean): ForeignDraft {
  const { key, entry: task, parent, tag } = item
  const title = titleOf(task.text('title', 'description'))
  // Nothing in a task that is cancelled, or deferred, is to be done.
  const isHeld = item.status === 'TODO' && parent?.status === 'BLOCKED'
  const decides = parent && (isHeld || parent.status === 'dropped') ? parent : item
  const { status } = decides
  const whole =
    parent && [parent.entry.text('description'), parent.entry.text('details')].filter(Boolean).join('\n\n')
  const ofAll = parent?.parts.at(-1) === item ? testsOf(parent.entry) : []
  return foreignDraft({
    key,
    title,
    status,
    blockedReason: status === 'BLOCKED' ? `Task ${decides.id} is ${decides.entry.text('status')} there.` : '',
    milestone: item.milestone,
    depends: dependsOf(item),
    description: task.text('description') || title,
    background: whole ? [[`Part of: ${titleOf(parent.entry.text('title'))}`, whole]] : [],
    criteria: [
      ...openCriteria(task.texts('acceptanceCriteria')),
      ...testsOf(task),
      ...ofAll.map((one) => ({ ...one, ofAll: true })),
    ],
    hints: task.text('details'),
    priority: task.text('priority') || parent?.entry.text('priority') || null,
    tags: isOnlyTag || tag === MASTER ? [] : [tag],
    place: task.source.placeOf(task.at),
  })
}

/** A task's test strategy, as criteria. */
function testsOf(task: Entry): readonly Criterion[] {
  const text = task.text('testStrategy').replace(/\s+/g, ' ').trim()
  return text === '' ? [] : openCriteria([text])
}
