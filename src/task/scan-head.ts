import { idInPath } from './file-name.ts'
import { readDepends } from './depends.ts'
import { scanInlineText } from './inline.ts'
import { FIELD_NAMES, type FieldName, type TaskHead } from './model.ts'
import { hasLoneLineEnd, scanHeadings } from './scan.ts'
import { numberOf } from './values.ts'
import { lookUp, type TaskVocabulary } from './vocabulary.ts'

/**
 * Reads what selection needs of a task file in the plainest style: a heading with the file's id, one bullet a field,
 * then sections. Null for any other: a few slower readers come after this one, and say the same of what it reads.
 * The text is the file's bytes, each as one unit. All that counts for its structure is ASCII, most of the rest is
 * never looked at, and so nothing is decoded but the few words in other letters.
 */
export function scanHead(file: string, source: string, vocabulary: TaskVocabulary): TaskHead | null {
  const id = idInPath(file)
  const start = afterHeading(source, id)
  if (start === null || hasLoneLineEnd(source)) return null
  const block = scanBlock(source, start, vocabulary)
  if (block === null) return null
  const status = lookUp(vocabulary.statuses, block.status)
  if (status === undefined) return null
  const needs = needsOf(block.depends)
  if (needs === null) return null
  const held = status === 'TODO' ? hasBlockedSection(source, block.end, vocabulary) : false
  return held === null ? null : { id, number: numberOf(id), file, status, needs, held, problems: NO_PROBLEMS }
}

const NO_PROBLEMS: TaskHead['problems'] = []

/** The numbers that a Depends value names; null where not all of it is ids. */
function needsOf(value: string | undefined): readonly number[] | null {
  if (value === undefined) return NO_NEEDS
  const { ids, stranger } = readDepends(value)
  if (stranger !== null) return null
  const needs = ids.map(({ number }) => number)
  return needs.length > 1 ? [...new Set(needs)] : needs
}

const NO_NEEDS: readonly number[] = []

/** Where the line after `# T-004: …` begins. */
function afterHeading(source: string, id: string): number | null {
  if (!source.startsWith('# ') || !source.startsWith(id, 2) || source.charCodeAt(2 + id.length) !== 58)
    return null
  const feed = source.indexOf('\n')
  return feed < 0 ? source.length : feed + 1
}

interface PlainBlock {
  readonly status: string
  readonly depends: string | undefined
  /** Where the first section begins. */
  readonly end: number
}

/** The block's Status and Depends, where it is nothing but blank lines and bullets of one line, no field twice. */
function scanBlock(source: string, start: number, vocabulary: TaskVocabulary): PlainBlock | null {
  let status: string | undefined
  let depends: string | undefined
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
    const name = isBlank ? 'unknown' : meaningOf(source.slice(at + 4, colon - 2), vocabulary)
    if (name === 'unclear') return null
    at = next
    if (name === 'unknown') continue
    const bit = 1 << FIELD_NAMES.indexOf(name)
    if ((seen & bit) !== 0) return null
    seen |= bit
    if (name !== 'Status' && name !== 'Depends') continue
    const value = scanInlineText(decoded(source.slice(colon + 1, end)).trim())
    if (value === null) return null
    if (name === 'Status') status = value
    else depends = value
  }
  return status !== undefined ? { status, depends, end: at } : null
}

/** The colon of `- **Key**:`, or -1. */
function bulletColon(source: string, at: number, end: number): number {
  if (!source.startsWith('- **', at)) return -1
  const mark = source.indexOf('**:', at + 4)
  return mark < 0 || mark >= end ? -1 : mark + 2
}

const KEYS = new WeakMap<TaskVocabulary, Map<string, FieldName | 'unknown' | 'unclear'>>()

/** What a key means. A backlog has a handful of keys, thousands of times. */
function meaningOf(key: string, vocabulary: TaskVocabulary): FieldName | 'unknown' | 'unclear' {
  let keys = KEYS.get(vocabulary)
  if (keys === undefined) KEYS.set(vocabulary, (keys = new Map()))
  let meaning = keys.get(key)
  if (meaning === undefined) {
    const word = decoded(key)
    meaning = IS_PLAIN_KEY.test(word) ? (lookUp(vocabulary.fields, word) ?? 'unknown') : 'unclear'
    keys.set(key, meaning)
  }
  return meaning
}

// Letters and digits, and between them spaces: nothing that could be more to Markdown than a word.
const IS_PLAIN_KEY = /^[\p{L}\p{N}](?:[\p{L}\p{N} ]{0,38}[\p{L}\p{N}])?$/u

/** Bytes, each as one unit, as the text that they are. */
function decoded(bytes: string): string {
  return /^[\0-\x7f]*$/.test(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8')
}

/** Null where only the parser can tell. */
function hasBlockedSection(source: string, from: number, vocabulary: TaskVocabulary): boolean | null {
  const headings = scanHeadings(source, from)
  if (headings === null) return null
  for (const { depth, text } of headings) {
    if (depth === 1) continue
    const title = scanInlineText(decoded(source.slice(text.start, text.end)))
    if (title === null) return null
    if (lookUp(vocabulary.sections, title) === 'Blocked') return true
  }
  return false
}
