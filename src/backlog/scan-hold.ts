import { ownText } from './byte-text.ts'
import { readDepends } from './depends.ts'
import { SECTION_NAMES } from './model.ts'
import type { PlainWords } from './plain-words.ts'
import { hasLoneLineEnd, scanHeadings } from './markdown/scan.ts'

/**
 * Makes the test whether there is a Blocked section, from the line end before the first; null if only the parser can
 * decide. Tests only lines that are unusual headings, or look like one inside a fence.
 */
export function holdReader(words: PlainWords): (source: string) => boolean | null {
  const usual = SECTION_NAMES.filter((name) => words.title(name) !== 'Blocked').join('|')
  // Then other forms of a second-level heading, which do not begin with two marks and a blank in the first column.
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
      if (mayListIds(source, end)) return null
    }
    return false
  }
}

/** Null if only the parser can decide. */
function hasBlockedSection(source: string, words: PlainWords): boolean | null {
  const headings = scanHeadings(source, 0)
  if (headings === null) return null
  for (const { depth, text } of headings) {
    const name = depth === 2 ? words.title(source.slice(text.start, text.end)) : 'another'
    if (name === 'unclear') return null
    if (name === 'Blocked') return true
    if (name === 'another' && depth === 2 && mayListIds(source, source.indexOf('\n', text.end))) return null
  }
  return false
}

/** Whether the text after a heading may be a list of ids, which may be dependencies; lines that say `none` may begin it. */
function mayListIds(source: string, headingEnd: number): boolean {
  for (let at = headingEnd; at >= 0; at = source.indexOf('\n', at + 1)) {
    BEGINS_WITH_ID.lastIndex = at
    if (BEGINS_WITH_ID.test(source)) return true
    const end = source.indexOf('\n', at + 1)
    const line = ownText(source.slice(at, end < 0 ? source.length : end)).trim()
    if (line !== '' && readDepends(line.replace(BULLET, '')).stranger !== null) return false
  }
  return false
}

const BULLET = /^(?:(?:[-*+]|\d+[.)])\s+)*(?:\[[ xX]\]\s+)?/
const BEGINS_WITH_ID = /\s*(?:<!--|(?:(?:[-*+]|\d+[.)])\s+)*(?:\[[ xX]\]\s+)?[[*_`~]*T-\d)/iy
