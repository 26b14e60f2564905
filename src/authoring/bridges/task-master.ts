import { applySplices } from '../../backlog/markdown/splice.ts'
import { openCriteria } from '../../backlog/draft.ts'
import { foreignDraft, titleOf, type ForeignDraft } from './draft.ts'
import { setJson } from './edit.ts'
import { keyOf, within, type Format, type Look, type OriginEnd } from './format.ts'
import { entryAt, keyReader, statusOf, type Entry, type Sources } from './source.ts'
import type { Table, Value } from './value.ts'

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
    const readKey = keyReader()
    const dropped = new Set<string>()
    const tags = tagsOf(path, sources)
    const drafts = tags.flatMap((tag) => draftsOf(tag, { readKey, dropped, isOnly: tags.length === 1 }))
    return { drafts, dropped }
  },
  files: (path) => [path],
  write: (path, sources, end) => written(path, sources, end),
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
  return [...value.entries.values()].every((tag) => tag.kind === 'table' && tasksIn(tag) !== undefined)
}

function tasksIn(tag: Table): Value | undefined {
  const tasks = tag.entries.get('tasks')
  return tasks?.kind === 'list' ? tasks : undefined
}

/** One of its lists, with ids of its own. */
interface Tag {
  readonly name: string
  readonly tasks: readonly Entry[]
}

function tagsOf(path: string, sources: Sources): readonly Tag[] {
  const file = sources.value(path)
  const root = file && entryAt(file.source, file.value, 'an object of tags')
  if (!file || !root) return []
  if (root.table.entries.has('tasks')) return [{ name: MASTER, tasks: root.entries('tasks') }]
  return [...root.table.entries].flatMap(([name, value]) => {
    const tag = entryAt(file.source, value, `the tasks of ${name}`)
    return tag ? [{ name, tasks: tag.entries('tasks') }] : []
  })
}

const MASTER = 'master'

/** The key of a task among all tags: its number in the main tag, with the tag's name in any other. */
function keyIn(tag: Tag, id: string): string {
  return tag.name === MASTER ? id : `${tag.name}:${id}`
}

interface TagReading {
  readonly readKey: ReturnType<typeof keyReader>
  readonly dropped: Set<string>
  readonly isOnly: boolean
}

function draftsOf(tag: Tag, reading: TagReading): readonly ForeignDraft[] {
  const tree = tag.tasks.map((task) => ({ task, id: task.text('id'), subtasks: task.entries('subtasks') }))
  const leaves = new Map(tree.map((node) => [node.id, leavesOf(node)]))
  let milestones = 0
  return tree.flatMap((node) => {
    const { task, id, subtasks } = node
    const key = reading.readKey(task, id === '' ? '' : keyIn(tag, id))
    if (key === null) return []
    const status = statusOf(task)
    const milestone = subtasks.length > 0 ? `${++milestones} — ${task.text('title')}` : null
    const before = task.texts('dependencies').flatMap((need) => leaves.get(need)?.last ?? [need])
    if (subtasks.length === 0 || status === 'dropped') {
      if (status === 'dropped')
        for (const one of [id, ...leavesOf(node).all]) reading.dropped.add(keyIn(tag, one))
      return status === 'dropped'
        ? []
        : [draftIn(tag, { key, task, before, milestone: null, part: null, reading })]
    }
    const first = new Set(leavesOf(node).first)
    return subtasks.flatMap((subtask, index): readonly ForeignDraft[] => {
      const own = `${id}.${subtask.text('id')}`
      const ownKey = reading.readKey(subtask, subtask.text('id') === '' ? '' : keyIn(tag, own))
      if (ownKey === null) return []
      if (statusOf(subtask) === 'dropped') {
        reading.dropped.add(ownKey)
        return []
      }
      const needs = needsOf(subtask, node).flatMap((need) => leaves.get(need)?.last ?? [need])
      return [
        draftIn(tag, {
          key: ownKey,
          task: subtask,
          before: first.has(own) ? [...before, ...needs] : needs,
          milestone,
          part: { task, isLast: index === subtasks.length - 1 },
          reading,
        }),
      ]
    })
  })
}

interface Node {
  readonly id: string
  readonly subtasks: readonly Entry[]
}

/** What a subtask waits for: a number means a sibling, otherwise it is a full id. */
function needsOf(subtask: Entry, { id, subtasks }: Node): readonly string[] {
  const siblings = new Set(subtasks.map((one) => one.text('id')))
  return subtask.texts('dependencies').map((need) => (siblings.has(need) ? `${id}.${need}` : need))
}

/** The first and last subtasks of a task: who depends on the task waits for the last ones. */
function leavesOf(node: Node): {
  readonly all: readonly string[]
  readonly first: readonly string[]
  readonly last: readonly string[]
} {
  const { id, subtasks } = node
  if (subtasks.length === 0) return { all: [id], first: [id], last: [id] }
  const open = subtasks.filter((subtask) => statusOf(subtask) !== 'dropped')
  const all = open.map((subtask) => `${id}.${subtask.text('id')}`)
  const needs = new Map(open.map((subtask, index) => [all[index]!, needsOf(subtask, node)]))
  const inner = new Set(all)
  const needed = new Set([...needs.values()].flat())
  return {
    all,
    first: all.filter((key) => !needs.get(key)!.some((need) => inner.has(need))),
    last: all.filter((key) => !needed.has(key)),
  }
}

interface Part {
  readonly key: string
  readonly task: Entry
  readonly before: readonly string[]
  readonly milestone: string | null
  /** The task that it is a part of. */
  readonly part: { readonly task: Entry; readonly isLast: boolean } | null
  readonly reading: TagReading
}

function draftIn(tag: Tag, { key, task, before, milestone, part, reading }: Part): ForeignDraft {
  const title = titleOf(task.text('title', 'description'))
  if (title === '') task.report('title', `the task ${key} has no title`)
  const status = statusOf(task)
  const whole =
    part && [part.task.text('description'), part.task.text('details')].filter(Boolean).join('\n\n')
  const ofAll = part?.isLast ? testsOf(part.task).map((one) => ({ ...one, ofAll: true })) : []
  return foreignDraft({
    key,
    title,
    status: status === 'dropped' ? 'TODO' : status,
    blockedReason: status === 'BLOCKED' ? `it is ${task.text('status')} in its origin` : '',
    milestone,
    depends: before.map((need) => (need.includes(':') ? need : keyIn(tag, need))),
    description: task.text('description') || title,
    background: part && whole ? [[`Part of: ${titleOf(part.task.text('title'))}`, whole]] : [],
    criteria: [...openCriteria(task.texts('acceptanceCriteria')), ...testsOf(task), ...ofAll],
    hints: task.text('details'),
    priority: task.text('priority') || part?.task.text('priority') || null,
    tags: reading.isOnly || tag.name === MASTER ? [] : [tag.name],
    place: task.source.placeOf(task.at),
  })
}

/** A task's test strategy, as criteria. */
function testsOf(task: Entry): ReturnType<typeof openCriteria> {
  const text = task.text('testStrategy').replace(/\s+/g, ' ').trim()
  return text === '' ? [] : openCriteria([text])
}

const WORDS = { TODO: 'pending', DONE: 'done', BLOCKED: 'blocked' } as const

function written(path: string, sources: Sources, { key, status }: OriginEnd): ReadonlyMap<string, string> {
  const readKey = keyReader()
  for (const tag of tagsOf(path, sources)) {
    for (const task of tag.tasks) {
      const id = task.text('id')
      const subtasks = task.entries('subtasks')
      const isOwn = readKey(task, keyIn(tag, id)) === key && subtasks.length === 0
      const keys = subtasks.map((one) => readKey(one, keyIn(tag, `${id}.${one.text('id')}`)))
      const subtask = subtasks[keys.indexOf(key)]
      if (!subtask && !isOwn) continue
      const changes = [...setJson(subtask ?? task, 'status', WORDS[status])]
      if (subtask) {
        const after = subtasks.map((one) => (one === subtask ? status : statusOf(one)))
        changes.push(...setJson(task, 'status', parentWord(after)))
      }
      return new Map([[path, applySplices(task.source.text, changes)]])
    }
  }
  return new Map()
}

function parentWord(after: readonly string[]): string {
  if (after.every((status) => status === 'DONE' || status === 'dropped')) return 'done'
  return after.includes('DONE') ? 'in-progress' : 'pending'
}
