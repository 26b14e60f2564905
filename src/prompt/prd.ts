import type { DocumentHeading } from '../backlog/markdown/reading.ts'

/**
 * The named sections, each with its subsections, in the order of the references; null for one that the document does
 * not have. A section inside another named one is not repeated.
 */
export function sectionsNamed(
  source: string,
  headings: readonly DocumentHeading[],
  references: readonly string[],
) {
  const numbered = headings.map((heading) => ({ ...heading, number: numberOf(heading.text) }))
  const rangeOf = finder(numbered)
  const found = [...new Set(references.flatMap(spread))].map((reference) => ({
    reference,
    range: rangeOf(reference),
  }))
  const held = heldRanges(found.flatMap(({ range }) => range ?? []))
  const outermost = found.filter(({ range }) => range === null || !held.has(range))
  return outermost.map(({ reference, range }) => {
    if (range === null) return { reference, text: null }
    const end = numbered[range.to]?.offset ?? source.length
    return { reference, text: source.slice(numbered[range.from]!.offset, end).trimEnd() }
  })
}

interface Numbered extends DocumentHeading {
  readonly number: string | null
}

/** From one heading up to another, without that. */
interface Range {
  readonly from: number
  readonly to: number
}

/** Ranges inside another one, or equal to an earlier one. As sections are nested, ranges do not overlap in other ways. */
function heldRanges(ranges: readonly Range[]): ReadonlySet<Range> {
  const held = new Set<Range>()
  let end = -1
  for (const range of ranges.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    if (range.to <= end) held.add(range)
    else end = range.to
  }
  return held
}

/** Finds a section by number; by the words of its heading if the reference is no number, or no heading has it. */
function finder(headings: readonly Numbered[]): (reference: string) => Range | null {
  const [byNumber, byWords] = [new Map<string, number>(), new Map<string, number>()]
  for (const [index, { number, text }] of headings.entries()) {
    const words = wordsOf(text)
    if (number !== null && !byNumber.has(number)) byNumber.set(number, index)
    if (!byWords.has(words)) byWords.set(words, index)
  }
  return (reference) => {
    const number = numberOf(reference.trim())
    const from = (number === null ? undefined : byNumber.get(number)) ?? byWords.get(wordsOf(reference))
    return from === undefined ? null : { from, to: endOf(headings, from) }
  }
}

/** The next heading that is not deeper and, if all are at one depth, is no subsection by its number. */
function endOf(headings: readonly Numbered[], from: number): number {
  const { depth, number } = headings[from]!
  const next = headings.findIndex((heading, index) => {
    const isPart = number !== null && heading.number?.startsWith(`${number}.`)
    return index > from && heading.depth <= depth && !isPart
  })
  return next === -1 ? headings.length : next
}

/** `3.2` in `§3.2`, `3.2. Login`, `Section 3.2 — Login`; a single letter counts only as in `§A` or `Appendix A`. */
function numberOf(text: string): string | null {
  const [lead = ''] = /^(?:PRD\s+)?(?:§+\s*|(?:section|sec\.|chapter|part|appendix)\s+)?/i.exec(text) ?? []
  const form =
    lead === '' ? /^(?:\d+|[A-Z](?=\.\d))(?:\.\d+)*(?![\w-]|\.\w)/ : /^(?:\d+|[A-Z])(?:\.\d+)*(?![\w-]|\.\w)/
  return form.exec(text.slice(lead.length))?.[0] ?? null
}

function wordsOf(text: string): string {
  const number = numberOf(text)
  const rest = number === null ? text : text.slice(text.indexOf(number) + number.length)
  const words = rest
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
    ?.join(' ')
  return words ?? number ?? text.trim().toLowerCase()
}

/** Expands `§3.1–§3.3` into three references, if both ends have the same parent. */
function spread(reference: string): readonly string[] {
  const match = /^§*\s*((?:\d+\.)*)(\d{1,4})\s*(?:–|—|-|\.\.|to)\s*§*\s*((?:\d+\.)*)(\d{1,4})$/.exec(
    reference.trim(),
  )
  if (!match || match[1] !== match[3]) return [reference]
  const [first, last] = [Number(match[2]), Number(match[4])]
  if (last < first || last - first > 99) return [reference]
  return Array.from({ length: last - first + 1 }, (_, index) => `§${match[1]}${first + index}`)
}
