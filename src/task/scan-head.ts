import { SECTION_NAMES, type Status, type TaskHead } from './model.ts'
import { plainBlockScanner } from './plain-block.ts'
import { NO_NEEDS, plainNeeds } from './plain-needs.ts'
import { perVocabulary, plainWords, type PlainWords } from './plain-words.ts'
import { hasLoneLineEnd, scanHeadings } from './scan.ts'
import { numberOf } from './values.ts'
import type { TaskBytes } from './task-text.ts'
import type { TaskVocabulary } from './vocabulary.ts'

/**
 * Reads what selection needs of a task file in the plainest style. Null for any other: a few slower readers come after
 * this one, and say the same of what it reads.
 */
export function scanHead(taskBytes: TaskBytes, vocabulary: TaskVocabulary): TaskHead | null {
  const { words, scanBlock, isHeld } = readersOf(vocabulary)
  const block = scanBlock(taskBytes)
  if (block === null) return null
  let status: Status | null = null
  let needs: readonly number[] | null = NO_NEEDS
  for (let i = 0; i < block.fields.length; i++) {
    const name = block.fields[i]?.name
    const value = block.values[i]
    if (value === undefined) continue
    if (name === 'Status') status = words.status(value)
    else if (name === 'Depends') needs = plainNeeds(value)
  }
  if (status === null || needs === null) return null
  const { file, id, bytes } = taskBytes
  const held = status === 'TODO' ? isHeld(bytes.toString('latin1', Math.max(0, block.end - 1))) : false
  return held === null ? null : { id, number: numberOf(id), file, status, needs, held, problems: NO_PROBLEMS }
}

const NO_PROBLEMS: TaskHead['problems'] = []

const readersOf = perVocabulary((vocabulary) => {
  const words = plainWords(vocabulary)
  const scanBlock = plainBlockScanner(words, ({ name }) => name === 'Status' || name === 'Depends')
  return { words, scanBlock, isHeld: holdReader(words) }
})

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
