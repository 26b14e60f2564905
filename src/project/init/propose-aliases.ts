import {
  FIELD_NAMES,
  SECTION_NAMES,
  STATUSES,
  fieldOf,
  type Field,
  type FieldName,
  type SectionName,
  type Status,
  type Task,
} from '../../task/model.ts'
import { wordKey } from '../../task/vocabulary.ts'
import { FIELD_WORDS, SECTION_WORDS, STATUS_WORDS } from './words.ts'

/** A team's own words as they can be told from its backlog; only what was found. */
export interface ProposedAliases {
  readonly fields: Partial<Record<FieldName, readonly string[]>>
  readonly statuses: Partial<Record<Status, readonly string[]>>
  readonly sections: Partial<Record<SectionName, readonly string[]>>
}

/**
 * Tells what a backlog calls the things that ralph knows: by words that teams are known to use, and where those don't
 * help by what stands there. The field that holds ids is Depends; the one with few values that nearly every file has is
 * Status.
 */
export function proposeAliases(tasks: readonly Task[]): ProposedAliases {
  const keys = unknownKeys(tasks)
  const fields: Partial<Record<FieldName, readonly string[]>> = {}
  for (const name of FIELD_NAMES) {
    const words = [...keys.keys()].filter((key) => isWord(key, FIELD_WORDS[name] ?? []))
    if (words.length > 0) fields[name] = words
  }
  const taken = new Set(Object.values(fields).flat())
  const open = [...keys].filter(([key]) => !taken.has(key))
  const depends = open.find(
    ([, values]) => values.some(holdsIds) && values.every((value) => holdsIds(value) || isNone(value)),
  )
  if (!fields.Depends && !usesField(tasks, 'Depends') && depends) fields.Depends = [depends[0]]
  const status = open.find(([key, values]) => key !== depends?.[0] && looksLikeStatus(values, tasks.length))
  if (!fields.Status && !usesField(tasks, 'Status') && status) fields.Status = [status[0]]
  return { fields, statuses: statusWords(tasks, fields.Status ?? []), sections: sectionWords(tasks) }
}

function unknownKeys(tasks: readonly Task[]): ReadonlyMap<string, readonly string[]> {
  const keys = new Map<string, string[]>()
  for (const field of tasks.flatMap((task) => task.fields)) {
    if (field.name !== null) continue
    keys.set(field.key, [...(keys.get(field.key) ?? []), field.value])
  }
  return keys
}

function usesField(tasks: readonly Task[], name: FieldName): boolean {
  return tasks.some((task) => fieldOf(task, name))
}

const holdsIds = (value: string): boolean =>
  /^\W*T-\d+(?:[\s,;、~–—.-]*(?:and\b|to\b)?[\s,;、]*T-\d+)*\W*$/iu.test(value)

/** Whatever a language says for none is short and holds no digit. */
const isNone = (value: string): boolean => value.length <= 12 && !/\d/.test(value)

const MOST_STATUSES = 6
const LONGEST_STATUS = 24

/** Short words, few of them, in nearly every file; in a small backlog at least one that comes twice. */
function looksLikeStatus(values: readonly string[], files: number): boolean {
  const distinct = new Set(values.map(wordKey))
  const areShort = values.every(
    (value) => value !== '' && value.length <= LONGEST_STATUS && !/\d/.test(value),
  )
  const areFew = distinct.size <= MOST_STATUSES && distinct.size < Math.max(2, values.length)
  return areShort && areFew && values.length >= files * 0.9
}

function statusWords(tasks: readonly Task[], keys: readonly string[]): ProposedAliases['statuses'] {
  const found: Partial<Record<Status, string[]>> = {}
  for (const task of tasks) {
    const field = statusField(task, keys)
    if (!field || task.status !== null || field.value === '') continue
    const status = statusOf(field.value, task)
    if (status && !found[status]?.includes(field.value))
      found[status] = [...(found[status] ?? []), field.value]
  }
  return found
}

function statusField(task: Task, keys: readonly string[]): Field | undefined {
  return fieldOf(task, 'Status') ?? task.fields.find(({ key }) => keys.includes(key))
}

/** By its sign or word; else a task all of whose boxes are checked is done. */
function statusOf(value: string, task: Task): Status | undefined {
  if (/^(?:TODO|DONE|BLOCKED)$/i.test(value)) return undefined
  if (/[✅✔☑]/u.test(value)) return 'DONE'
  if (/[⛔🚫❌]/u.test(value)) return 'BLOCKED'
  const word = value.replace(/[^\p{L}\p{N}\s]/gu, '').trim()
  const known = STATUSES.find((status) => isWord(word, [status, ...STATUS_WORDS[status]]))
  if (known) return known
  const boxes = task.source.match(/^\s*[-*+]\s+\[[ xX]\]/gm) ?? []
  return boxes.length > 0 && boxes.every((box) => !box.endsWith('[ ]')) ? 'DONE' : undefined
}

function sectionWords(tasks: readonly Task[]): ProposedAliases['sections'] {
  const titles = new Set(
    tasks
      .flatMap((task) => task.sections)
      .filter(({ name }) => name === null)
      .map(({ title }) => title),
  )
  const found: Partial<Record<SectionName, readonly string[]>> = {}
  for (const name of SECTION_NAMES) {
    const words = [...titles].filter((title) => isWord(title, SECTION_WORDS[name] ?? []))
    if (words.length > 0) found[name] = words
  }
  return found
}

function isWord(text: string, words: readonly string[]): boolean {
  const wanted = wordKey(text)
  return words.some((word) => wordKey(word) === wanted)
}
