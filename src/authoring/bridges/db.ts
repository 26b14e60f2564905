import { stringify } from 'yaml'
import type { Splice } from '../../backlog/markdown/splice.ts'
import { openCriteria, type Comment } from '../../backlog/draft.ts'
import { foreignDraft, type ForeignDraft } from './draft.ts'
import { documentsIn } from './db-documents.ts'
import { addedItem, addedYaml, quoted, setYaml } from './edit.ts'
import { beside, nameOf, within, type Format, type OriginEnd } from './format.ts'
import { entriesOf, keyed, statusOf, type Entry, type Source, type Sources } from './source.ts'
import { readYamlValue } from './value.ts'

/** Disciplines, features and tasks as lists of YAML: `.ralph/db/`. */
export const db: Format = {
  about: 'disciplines, features and tasks (.ralph/db/*.yaml)',
  find: (look) => {
    if (look.names) return look.names.includes('tasks.yaml') ? within(look.path, 'tasks.yaml') : null
    if (/^(?:disciplines|features)\.ya?ml$/.test(nameOf(look.path))) {
      const tasks = beside(look.path, 'tasks.yaml')
      return look.sources.tree.text(tasks) === null ? null : tasks
    }
    const value = /\.ya?ml$/.test(look.path) ? look.value() : null
    const isTask =
      value?.kind === 'list' &&
      value.items.length > 0 &&
      value.items.every((item) => item.kind === 'table' && item.entries.has('title'))
    return isTask ? look.path : null
  },
  read(path, sources) {
    const drafts = keyed(entriesIn(path, sources)).map(({ entry, key }) => draftIn(entry, key))
    const documents = new Map(
      (['discipline', 'feature'] as const).flatMap((kind) => {
        return documentsIn(entriesIn(beside(path, `${kind}s.yaml`), sources), kind)
      }),
    )
    return { drafts, documents }
  },
  write: written,
}

/** The items of a file that consists of one list. */
export function entriesIn(path: string, sources: Sources): readonly Entry[] {
  const file = sources.value(path)
  if (!file) return []
  const { source, value } = file
  if (value.kind === 'list') return entriesOf(source, value, 'an object')
  if (value.kind === 'scalar' && value.value === null) return []
  source.report(
    value.span.start,
    `expected a list, each item with a ${/tasks/.test(path) ? 'title' : 'name'}`,
  )
  return []
}

function draftIn(task: Entry, key: string): ForeignDraft {
  return foreignDraft({
    key,
    title: task.text('title').replace(/\s+/g, ' ').trim(),
    status: statusOf(task),
    depends: task.texts('depends_on'),
    description: task.text('description'),
    criteria: openCriteria(task.texts('acceptance_criteria')),
    hints: hintsOf(task),
    context: task.texts('context_files'),
    produces: task.texts('output_artifacts'),
    tags: task.texts('tags'),
    priority: task.text('priority') || null,
    discipline: task.text('discipline') || null,
    feature: task.text('feature') || null,
    turns: countOf(task),
    provenance: task.text('provenance') || null,
    comments: task.entries('comments').map(commentOf),
    place: task.source.placeOf(task.at),
  })
}

function hintsOf(task: Entry): string {
  return task.value('hints')?.kind === 'list' ? task.texts('hints').join('\n\n') : task.text('hints')
}

function countOf(task: Entry): number | null {
  const turns = task.scalar('estimated_turns')?.value
  return typeof turns === 'number' && Number.isInteger(turns) && turns > 0 ? turns : null
}

function commentOf(comment: Entry): Comment {
  return {
    author: comment.text('author') || 'somebody',
    created: comment.text('created'),
    task: comment.text('agent_task_id'),
    body: comment.text('body'),
  }
}

const WORDS = { TODO: 'pending', DONE: 'done', BLOCKED: 'blocked' } as const

function written(path: string, sources: Sources, end: OriginEnd): ReadonlyMap<string, string> {
  const task =
    itemAlone(sources.open(path), end.key) ??
    keyed(entriesIn(path, sources)).find(({ key }) => key === end.key)?.entry
  const id = task?.value('id')
  if (!task || !id) return new Map()
  const comments = end.failed.map(({ number, reason, at }) =>
    commentLines(`Attempt ${number} failed: ${reason}`, at),
  )
  if (end.status === 'BLOCKED' && comments.length === 0)
    comments.push(commentLines(`Blocked: ${end.reason}`, end.at))
  return task.source.edited([
    ...setYaml(task, 'status', WORDS[end.status], id),
    ...withComments(task, comments),
  ])
}

/** Reads one item of a list without the others: to read all of a long list takes longer than a landing may. Null if unsure. */
function itemAlone(source: Source | null, key: string): Entry | null {
  const margin = /^ *(?=- )/m.exec(source?.text ?? '')?.[0]
  if (!source || margin === undefined) return null
  const { text } = source
  const ids = [...text.matchAll(/\bid["']?[ \t]*:[ \t]*["']?([^"'\s,}#]+)/g)]
  const [found, ...others] = ids.filter(([, id]) => id === key)
  if (!found || others.length > 0) return null
  const start = text.lastIndexOf(`\n${margin}- `, found.index) + 1
  const next = text.indexOf(`\n${margin}- `, found.index)
  // A comment stands for the items before it, so that offsets stay.
  const before = start === 0 ? '' : `${'#'.repeat(start - 1)}\n`
  const read = readYamlValue(before + text.slice(start, next < 0 ? undefined : next + 1))
  const items = read.ok && read.value.kind === 'list' ? entriesOf(source, read.value, 'an object') : []
  return items.length === 1 && items[0]!.text('id') === key ? items[0]! : null
}

function commentLines(body: string, at: Date): readonly string[] {
  return ['author: agent', `body: ${quoted(body)}`, `created: ${at.toISOString().slice(0, 19)}Z`]
}

/** Adds comments below the existing ones; omits them if the list is in brackets, as only the status is essential. */
function withComments(task: Entry, comments: readonly (readonly string[])[]): readonly Splice[] {
  if (comments.length === 0) return []
  const { text } = task.source
  const list = task.value('comments')
  const isEmpty = list?.kind === 'list' && list.items.length === 0
  if (list && !isEmpty) return comments.flatMap((lines) => addedItem(text, list, lines) ?? [])
  const items = comments.map((lines) => `{ ${lines.join(', ')} }`)
  if (list && isEmpty) return [{ ...list.span, text: `[${items.join(', ')}]` }]
  const last = [...task.table.entries.values()].at(-1)
  return last ? [addedYaml(task, `comments: [${items.join(', ')}]`, last)] : []
}

/** The tasks as a list of YAML. */
export function tasksYaml(
  drafts: readonly ForeignDraft[],
  numberOf: (draft: ForeignDraft) => number,
): string {
  const numbers = new Map(drafts.map((draft) => [draft.key, numberOf(draft)]))
  return yamlList(
    drafts.map((draft) => ({
      id: numberOf(draft),
      feature: draft.feature,
      discipline: draft.discipline,
      title: draft.title,
      status: WORDS[draft.status],
      priority: /^\d+$/.test(draft.priority ?? '') ? Number(draft.priority) : draft.priority,
      description: draft.description,
      acceptance_criteria: draft.criteria.map(({ text }) => text),
      depends_on: draft.depends.flatMap((key) => numbers.get(key) ?? []),
      tags: draft.tags,
      context_files: draft.context,
      output_artifacts: draft.produces,
      hints: draft.hints,
      estimated_turns: draft.turns,
      provenance: draft.provenance,
      comments: draft.comments.map(({ author, task, body, created }) => ({
        author,
        agent_task_id: task,
        body,
        created,
      })),
    })),
  )
}

/** A list of objects as YAML, which readers of version 1.1 understand too; empty values are left out. */
export function yamlList(items: readonly object[]): string {
  if (items.length === 0) return '[]\n'
  return items.map((item) => stringify([filled(item)], { version: '1.1', lineWidth: 0 })).join('\n')
}

function filled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(filled)
  if (typeof value !== 'object' || value === null) return value
  const isEmpty = (one: unknown): boolean =>
    one === null || one === undefined || one === '' || (Array.isArray(one) && one.length === 0)
  const entries = Object.entries(value).filter(([, one]) => !isEmpty(one))
  return Object.fromEntries(entries.map(([key, one]) => [key, filled(one)]))
}
