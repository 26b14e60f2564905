import { milestoneParts } from '../../backlog/milestone.ts'
import type { Splice } from '../../backlog/markdown/splice.ts'
import { foreignDraft, titleOf, wholeStatus, type ForeignDraft } from './draft.ts'
import { removeJson, setJson } from './edit.ts'
import {
  chained,
  keyOf,
  type Format,
  type ForeignBacklog,
  type OriginEnd,
  type ReadingOptions,
} from './format.ts'
import { criteriaOf, keyReader, statusOf, type Entry, type Sources } from './source.ts'

/** Specs, each with its tasks, in `implementation.json`. */
export const implementation: Format = {
  about: 'specs and their tasks (implementation.json)',
  find: (look) => (keyOf(look, 'specs')?.kind === 'list' ? look.path : null),
  read(path, sources, how) {
    const specs = byPriority(sources.root(path, ROOT))
    const readKey = keyReader()
    return { drafts: specs.flatMap((spec, index) => tasksOf(spec, { index, how, readKey })) }
  },
  write: written,
}

const ROOT = 'an object with "specs"'

function byPriority(root: Entry | null): readonly Entry[] {
  return (root?.entries('specs') ?? []).toSorted((one, other) => priorityOf(one) - priorityOf(other))
}

function priorityOf(spec: Entry): number {
  const value = spec.scalar('priority')?.value
  return typeof value === 'number' ? value : Infinity
}

function tasksOf(
  spec: Entry,
  {
    index,
    how,
    readKey,
  }: {
    readonly index: number
    readonly how: ReadingOptions
    readonly readKey: ReturnType<typeof keyReader>
  },
): ForeignBacklog['drafts'] {
  const name = spec.text('name', 'id') || 'Spec'
  const tasks = spec.entries('tasks').flatMap((task) => {
    const key = readKey(task, task.text('id'))
    return key === null ? [] : [{ task, key, status: statusOf(task) }]
  })
  const open = tasks.filter(({ status }) => status !== 'dropped')
  if (open.length === 0)
    spec.source.report(spec.at, `the spec ${name} has no task that is to be done`, 'warning')
  const before = chained(
    open.map(({ key }) => key),
    how,
  )
  const ofAll = spec.texts('acceptanceCriteria').map((text) => ({ text, met: false, ofAll: true }))
  return tasks.map(({ task, key, status }): ForeignDraft => {
    const isLast = task === open.at(-1)?.task
    const description = task.text('description', 'title')
    return foreignDraft({
      key,
      title: titleOf(description),
      status,
      blockedReason: task.text('blockedReason'),
      milestone: `${index + 1} — ${name}`,
      depends: before(key),
      description,
      background: [
        ...heading(ABOUT, spec.text('context')),
        ...(isLast ? [] : heading(WHOLE, ofAll.map(({ text }) => `- ${text}`).join('\n'))),
      ],
      criteria: [...criteriaOf(task, 'acceptanceCriteria'), ...(isLast ? ofAll : [])],
      context: [spec.text('file')].filter(Boolean),
      place: task.source.placeOf(task.at),
    })
  })
}

const ABOUT = 'About the spec'
const WHOLE = 'When the whole spec is done'

function heading(title: string, text: string): readonly (readonly [string, string])[] {
  return text.trim() === '' ? [] : [[title, text]]
}

const WORDS = { TODO: 'pending', DONE: 'completed', BLOCKED: 'blocked' } as const

function written(path: string, sources: Sources, end: OriginEnd): ReadonlyMap<string, string> {
  const root = sources.root(path, ROOT)
  const readKey = keyReader()
  for (const spec of byPriority(root)) {
    const tasks = spec.entries('tasks')
    const keys = tasks.map((entry) => readKey(entry, entry.text('id')))
    const task = tasks[keys.indexOf(end.key)]
    if (!task || !root) continue
    const after = tasks.map((entry) => (entry === task ? end.status : statusOf(entry)))
    const splices: Splice[] = [
      ...setJson(task, 'status', WORDS[end.status]),
      ...(end.status === 'BLOCKED'
        ? setJson(task, 'blockedReason', end.reason)
        : removeJson(task, 'blockedReason')),
      ...setJson(spec, 'status', wholeStatus(after)),
      ...setJson(root, 'updatedAt', `${end.at.toISOString().slice(0, 19)}Z`),
      ...setJson(root, 'updatedBy', 'ralph'),
    ]
    return root.source.edited(splices)
  }
  return new Map()
}

/** The backlog as specs, one for each milestone. */
export function implementationText(drafts: readonly ForeignDraft[], now: Date): string {
  const milestones = [...new Set(drafts.map(({ milestone }) => milestone))]
  const specs = milestones.map((milestone, index) => specOf(milestone, index, drafts))
  const updatedAt = `${now.toISOString().slice(0, 19)}Z`
  return `${JSON.stringify({ version: 1, updatedAt, updatedBy: 'ralph', specs }, null, 2)}\n`
}

function specOf(milestone: string | null, index: number, drafts: readonly ForeignDraft[]): object {
  const own = drafts.filter((draft) => draft.milestone === milestone)
  const name = milestoneParts(milestone ?? 'Tasks').name || (milestone ?? 'Tasks')
  const context = own.flatMap(({ background }) =>
    background.flatMap(([title, text]) => (title === ABOUT ? [text] : [])),
  )
  const file = own.flatMap((draft) => draft.context)[0]
  const whole = own.flatMap(({ criteria }) => criteria.flatMap(({ ofAll, text }) => (ofAll ? [text] : [])))
  return {
    id: slugOf(name) || `spec-${index + 1}`,
    ...(file === undefined ? {} : { file }),
    name,
    priority: index + 1,
    status: wholeStatus(own.map(({ status }) => status)),
    ...(context[0] === undefined ? {} : { context: context[0] }),
    acceptanceCriteria: whole,
    tasks: own.map(({ key, description, title, status, criteria, blockedReason }) => ({
      id: key,
      description: description || title,
      status: WORDS[status],
      acceptanceCriteria: criteria.filter(({ ofAll }) => !ofAll).map(({ text }) => text),
      ...(status === 'BLOCKED' ? { blockedReason } : {}),
    })),
  }
}

/** A name as an id: `User avatars` is `user-avatars`. */
function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60)
}

/** A key for each text, from its words. */
export function slugKeys(texts: readonly string[], fallback: string): readonly string[] {
  const counts = new Map<string, number>()
  return texts.map((text) => {
    const slug = slugOf(text) || fallback
    const count = (counts.get(slug) ?? 0) + 1
    counts.set(slug, count)
    return count === 1 ? slug : `${slug}~${count}`
  })
}
