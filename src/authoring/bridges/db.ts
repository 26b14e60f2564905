import { applySplices, type Splice } from '../../backlog/markdown/splice.ts'
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
    const dropped = new Set<string>()
    const drafts = keyed(entriesIn(path, sources)).flatMap(({ entry, key }): readonly ForeignDraft[] => {
      const status = statusOf(entry)
      if (status === 'dropped') dropped.add(key)
      return status === 'dropped' ? [] : [draftIn(entry, key, status)]
    })
    const documents = new Map(
      (['discipline', 'feature'] as const).flatMap((kind) => {
        return documentsIn(entriesIn(beside(path, `${kind}s.yaml`), sources), kind)
      }),
    )
    return { drafts, dropped, documents }
  },
  files: (path) => [path],
  write: (path, sources, end) => written(path, sources, end),
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

function draftIn(task: Entry, key: string, status: ForeignDraft['status']): ForeignDraft {
  const title = task.text('title').replace(/\s+/g, ' ').trim()
  if (title === '') task.report('title', `the task ${key} has no title`)
  return foreignDraft({
    key,
    title,
    status,
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
  const source = sources.open(path)
  if (!source) return new Map()
  const { text } = source
  const piece = pieceWith(source, end.key) ?? {
    start: 0,
    end: text.length,
    task: taskWith(path, sources, end.key),
  }
  const { task } = piece
  const id = task?.value('id')
  if (!task || !id) return new Map()
  const comments = end.failed.map(({ number, reason, at }) =>
    commentLines(`Attempt ${number} failed: ${reason}`, at),
  )
  if (end.status === 'BLOCKED' && comments.length === 0)
    comments.push(commentLines(`Blocked: ${end.reason}`, end.at))
  const splices = [...setYaml(task, 'status', WORDS[end.status], id), ...withComments(task, comments)]
  const mark = sources.tree.text(path)?.startsWith('\uFEFF') ? '\uFEFF' : ''
  const edited = applySplices(task.source.text, splices)
  return new Map([[path, mark + text.slice(0, piece.start) + edited + text.slice(piece.end)]])
}

function taskWith(path: string, sources: Sources, wanted: string): Entry | undefined {
  return keyed(entriesIn(path, sources)).find(({ key }) => key === wanted)?.entry
}

/**
 * Parses the item of one task alone, because a long list takes too long for a landing; null if the whole file is
 * needed: with anchors, or if the id occurs twice.
 */
function pieceWith(
  source: Source,
  key: string,
): { readonly start: number; readonly end: number; readonly task: Entry } | null {
  const { text } = source
  const margin = /^[ ]*(?=- )/m.exec(text)?.[0]
  if (margin === undefined || /(?:^|[\s[,:-])[&*][\w-]|^(?:---|\.\.\.|%)/m.test(text)) return null
  const starts = [...text.matchAll(new RegExp(`^${margin}- `, 'gm'))].map(({ index }) => index)
  const named = new RegExp(
    `\\bid["']?\\s*:\\s*["']?${key.replaceAll(/[^\p{L}\p{N}]/gu, '\\$&')}["']?\\s*(?:[,}#\\r\\n]|$)`,
  )
  const found = starts.flatMap((start, at) => {
    const end = starts[at + 1] ?? text.length
    const part = text.slice(start, end)
    if (!named.test(part)) return []
    const reading = readYamlValue(part)
    const list = reading.ok && reading.value.kind === 'list' ? reading.value : null
    const [task] = list ? entriesOf({ ...source, text: part }, list, 'an object') : []
    return task?.text('id') === key ? [{ start, end, task }] : []
  })
  return found.length === 1 ? found[0]! : null
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

/** A list of objects as plain YAML; empty values are left out. */
export function yamlList(items: readonly object[]): string {
  if (items.length === 0) return '[]\n'
  return items
    .map((item) => `- ${mapLines(item).join('\n')}`.replaceAll(/\n(?=.)/g, '\n  '))
    .map((text) => `${text}\n`)
    .join('\n')
}

function mapLines(item: object): readonly string[] {
  return Object.entries(item).flatMap(([key, value]: [string, unknown]): readonly string[] => {
    if (value === null || value === undefined || value === '') return []
    if (!Array.isArray(value)) return [...valueLines(key, value)]
    if (value.length === 0) return []
    const lines = value.flatMap((one: unknown) => {
      const inner = typeof one === 'object' && one !== null ? mapLines(one) : [plainOrQuoted(one)]
      return inner.map((line, index) => (line === '' ? '' : `${index === 0 ? '  - ' : '    '}${line}`))
    })
    return [`${key}:`, ...lines]
  })
}

function valueLines(key: string, value: unknown): readonly string[] {
  if (typeof value === 'object' && value !== null)
    return [`${key}:`, ...mapLines(value).map((line) => `  ${line}`)]
  const isBlock = typeof value === 'string' && value.includes('\n') && isPlainBlock(value)
  if (!isBlock) return [`${key}: ${plainOrQuoted(value)}`]
  return [`${key}: |-`, ...value.split('\n').map((line) => (line === '' ? '' : `  ${line}`))]
}

/** Whether a block scalar preserves the text. */
function isPlainBlock(text: string): boolean {
  return /^\S/.test(text) && !/\n$|[\r\t\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]/.test(text)
}

function plainOrQuoted(value: unknown): string {
  if (typeof value !== 'string') return String(value)
  const isWord =
    /^[A-Za-z_/.][\w/.@ -]*$/.test(value) &&
    !/^(?:true|false|null|yes|no|on|off|y|n|~)$|^\.|[ -]$/i.test(value)
  return isWord ? value : quoted(value)
}
