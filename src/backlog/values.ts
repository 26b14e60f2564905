import { splitOutsideBraces } from '../base/text.ts'

// Also in Chinese, Japanese, Korean, Spanish, Portuguese, French, German, Italian, Russian.
const NONE_WORDS =
  'none (none) n/a - – — 无 無 無し なし 없음 ninguna ninguno nenhuma nenhum aucune aucun nada keine nessuna нет'
const NONE = new Set(['', ...NONE_WORDS.split(' ')])
// Leaves room for blanks around it.
const LONGEST_NONE = 40
const COMMA = /[,，、\n]/
const NOTHING: readonly string[] = []

/** Whether a value means `none`. */
export function isNone(value: string): boolean {
  if (value.length > LONGEST_NONE) return false
  return NONE.has(value.trim().toLowerCase())
}

/** The comma-separated parts of a value, ignoring commas in braces; empty for `none`. */
export function splitList(value: string): readonly string[] {
  if (value === '' || isNone(value)) return NOTHING
  if (!COMMA.test(value)) return [value.trim()]
  return splitOutsideBraces(value, COMMA)
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** The tags of a value, without a leading `#`. */
export function splitTags(value: string): readonly string[] {
  return value === '' ? NOTHING : splitList(value).map((tag) => tag.replace(/^#/, ''))
}

/** The paths of a value, without remarks in brackets after them. */
export function splitPaths(value: string): readonly string[] {
  return splitList(/[)）]/.test(value) ? withoutRemarks(value) : value)
}

/** An ASCII bracket begins a remark only after a blank: `app/(auth)/page.tsx` is a path. */
export function withoutRemarks(value: string): string {
  return value.replace(REMARK, '')
}

const REMARK = /(?:(?<=\s)\(|（)[^()（）]*[)）](?=\s*(?:[,，、\n]|$))/g

/**
 * `§3.2, §4`, also without commas; `Section 3.2`, `§3.1 – §3.3` and the words of a heading are one reference each,
 * and so is a section of a plan's requirements, `user-api §2`.
 */
export function splitReferences(value: string): readonly string[] {
  if (value === '' || isNone(value)) return NOTHING
  // The usual form, with the same result at a third of the cost.
  if (/^§[\d.]+(?:, §[\d.]+)*$/.test(value)) return value.split(', ')
  return value
    .replace(/\s+/g, ' ')
    .replace(PLAN_REFERENCE, (reference) => `${reference.slice(0, -1)}${BOUND}`)
    .split(BETWEEN_REFERENCES)
    .map((part) => part.replace(BOUND, ' ').trim())
    .filter((part) => part !== '' && part !== '§')
}

// A lower-case word at the beginning of a reference, like the names of plans.
const PLAN_REFERENCE = /(?:^|[,，、;；]| (?:and|&) )\s?[\p{Ll}\p{Lo}\p{N}]+(?:-[\p{Ll}\p{Lo}\p{N}]+)* (?=§)/gu
const BOUND = '\0'

// Splits at commas and `and`, before a § that neither ends a range nor follows `PRD`, and between two numbers.
const BETWEEN_REFERENCES =
  /[,，、;；]| (?:and|&) (?=§|\d|[^ ]+\0)|(?<!(?:[–—-]|\.\.|\bto|\bPRD)) (?=§)|(?<=\d) (?=(?:(?:section|chapter|part) )?\d)/i
