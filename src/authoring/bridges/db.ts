import { stringify } from 'yaml'
import { openCriteria, type Comment } from '../../backlog/draft.ts'
import { addedItem, addedYaml, setYaml } from './edit.ts'
import { disciplineText, featureText } from './db-documents.ts'
import {
  beside,
  foreignDraft,
  nameOf,
  within,
  type ForeignDraft,
  type ForeignTask,
  type Format,
} from './format.ts'
import {
  eachHas,
  entriesOf,
  keyed,
  numberOf,
  statusOf,
  type Edit,
  type Entry,
  type Source,
  type Sources,
} from './source.ts'
import { readYamlValue } from './value.ts'

/** Disciplines, features and tasks as lists of YAML, each below its key or bare: `.ralph/db/`. */
export const db: Format = {
  about: 'disciplines, features and tasks (.ralph/db/*.yaml)',
  find(path, sources) {
    if (sources.tree.list(path).includes('tasks.yaml')) return within(path, 'tasks.yaml')
    if (/^(?:disciplines|features)\.ya?ml$/.test(nameOf(path))) {
      const tasks = beside(path, 'tasks.yaml')
      return sources.tree.text(tasks) === null ? null : tasks
    }
    const items = (/\.ya?ml$/.test(path) && (sources.items(path) ?? sources.items(path, 'tasks'))) || []
    return items.length > 0 && eachHas(items, 'title') ? path : null
  },
  read(path, sources, { only }) {
    const alone = only === undefined ? null : itemAlone(sources.open(path), only)
    return {
      tasks: keyed(alone ? [alone] : entriesIn(path, sources, 'tasks')).map(taskOf),
      documents: () =>
        new Map(
          (['discipline', 'feature'] as const).flatMap((kind) =>
            entriesIn(beside(path, `${kind}s.yaml`), sources, `${kind}s`).flatMap((entry) =>
              documentIn(entry, kind),
            ),
          ),
        ),
    }
  },
}

/** The items of a file, which is a list, or has one below this key. */
function entriesIn(path: string, sources: Sources, key: string): readonly Entry[] {
  const whole = sources.value(path)
  const value = whole?.kind === 'table' && whole.entries.has(key) ? whole.entries.get(key) : whole
  if (!value || (value.kind === 'scalar' && value.value === null)) return []
  const source = sources.open(path)!
  if (value.kind === 'list') return entriesOf(source, value.items, 'an object')
  source.report(value.span.start, `expected a list, or one below "${key}:"`)
  return []
}

/** One document for each discipline or feature, in the format of `docs/`. */
function documentIn(entry: Entry, kind: 'discipline' | 'feature'): readonly (readonly [string, string])[] {
  const name = entry.text('name')
  if (/^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u.test(name))
    return [[`docs/${kind}s/${name}.md`, (kind === 'discipline' ? disciplineText : featureText)(entry)]]
  entry.report('name', `a ${kind} needs a name that can be one of a file, not "${name}"`)
  return []
}

const WORDS = { TODO: 'pending', DONE: 'done', BLOCKED: 'blocked' } as const

function taskOf({ entry: task, key }: { entry: Entry; key: string }): ForeignTask {
  return {
    key,
    draft() {
      const hints = task.value('hints')
      const turns = numberOf(task, 'estimated_turns')
      const comments = task.entries('comments').map((comment) => ({
        author: comment.text('author') || 'somebody',
        created: comment.text('created'),
        task: comment.text('agent_task_id'),
        body: comment.text('body'),
      }))
      return foreignDraft({
        key,
        title: task.text('title').replace(/\s+/g, ' ').trim(),
        status: statusOf(task),
        depends: task.texts('depends_on'),
        description: task.text('description'),
        criteria: openCriteria(task.texts('acceptance_criteria')),
        hints: hints?.kind === 'list' ? task.texts('hints').join('\n\n') : task.text('hints'),
        context: task.texts('context_files'),
        produces: task.texts('output_artifacts'),
        tags: task.texts('tags'),
        priority: task.text('priority') || null,
        discipline: task.text('discipline') || null,
        feature: task.text('feature') || null,
        turns: turns !== undefined && Number.isInteger(turns) && turns > 0 ? turns : null,
        provenance: task.text('provenance') || null,
        comments: comments.filter((comment) => !isFailure(comment)),
        attempts: comments.filter(isFailure),
        place: task.source.placeOf(task.at),
      })
    },
    write({ status, reason, at, failed, author = 'agent' }) {
      const comments = failed.map((attempt) =>
        commentLines('agent', `Attempt ${attempt.number} failed: ${attempt.reason}`, attempt.at),
      )
      if (status === 'BLOCKED' && comments.length === 0 && author !== null)
        comments.push(commentLines(author, `Blocked: ${reason}`, at))
      return [...setYaml(task, 'status', WORDS[status], task.value('id')!), ...addedComments(task, comments)]
    },
  }
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
  const items = read.ok && read.value.kind === 'list' ? entriesOf(source, read.value.items, 'an object') : []
  return items.length === 1 && items[0]!.text('id') === key ? items[0]! : null
}

/** Whether a comment says why an agent's attempt failed. */
function isFailure({ author, body }: Comment): boolean {
  return author === 'agent' && /^(?:[\d-]{10}:? )?(?:attempt \d+ )?failed\b/i.test(body)
}

function commentLines(author: string, body: string, at: Date): readonly string[] {
  return [`author: ${author}`, `body: ${JSON.stringify(body)}`, `created: ${at.toISOString().slice(0, 19)}Z`]
}

/** Adds comments below the existing ones; omits them if the list is in brackets, as only the status is essential. */
function addedComments(task: Entry, comments: readonly (readonly string[])[]): readonly Edit[] {
  if (comments.length === 0) return []
  const { source } = task
  const list = task.value('comments')
  const isEmpty = list?.kind === 'list' && list.items.length === 0
  if (list && !isEmpty) return comments.flatMap((lines) => addedItem(source, list, lines) ?? [])
  const items = `[${comments.map((lines) => `{ ${lines.join(', ')} }`).join(', ')}]`
  if (list) return [{ source, ...list.span, text: items }]
  return [addedYaml(task, `comments: ${items}`, [...task.table.entries.values()].at(-1)!)]
}

/** The tasks as a list of YAML. They keep their imported numbers, if each has one and no number occurs twice. */
export function tasksYaml(drafts: readonly ForeignDraft[], numbers: readonly number[]): string {
  const areNumbers = drafts.every(({ key }) => /^\d+$/.test(key))
  const numberOf = new Map(drafts.map(({ key }, index) => [key, areNumbers ? Number(key) : numbers[index]]))
  return yamlList(
    'tasks',
    drafts.map((draft) => ({
      id: numberOf.get(draft.key),
      feature: draft.feature,
      discipline: draft.discipline,
      title: draft.title,
      status: WORDS[draft.status],
      priority: numeral(draft.priority),
      description: draft.description,
      acceptance_criteria: draft.criteria.map(({ text }) => text),
      depends_on: draft.depends.flatMap((key) => numberOf.get(key) ?? []),
      tags: draft.tags,
      context_files: draft.context,
      output_artifacts: draft.produces,
      hints: draft.hints,
      estimated_turns: draft.turns,
      provenance: draft.provenance,
      comments: [...draft.attempts, ...draft.comments].map(({ author, task, body, created }) => ({
        author,
        agent_task_id: numeral(task),
        body,
        created,
      })),
    })),
  )
}

/** A whole number as one; it is no other text in YAML. */
function numeral(text: string | null): string | number | null {
  return /^\d{1,15}$/.test(text ?? '') ? Number(text) : text
}

/** A list of objects as YAML below a key, which readers of version 1.1 understand too; empty values are left out. */
export function yamlList(key: string, items: readonly object[]): string {
  if (items.length === 0) return `${key}: []\n`
  const texts = items.map((item) => stringify({ [key]: [filled(item)] }, { version: '1.1', lineWidth: 0 }))
  return texts.map((text, index) => (index === 0 ? text : text.slice(text.indexOf('\n') + 1))).join('\n')
}

function filled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(filled)
  if (typeof value !== 'object' || value === null) return value
  const isEmpty = (one: unknown): boolean =>
    one === null || one === undefined || one === '' || (Array.isArray(one) && one.length === 0)
  const entries = Object.entries(value).filter(([, one]) => !isEmpty(one))
  return Object.fromEntries(entries.map(([key, one]) => [key, filled(one)]))
}
