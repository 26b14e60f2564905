import { readDepends } from './depends.ts'
import { scanInlineText } from './inline.ts'
import { SECTION_NAMES, type Status, type TaskHead } from './model.ts'
import { plainBlockScanner } from './plain-block.ts'
import { decoded, perVocabulary, plainWords, type PlainWords } from './plain-words.ts'
import { hasLoneLineEnd, scanHeadings } from './scan.ts'
import { numberOf } from './values.ts'
import type { TaskBytes } from './task-text.ts'
import type { TaskVocabulary } from './vocabulary.ts'

/**
 * Reads what selection needs of a task file in the plainest style. Null for any other: a few slower readers come after
 * this one, and say the same of what it reads.
 */
export function scanHead({ file, id, bytes }: TaskBytes, vocabulary: TaskVocabulary): TaskHead | null {
  const { topOf, isHeld } = readersOf(vocabulary)
  const top = bytes.toString('latin1', 0, TOP)
  let head = topOf(top, id)
  if (bytes.length > TOP && (head === null || head.end === top.length))
    head = topOf(bytes.toString('latin1'), id)
  if (head === null) return null
  const { status, needs } = head
  const held = status === 'TODO' ? isHeld(bytes.toString('latin1', Math.max(0, head.end - 1))) : false
  return held === null ? null : { id, number: numberOf(id), file, status, needs, held, problems: NO_PROBLEMS }
}

const readersOf = perVocabulary((vocabulary) => {
  const words = plainWords(vocabulary)
  return { topOf: topReader(words), isHeld: holdReader(words) }
})

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

function topReader(words: PlainWords): (source: string, id: string) => Top | null {
  const scanBlock = plainBlockScanner(words, ({ name }) => name === 'Status' || name === 'Depends')
  return (source, id) => {
    let status: Status | null = null
    let needs: readonly number[] | null = NO_NEEDS
    const end = scanBlock(source, id, ({ name }, start, end) => {
      if (name === 'Status') status = words.status(source.slice(start, end))
      else needs = idsAt(source, start, end) ?? needsOf(source.slice(start, end))
    })
    return end === null || status === null || needs === null ? null : { status, needs, end }
  }
}

/** The numbers of ` T-001, T-003`, written just so and in descending or ascending order; null for anything else. */
function idsAt(source: string, start: number, end: number): readonly number[] | null {
  let count = 0
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
    scratch[count++] = number
  }
  if (count === 1) return [scratch[0]!]
  const numbers = scratch.slice(0, count)
  return isInOrder(numbers) ? numbers : null
}

// One list to gather in: a list that grows has room for more, ten thousand times.
const scratch: number[] = []
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
function isInOrder(numbers: readonly number[]): boolean {
  const isRising = numbers[1]! > numbers[0]!
  for (let i = 1; i < numbers.length; i++) {
    const [before, after] = [numbers[i - 1]!, numbers[i]!]
    if (isRising ? before >= after : before <= after) return false
  }
  return true
}

/**
 * Tells whether the sections hold a Blocked one, from the line end before the first; null where only the parser can.
 * Nothing is looked at but lines that are, or within a fence only look like, a heading other than the usual ones.
 */
function holdReader(words: PlainWords): (source: string) => boolean | null {
  const usual = SECTION_NAMES.filter((name) => words.title(name) !== 'Blocked').join('|')
  // Then whatever may make a heading of the second level without beginning with two marks and a blank in the first column.
  const place = new RegExp(
    `\\n(?:## (?!(?:${usual})\\r?\\n)| {0,3}-+[ \\t]*(?:[\\r\\n]|$)| {1,3}##|##(?![# ]))`,
    'g',
  )
  return (source) => {
    if (hasLoneLineEnd(source)) return null
    place.lastIndex = 0
    while (place.test(source)) {
      const at = place.lastIndex
      const end = source.indexOf('\n', at)
      const title = source.slice(at, end < 0 ? source.length : end)
      const isPlain = source.startsWith('\n## ', at - 4) && !title.includes('#')
      const name = isPlain ? words.title(title) : 'unclear'
      if (name === 'Blocked' || name === 'unclear') return hasBlockedSection(source, words)
    }
    return false
  }
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
