import {
  FIELD_NAMES,
  SECTION_NAMES,
  STATUSES,
  fieldOf,
  type FieldName,
  type Status,
  type Task,
} from '../../backlog/model.ts'
import { compareNumbers, type TaskIds } from '../../backlog/ids.ts'
import { namesOthers, OTHERS, withoutRemark, wordKey } from '../../backlog/vocabulary.ts'
import { FIELD_WORDS, SECTION_WORDS, STATUS_WORDS } from './words.ts'

/** A team's own words as found in its backlog. */
export type ProposedAliases = ReturnType<typeof proposeAliases>

/**
 * Finds a backlog's own words for ralph's names: by words that teams are known to use, else
 * by the content. The field with ids of earlier tasks is Depends; the short field whose values are words for
 * a status is Status. A guess that could reverse or invent an order is worse than none.
 */
export function proposeAliases(tasks: readonly Task[], ids: TaskIds) {
  const keys = unknownKeys(tasks)
  const fields = wordsFor(FIELD_NAMES, [...keys.keys()], FIELD_WORDS, (name, key) =>
    // Beside the field itself, its word means something else.
    keys.get(key)!.every(({ task }) => !fieldOf(task, name)),
  )
  const taken = new Set(Object.values(fields).flat())
  const open = [...keys].filter(([key]) => !taken.has(key))
  const propose = (name: FieldName, found: readonly (readonly [string, readonly Use[]])[]): void => {
    // With two candidates nobody knows which one is right.
    const isUsed = fields[name] ?? tasks.some((task) => fieldOf(task, name))
    if (!isUsed && found.length === 1) fields[name] = [found[0]![0]]
  }
  propose(
    'Depends',
    open.filter(([key, uses]) => !namesOthers(OTHERS, key) && looksLikeDepends(uses, ids)),
  )
  propose(
    'Status',
    open.filter(([, uses]) => looksLikeStatus(uses, tasks.length)),
  )
  const sections = tasks.flatMap((task) => task.sections.filter(({ name }) => name === null))
  const titles = [...new Set(sections.map(({ title }) => title))]
  return {
    fields,
    statuses: statusWords(tasks, fields.Status ?? []),
    sections: wordsFor(SECTION_NAMES, titles, SECTION_WORDS),
  }
}

/** The words among these that teams are known to use for each name. */
function wordsFor<Name extends string>(
  names: readonly Name[],
  candidates: readonly string[],
  known: Partial<Record<Name, readonly string[]>>,
  isFree: (name: Name, word: string) => boolean = () => true,
) {
  const found: Partial<Record<Name, readonly string[]>> = {}
  for (const name of names) {
    const words = candidates.filter((one) => isWord(one, known[name] ?? []) && isFree(name, one))
    if (words.length > 0) found[name] = words
  }
  return found
}

/** The value of a field in one of the tasks. */
interface Use {
  readonly task: Task
  readonly value: string
}

function unknownKeys(tasks: readonly Task[]): ReadonlyMap<string, readonly Use[]> {
  const keys = new Map<string, Use[]>()
  for (const task of tasks)
    for (const { name, key, value } of task.fields)
      if (name === null) keys.set(key, [...(keys.get(key) ?? []), { task, value }])
  return keys
}

const ONLY_IDS = String.raw`^\W*<named>(?:[\s,;、~–—.-]*(?:and\b|to\b)?[\s,;、]*<named>)*\W*$`

/** In any language, the word for none is short and has no digit. */
const isNone = (value: string): boolean => value.length <= 12 && !/\d/.test(value)

/** Whether the values are ids, and only of earlier tasks: later ones would be what the task unblocks, its own its id. */
function looksLikeDepends(uses: readonly Use[], ids: TaskIds): boolean {
  const holdsIds = (value: string): boolean => ids.regex(ONLY_IDS, 'iu').test(value)
  const areIds = uses.some(({ value }) => holdsIds(value))
  return (
    areIds &&
    uses.every(({ task, value }) => isNone(value) || (holdsIds(value) && areEarlier(value, task, ids)))
  )
}

function areEarlier(value: string, { number }: Task, ids: TaskIds): boolean {
  return [...value.matchAll(ids.regex('<named>', 'gi'))].every(
    ([id]) => compareNumbers(ids.numberOf(id), number) < 0,
  )
}

const LONGEST_STATUS = 24

/** Whether nearly every file has a word for a status there. */
function looksLikeStatus(uses: readonly Use[], files: number): boolean {
  const areWords = uses.every(
    ({ value }) => /^(?:TODO|DONE|BLOCKED)$/i.test(value) || statusOf(value) !== undefined,
  )
  return areWords && uses.length >= files * 0.9
}

function statusWords(tasks: readonly Task[], keys: readonly string[]) {
  const found: Partial<Record<Status, readonly string[]>> = {}
  for (const task of tasks) {
    const field = fieldOf(task, 'Status') ?? task.fields.find(({ key }) => keys.includes(key))
    if (!field || task.status !== null || field.value === '') continue
    const value = withoutRemark(field.value)
    const status = statusOf(value)
    if (status && !found[status]?.includes(value)) found[status] = [...(found[status] ?? []), value]
  }
  return found
}

/** The status by its sign or word; a sentence has none. */
function statusOf(value: string): Status | undefined {
  if (/^(?:TODO|DONE|BLOCKED)$/i.test(value) || value.length > LONGEST_STATUS) return undefined
  if (/[✅✔☑]/u.test(value)) return 'DONE'
  if (/[⛔🚫❌]/u.test(value)) return 'BLOCKED'
  const word = value.replace(/[^\p{L}\p{N}\s]/gu, '').trim()
  return STATUSES.find((status) => isWord(word, [status, ...STATUS_WORDS[status]]))
}

function isWord(text: string, words: readonly string[]): boolean {
  const wanted = wordKey(text)
  return words.some((word) => wordKey(word) === wanted)
}
