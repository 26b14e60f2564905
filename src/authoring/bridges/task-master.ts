import { openCriteria } from '../../backlog/draft.ts'
import { foreignDraft, titleOf, wholeStatus, type ForeignDraft, type ForeignStatus } from './draft.ts'
import { setJson } from './edit.ts'
import { keyOf, within, type Format, type Look, type OriginEnd } from './format.ts'
import { entryAt, keyReader, statusOf, type Entry, type Sources } from './source.ts'

/** Task Master's tasks, by tag or, in older versions, without tags: `.taskmaster/tasks/tasks.json`. */
export const taskMaster: Format = {
  about: 'Task Master (.taskmaster/tasks/tasks.json)',
  find: (look) => {
    if (look.names) {
      const below = ['tasks/tasks.json', 'tasks.json'].map((name) => within(look.path, name))
      return /\.?taskmaster/.test(look.path)
        ? (below.find((path) => look.sources.tree.text(path) !== null) ?? null)
        : null
    }
    return isTagged(look) || isOld(look) ? look.path : null
  },
  read(path, sources) {
    const tags = itemsIn(path, sources)
    const items = tags.flatMap((tag) => tag.flatMap((item) => [item, ...item.parts]))
    const wanted = items.filter(({ status, parts }) => parts.length === 0 || status === 'dropped')
    return { drafts: wanted.map((item) => draftIn(item, tags.length === 1)) }
  },
  write: written,
}

function isOld(look: Look): boolean {
  const tasks = keyOf(look, 'tasks')
  return (
    tasks?.kind === 'list' && tasks.items.every((task) => task.kind === 'table' && task.entries.has('title'))
  )
}

function isTagged(look: Look): boolean {
  const value = look.value()
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
  return tagsOf(path, sources).map(({ name: tag, tasks }) => {
    const others = new Map<string, Item>()
    let milestones = 0
    const itemOf = (entry: Entry, parent: Item | null): Item | null => {
      const own = entry.text('id')
      const id = parent ? `${parent.id}.${own}` : own
      const key = readKey(entry, own === '' ? '' : keyIn(tag, id))
      if (key === null) return null
      const subtasks = parent ? [] : entry.entries('subtasks')
      const title = subtasks.length > 0 ? `${++milestones} — ${entry.text('title')}` : null
      const milestone = parent ? parent.milestone : title
      const parts: Item[] = []
      const item = { id, key, entry, status: statusOf(entry), tag, milestone, parent, parts, others }
      others.set(id, item)
      parts.push(...subtasks.flatMap((part) => itemOf(part, item) ?? []))
      return item
    }
    return tasks.flatMap((task) => itemOf(task, null) ?? [])
  })
}

function tagsOf(path: string, sources: Sources): readonly { name: string; tasks: readonly Entry[] }[] {
  const root = sources.root(path, 'an object of tags')
  if (!root) return []
  if (root.table.entries.has('tasks')) return [{ name: MASTER, tasks: root.entries('tasks') }]
  return [...root.table.entries].flatMap(([name, value]) => {
    const tag = entryAt(root.source, value, `the tasks of ${name}`)
    return tag ? [{ name, tasks: tag.entries('tasks') }] : []
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
  const status = parent?.status === 'dropped' ? 'dropped' : item.status
  const whole =
    parent && [parent.entry.text('description'), parent.entry.text('details')].filter(Boolean).join('\n\n')
  const isLast = parent?.parts.at(-1) === item
  const ofAll = isLast ? testsOf(parent.entry).map((one) => ({ ...one, ofAll: true })) : []
  return foreignDraft({
    key,
    title,
    status,
    blockedReason: status === 'BLOCKED' ? `it is ${task.text('status')} in its origin` : '',
    milestone: item.milestone,
    depends: dependsOf(item),
    description: task.text('description') || title,
    background: whole ? [[`Part of: ${titleOf(parent.entry.text('title'))}`, whole]] : [],
    criteria: [...openCriteria(task.texts('acceptanceCriteria')), ...testsOf(task), ...ofAll],
    hints: task.text('details'),
    priority: task.text('priority') || parent?.entry.text('priority') || null,
    tags: isOnlyTag || tag === MASTER ? [] : [tag],
    place: task.source.placeOf(task.at),
  })
}

/** A task's test strategy, as criteria. */
function testsOf(task: Entry): ReturnType<typeof openCriteria> {
  const text = task.text('testStrategy').replace(/\s+/g, ' ').trim()
  return text === '' ? [] : openCriteria([text])
}

const WORDS = { TODO: 'pending', DONE: 'done', BLOCKED: 'blocked' } as const
const PARENT_WORDS = { completed: 'done', in_progress: 'in-progress', pending: 'pending' } as const

function written(path: string, sources: Sources, { key, status }: OriginEnd): ReadonlyMap<string, string> {
  const items = itemsIn(path, sources).flatMap((tag) => tag.flatMap((item) => [item, ...item.parts]))
  const item = items.find((one) => one.key === key && one.parts.length === 0)
  if (!item) return new Map()
  const { entry, parent } = item
  const after = parent?.parts.map((one) => (one === item ? status : one.status))
  return entry.source.edited([
    ...setJson(entry, 'status', WORDS[status]),
    ...(parent && after ? setJson(parent.entry, 'status', PARENT_WORDS[wholeStatus(after)]) : []),
  ])
}
