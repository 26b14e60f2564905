import { readDepends } from './depends.ts'
import { scanInlineText } from './inline.ts'
import type { Status, TaskHead } from './model.ts'
import { scanPlainBlock } from './plain-block.ts'
import { decoded, plainWords, type PlainWords } from './plain-words.ts'
import { hasLoneLineEnd, scanHeadings } from './scan.ts'
import { numberOf } from './values.ts'
import type { TaskBytes } from './task-text.ts'
import type { TaskVocabulary } from './vocabulary.ts'

/**
 * Reads what selection needs of a task file in the plainest style. Null for any other: a few slower readers come after
 * this one, and say the same of what it reads.
 */
export function scanHead({ file, id, bytes }: TaskBytes, vocabulary: TaskVocabulary): TaskHead | null {
  const words = plainWords(vocabulary)
  const top = bytes.toString('latin1', 0, TOP)
  let head = topOf(top, id, words)
  if (bytes.length > TOP && (head === null || head.end === top.length))
    head = topOf(bytes.toString('latin1'), id, words)
  if (head === null) return null
  const { status, needs } = head
  const held = status === 'TODO' ? isHeld(bytes.toString('latin1', Math.max(0, head.end - 1)), words) : false
  return held === null ? null : { id, number: numberOf(id), file, status, needs, held, problems: NO_PROBLEMS }
}

// Most blocks end before this, and of a task that is not TODO nothing more is looked at.
const TOP = 512
const NO_PROBLEMS: TaskHead['problems'] = []
const NO_NEEDS: readonly number[] = []

interface Top {
  readonly status: Status
  readonly needs: readonly number[]
  /** Where the first section begins. */
  readonly end: number
}

function topOf(source: string, id: string, words: PlainWords): Top | null {
  let status: Status | null = null
  let needs: readonly number[] | null = NO_NEEDS
  const end = scanPlainBlock(source, id, words, ({ name }, start, end) => {
    if (name === 'Status') status = words.status(source.slice(start, end))
    else if (name === 'Depends') needs = idsAt(source, start, end) ?? needsOf(source.slice(start, end))
  })
  return end === null || status === null || needs === null ? null : { status, needs, end }
}

/** The numbers of ` T-001, T-003`, written just so and in descending or ascending order; null for anything else. */
function idsAt(source: string, start: number, end: number): readonly number[] | null {
  const numbers: number[] = []
  for (let at = start; at < end; at++) {
    if (source.charCodeAt(at) !== BLANK || !source.startsWith('T-', at + 1)) return null
    let number = 0
    const digits = at + 3
    for (at = digits; at < end && at < digits + 12; at++) {
      const digit = source.charCodeAt(at) - ZERO
      if (digit < 0 || digit > 9) break
      number = number * 10 + digit
    }
    if (at === digits || (at < end && source.charCodeAt(at) !== COMMA) || at === end - 1) return null
    numbers.push(number)
  }
  return isDescending(numbers) || isDescending(numbers.toReversed()) ? numbers : null
}

const BLANK = 32
const COMMA = 44
const ZERO = 48

/** The numbers that a Depends value names; null where not all of it is ids. */
function needsOf(bytes: string): readonly number[] | null {
  const value = scanInlineText(decoded(bytes).trim())
  if (value === null) return null
  const { ids, stranger } = readDepends(value)
  if (stranger !== null) return null
  return [...new Set(ids.map(({ number }) => number))]
}

/** Numbers in order hold none twice, which is told faster so than by a set. */
function isDescending(numbers: readonly number[]): boolean {
  for (let i = 1; i < numbers.length; i++) if (numbers[i]! >= numbers[i - 1]!) return false
  return true
}

/** Whether the sections hold a Blocked one, from the line end before the first; null where only the parser can tell. */
function isHeld(source: string, words: PlainWords): boolean | null {
  if (hasLoneLineEnd(source)) return null
  return !ODD_HEADING.test(source) && saysNothingOfBlocked(source, words)
    ? false
    : hasBlockedSection(source, words)
}

// Whatever may make a second-level heading without beginning with two marks and a blank in the first column.
const ODD_HEADING = /\n(?: {0,3}-+[ \t]*(?:[\r\n]|$)| {1,3}##|##(?![# ])|## [^\n]*#)/

/** No line that is, or within a fence only looks like, a heading is Blocked. Nothing is scanned for that but these lines. */
function saysNothingOfBlocked(source: string, words: PlainWords): boolean {
  for (let at = source.indexOf('\n## '); at >= 0; at = source.indexOf('\n## ', at + 1)) {
    const end = source.indexOf('\n', at + 4)
    const name = words.title(source.slice(at + 4, end < 0 ? source.length : end))
    if (name === 'Blocked' || name === 'unclear') return false
  }
  return true
}

/** Null where only the parser can tell. */
function hasBlockedSection(source: string, words: PlainWords): boolean | null {
  const headings = scanHeadings(source, 0)
  if (headings === null) return null
  for (const { depth, text } of headings) {
    const name = depth === 2 ? words.title(source.slice(text.start, text.end)) : 'another'
    if (name === 'unclear') return null
    if (name === 'Blocked') return true
  }
  return false
}
