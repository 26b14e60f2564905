import type { TaskFile } from './parse.ts'
import { idInPath } from './file-name.ts'
import { readDependencies } from './depends.ts'
import { scanInlineText } from './inline.ts'
import { type Field, FIELD_NAMES, type FieldName, type TaskHead } from './model.ts'
import { hasLoneLineEnd, scanHeadings } from './scan.ts'
import { numberOf } from './values.ts'
import { type TaskVocabulary, wordKey } from './vocabulary.ts'

/**
 * Reads what selection needs of a task file in the plainest style: a heading with the file's id, one bullet a field,
 * then sections. Null for any other: a few slower readers come after this one, and say the same of what it reads.
 */
export function scanHead({ file, text: source }: TaskFile, vocabulary: TaskVocabulary): TaskHead | null {
  const id = idInPath(file)
  const start = afterHeading(source, id)
  if (start === null || hasLoneLineEnd(source)) return null
  const block = scanBlock(source, start, vocabulary)
  if (block === null) return null
  const status = vocabulary.statuses.get(wordKey(block.status.value))
  if (status === undefined) return null
  const { found: depends, problems } = readDependencies(block.depends, source, id)
  if (problems.length > 0) return null
  const held = status === 'TODO' ? hasBlockedSection(source, block.end, vocabulary) : false
  return held === null
    ? null
    : { id, number: numberOf(id), file, status, depends, held, problems: NO_PROBLEMS }
}

const NO_PROBLEMS: TaskHead['problems'] = []

/** Where the line after `# T-004: …` begins. */
function afterHeading(source: string, id: string): number | null {
  if (!source.startsWith('# ') || !source.startsWith(id, 2) || source.charCodeAt(2 + id.length) !== 58)
    return null
  const feed = source.indexOf('\n')
  return feed < 0 ? source.length : feed + 1
}

type PlainField = Pick<Field, 'value' | 'valueSpan'>

interface PlainBlock {
  readonly status: PlainField
  readonly depends: PlainField | undefined
  /** Where the first section begins. */
  readonly end: number
}

/** The block's Status and Depends, where it is nothing but blank lines and bullets of one line, no field twice. */
function scanBlock(source: string, start: number, vocabulary: TaskVocabulary): PlainBlock | null {
  let status: PlainField | undefined
  let depends: PlainField | undefined
  let seen = 0
  let at = start
  while (at < source.length) {
    const feed = source.indexOf('\n', at)
    const next = feed < 0 ? source.length : feed + 1
    const end = feed < 0 ? next : feed > at && source.charCodeAt(feed - 1) === 13 ? feed - 1 : feed
    const isBlank = end === at
    if (!isBlank && source.startsWith('## ', at)) break
    const colon = isBlank ? -1 : bulletColon(source, at, end)
    if (!isBlank && colon < 0) return null
    const name = isBlank ? null : nameOf(source.slice(at + 4, colon - 2), vocabulary)
    at = next
    if (name === null) continue
    const bit = 1 << FIELD_NAMES.indexOf(name)
    if ((seen & bit) !== 0) return null
    seen |= bit
    if (name !== 'Status' && name !== 'Depends') continue
    const value = scanInlineText(source.slice(colon + 1, end).trim())
    if (value === null) return null
    const field = { value, valueSpan: { start: colon + 1, end } }
    if (name === 'Status') status = field
    else depends = field
  }
  return status ? { status, depends, end: at } : null
}

/** The colon of `- **Key**:`, where the key is a word that means nothing else to Markdown. */
function bulletColon(source: string, at: number, end: number): number {
  if (!source.startsWith('- **', at)) return -1
  const colon = source.indexOf('**:', at + 4)
  if (colon < 0 || colon >= end) return -1
  for (let i = at + 4; i < colon; i++)
    if (!isKeyUnit(source.charCodeAt(i), i === at + 4 || i === colon - 1)) return -1
  return colon === at + 4 ? -1 : colon + 2
}

/** Letters and digits, and between them spaces. */
function isKeyUnit(unit: number, isEdge: boolean): boolean {
  if (unit === 32) return !isEdge
  return (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90) || (unit >= 48 && unit <= 57) || unit > 191
}

const NAMES = new WeakMap<TaskVocabulary, Map<string, FieldName | null>>()

/** The field that a key means. Backlogs have a handful of keys, thousands of times. */
function nameOf(key: string, vocabulary: TaskVocabulary): FieldName | null {
  let names = NAMES.get(vocabulary)
  if (names === undefined) NAMES.set(vocabulary, (names = new Map()))
  let name = names.get(key)
  if (name === undefined) names.set(key, (name = vocabulary.fields.get(wordKey(key)) ?? null))
  return name
}

/** Null where only the parser can tell. */
function hasBlockedSection(source: string, from: number, vocabulary: TaskVocabulary): boolean | null {
  const headings = scanHeadings(source, from)
  if (headings === null) return null
  for (const { depth, text } of headings) {
    if (depth === 1) continue
    const title = scanInlineText(source.slice(text.start, text.end))
    if (title === null) return null
    if (vocabulary.sections.get(wordKey(title)) === 'Blocked') return true
  }
  return false
}
