import { milestoneParts } from '../../backlog/milestone.ts'
import { removeJson, setJson } from './edit.ts'
import {
  chained,
  foreignDraft,
  grouped,
  titleOf,
  wholeStatus,
  type ForeignDraft,
  type ForeignTask,
  type Format,
  type ReadingOptions,
} from './format.ts'
import { byPriority, criteriaOf, keyReader, statusOf, type Entry } from './source.ts'

/** Specs, each with its tasks, in `implementation.json`. */
export const implementation: Format = {
  about: 'specs and their tasks (implementation.json)',
  find: (path, sources) => sources.items(path, 'specs') && path,
  read(path, sources, how) {
    const root = sources.root(path, 'an object with "specs"')
    const specs = (root?.entries('specs') ?? []).toSorted(byPriority)
    const readKey = keyReader()
    return {
      tasks: specs.flatMap((spec, index) => tasksOf(spec, { root: root!, number: index + 1, readKey, how })),
    }
  },
}

const ABOUT = 'About the spec'
const WHOLE = 'When the whole spec is done'
const WORDS = { TODO: 'pending', DONE: 'completed', BLOCKED: 'blocked' } as const

function tasksOf(
  spec: Entry,
  around: { root: Entry; number: number; readKey: ReturnType<typeof keyReader>; how: ReadingOptions },
): readonly ForeignTask[] {
  const { root, number, readKey, how } = around
  const name = spec.text('name', 'id') || 'Spec'
  const tasks = spec.entries('tasks').flatMap((entry) => {
    const key = readKey(entry)
    return key === null ? [] : [{ entry, key, status: statusOf(entry) }]
  })
  const open = tasks.filter(({ status }) => status !== 'dropped')
  if (open.length === 0)
    spec.source.report(spec.at, `the spec ${name} has no task that is to be done`, 'warning')
  const before = chained(open, how)
  const ofAll = spec.texts('acceptanceCriteria').map((text) => ({ text, met: false, ofAll: true }))
  return tasks.map(({ entry, key, status }) => ({
    key,
    draft() {
      const isLast = entry === open.at(-1)?.entry
      const description = entry.text('description', 'title')
      const background = [
        [ABOUT, spec.text('context')],
        [WHOLE, isLast ? '' : ofAll.map(({ text }) => `- ${text}`).join('\n')],
      ] as const
      return foreignDraft({
        key,
        title: titleOf(entry.text('title') || description),
        status,
        blockedReason: entry.text('blockedReason'),
        milestone: `${number} — ${name}`,
        depends: before(key),
        description,
        background: background.filter(([, text]) => text.trim() !== ''),
        criteria: [...criteriaOf(entry, 'acceptanceCriteria'), ...(isLast ? ofAll : [])],
        context: [spec.text('file')].filter(Boolean),
        place: entry.source.placeOf(entry.at),
      })
    },
    write: (end) => [
      ...setJson(entry, 'status', WORDS[end.status]),
      ...(end.status === 'BLOCKED'
        ? setJson(entry, 'blockedReason', end.reason)
        : removeJson(entry, 'blockedReason')),
      ...setJson(
        spec,
        'status',
        wholeStatus(tasks.map((one) => (one.entry === entry ? end.status : one.status))),
      ),
      ...setJson(root, 'updatedAt', secondsOf(end.at)),
      ...setJson(root, 'updatedBy', 'ralph'),
    ],
  }))
}

function secondsOf(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`
}

/** The backlog as specs, one for each milestone. */
export function implementationText(drafts: readonly ForeignDraft[], now: Date): string {
  const specs = [...grouped(drafts, ({ milestone }) => milestone)].map(specOf)
  return `${JSON.stringify({ version: 1, updatedAt: secondsOf(now), updatedBy: 'ralph', specs }, null, 2)}\n`
}

function specOf([milestone, own]: readonly [string | null, readonly ForeignDraft[]], index: number): object {
  const name = milestoneParts(milestone ?? 'Tasks').name || (milestone ?? 'Tasks')
  const about = own.flatMap(({ background }) => background).find(([title]) => title === ABOUT)
  return {
    id: slugOf(name) || `spec-${index + 1}`,
    file: own.flatMap(({ context }) => context)[0],
    name,
    priority: index + 1,
    status: wholeStatus(own.map(({ status }) => status)),
    context: about?.[1],
    acceptanceCriteria: own.flatMap(({ criteria }) =>
      criteria.filter(({ ofAll }) => ofAll).map(({ text }) => text),
    ),
    tasks: own.map(({ key, description, title, status, criteria, blockedReason }) => ({
      id: key,
      title: titleOf(description || title) === title ? undefined : title,
      description: description || title,
      status: WORDS[status],
      acceptanceCriteria: criteria.filter(({ ofAll }) => !ofAll).map(({ text }) => text),
      blockedReason: status === 'BLOCKED' ? blockedReason : undefined,
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
