import type { Span } from '../base/diagnostic.ts'
import { blankComments } from './markdown/inline.ts'
import { linesOf, withoutBullet } from './markdown/lines.ts'
import type { Dependency, Field, Problem, Section } from './model.ts'
import type { Outline } from './read-outline.ts'
import { digitsIn, type TaskIds, type TaskNumber } from './ids.ts'
import { isNone } from './values.ts'
import { namesOthers, speaksOfNeeds, type TaskVocabulary } from './vocabulary.ts'

/** Reads the tasks in a Depends field, each once, and reports text that is no id. */
export function readDependencies(
  field: Pick<Field, 'value' | 'valueSpan'> | null | undefined,
  source: string,
  { id, ids: known }: { id: string; ids: TaskIds },
): { found: readonly Dependency[]; problems: readonly Omit<Problem, 'line'>[] } {
  if (!field) return { found: [], problems: [] }
  const { start, end } = field.valueSpan
  const raw = source.slice(start, end)
  const read = readDepends(field.value, known)
  const untitled = read.stranger === null ? read : readDepends(withoutTitles(raw, known), known)
  const { ids, stranger } = untitled.stranger === null ? untitled : read
  const bare = withoutRemarks(raw)
  const spanAt = (at: number, { length }: string): Span =>
    at < 0 ? field.valueSpan : { start: start + at, end: start + at + length }
  const found = new Map<TaskNumber, Dependency>()
  let from = 0
  for (const named of ids) {
    const { number, literal } = named
    const at = wholeIdAt(bare, literal, from)
    from = Math.max(at, from)
    if (!found.has(number))
      found.set(number, {
        id: dependencyId(named, { own: id, ids: known }),
        number,
        span: spanAt(at, literal),
      })
  }
  if (stranger === null) return { found: [...found.values()], problems: [] }
  const after = from + (ids.at(-1)?.literal.length ?? 0)
  const span = spanAt(bare.indexOf(stranger, after), stranger)
  const message = `Depends: "${stranger}" is not a task id; expected ids such as ${known.idOf(1, 3)}, ${known.idOf(3, 3)}, a range ${known.idOf(1, 3)}–${known.idOf(3, 3)}, or none`
  const problem = { kind: 'bad-depends', field: 'Depends', message, span } as const
  return { found: [...found.values()], problems: [problem] }
}

/** The offset of an id as a whole, not as part of something longer: `T-1` in `T-10, NEXT-1, T-1`. */
function wholeIdAt(raw: string, id: string, from: number): number {
  const isPart = (at: number): boolean =>
    /[\w/-]/.test(raw[at - 1] ?? ' ') || /\d/.test(raw[at + id.length] ?? ' ')
  let at = raw.indexOf(id, from)
  while (at >= 0 && isPart(at)) at = raw.indexOf(id, at + id.length)
  return at
}

/** Replaces links to tasks, and titles after them, by the ids alone. */
function withoutTitles(raw: string, ids: TaskIds): string {
  const linked = ids.regex(String.raw`\[(<id>)\]\([^()\s]*\)(?:[ \t]+(?!<id>)[^,;，；、[\n]*)?`, 'gi')
  return blankComments(raw).replace(linked, '$1 ')
}

/** The value of a section that stands for Depends: nothing but a list of ids, or `none`; else null. */
export function dependsSection(
  source: string,
  section: Section,
  ids: TaskIds,
): Pick<Field, 'value' | 'valueSpan'> | null {
  const lines = listedIn(source, section.bodySpan, ids)
  return lines === null ? null : { value: lines.join(', '), valueSpan: section.bodySpan }
}

/** The ids of a text that is only a list of them, each perhaps with its task's title; else null. */
function listedIn(source: string, { start, end }: Span, ids: TaskIds): readonly string[] | null {
  const lines = readable(source.slice(start, end))
    .split(/\r\n|\r|\n/)
    .filter((line) => line.trim() !== '')
  const listed = lines.map((line) => {
    const item = withoutBullet(line)
    if (readDepends(item, ids).stranger === null) return item
    return item === line.trim() ? null : (ids.regex(LISTED_ID).exec(item)?.[1] ?? null)
  })
  return listed.length > 0 && listed.every((one) => one !== null) ? listed : null
}

// An id, and a title that contains no other id.
const LISTED_ID = '^[[*_`~]*(<id>)(?!\\d)[\\]*_`~]*(?:$|[:：—–-]?\\s(?:(?!<id>).)*$|[:：](?:(?!<id>).)*$)'

/** A dependency's id as its file probably has it: as written, or padded like this task's own id. */
export function dependencyId(
  { number, literal }: IdInText,
  { own, ids }: { own: string; ids: TaskIds },
): string {
  const digits = digitsIn(literal)
  return ids.idOf(number, digits < USUAL_DIGITS ? digitsIn(own) : digits)
}

const USUAL_DIGITS = 3

/**
 * Ids in the block that are no dependencies, as in a list that is not indented below `- **Depends**:`. Ignoring them
 * would let a task begin too early.
 */
export function strayIds(
  source: string,
  { heading, fields, sections }: Outline,
  { own, isOpen, found }: { own: TaskNumber; isOpen: boolean; found: readonly Dependency[] },
  vocabulary: TaskVocabulary,
): readonly Omit<Problem, 'line'>[] {
  const { others, ids } = vocabulary
  const known = new Set([own, ...found.map(({ number }) => number)])
  const saysNeeds = (text: string): boolean => speaksOfNeeds(vocabulary, text)
  const mayNeed = (text: string, isList: () => boolean): boolean =>
    saysNeeds(text) || (isOpen && !namesOthers(others, text) && isList())
  const under = sections.filter(({ form }) => form === 'heading')
  const [inFields, inSections] = [
    fields.filter(({ name, key, value }) =>
      name === null ? mayNeed(key, () => isMostlyIds(value, ids)) : name === 'Depends',
    ),
    // A finished task needs nothing more.
    under.filter(
      ({ name, title, bodySpan }) =>
        isOpen && name === null && mayNeed(title, () => listedIn(source, bodySpan, ids) !== null),
    ),
  ].map((parts) =>
    parts.flatMap(({ span }) =>
      idsIn(readable(source.slice(span.start, span.end)), span.start, ids.regex(ANY_ID, 'gi')),
    ),
  )
  const end = under[0]?.span.start ?? source.length
  const start = Math.min(heading?.span.end ?? 0, end)
  const spans = fields.map(({ span }) => span)
  const rest = readable(blanked(source, spans).slice(start, end))
  const inLines = idsIn(rest, start, ids.regex(LINE_WITH_ID, 'gim')).filter(({ line }) =>
    saysNeeds(line.replace(BOX, '')),
  )
  const [first] = [
    ...[...inFields!, ...inLines, ...inSections!].filter(({ literal }) => !known.has(ids.numberOf(literal))),
    ...idsIn(rest, start, ids.regex(LINE_OF_IDS, 'gim')),
  ]
  if (!first) return []
  const message = `${first.literal} stands apart from Depends, where nothing says whether this task needs it; write - **Depends**: ${first.literal}`
  return [{ kind: 'bad-depends', field: 'Depends', message, span: first.span }]
}

/** Whether a value is mostly ids, in any language, or mentions needs right before an id. */
function isMostlyIds(value: string, ids: TaskIds): boolean {
  const bare = withoutRemarks(value)
  const others = bare.replace(ids.regex(ANY_ID, 'gi'), ' ')
  if (others === bare) return false
  return (others.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) <= MOST_WORDS || ids.regex(NEEDS_BEFORE_ID).test(bare)
}

const MOST_WORDS = 3
const NEEDS_BEFORE_ID = String.raw`\b(?:depends|depending|blocked|needs|requires|after)\b[^,;.]{0,20}<named>`

const ANY_ID = String.raw`(?<![\w/-])(<named>)(?!\d)`
// Quotes are left out.
const LINE_WITH_ID = String.raw`^(?![ \t]*>)[^\r\n]{0,80}?(?<![\w/-])(<named>)(?!\d)`
const BOX = /^[ \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)?\[[ xX]\]/
const LINE_OF_IDS = String.raw`^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*\[?(<named>)\b(?:[\],; \t]|<named>)*$`

/** The ids that a pattern finds, each with the text up to its end. */
function idsIn(raw: string, offset: number, pattern: RegExp) {
  return [...raw.matchAll(pattern)].map(({ 0: line, 1: literal = '', index }) => {
    const start = offset + index + line.indexOf(literal)
    return { literal, line, span: { start, end: start + literal.length } }
  })
}

/** The text with code and remarks blanked out, at the same offsets. */
function readable(raw: string): string {
  const text = withoutRemarks(raw)
  if (!/`{3}|~{3}/.test(text)) return text
  const code = [...linesOf(text)].filter(({ kind }) => kind === 'fence' || kind === 'fenced')
  return blanked(
    text,
    code.map((line) => ({ start: line.at, end: line.at + line.text.length })),
  )
}

/** The text with these spans, which are in order, blanked out. */
function blanked(text: string, spans: readonly Span[]): string {
  let out = ''
  for (const { start, end } of spans)
    out += text.slice(out.length, start) + ' '.repeat(Math.max(0, end - Math.max(out.length, start)))
  return out + text.slice(out.length)
}

/** The text with comments, remarks in brackets and link targets blanked out, at the same offsets. */
function withoutRemarks(raw: string): string {
  return blankComments(raw).replace(/[(（][^()（）]*[)）]/g, (remark) => ' '.repeat(remark.length))
}

/** A task's number, and the text of its id. */
interface IdInText {
  readonly number: TaskNumber
  readonly literal: string
}

const ONE_OR_RANGE = String.raw`^\[?(<id>)\]?(?:–\[?(<id>)\]?)?$`

// `and` in the languages of known users. Words that also begin a range (`a`) or mean `or` (`o`) are left out: unknown
// words between two ids are an error.
const AND_WORDS = 'and und y e et ed en i oraz и та й ve och og'
const AND = String.raw`(?<=\d[a-z]?\]?)(?:,? (?:${AND_WORDS.replaceAll(' ', '|')}) | ?(?:和|与|與|及|以及|と|および|와|과|및) ?)(?=\[?<id>)`

/** Reads task ids, separated by commas, semicolons, `and` or spaces, also ranges and remarks in brackets, up to the first piece that is no id. */
export function readDepends(
  value: string,
  known: TaskIds,
): { ids: readonly IdInText[]; stranger: string | null } {
  const inText = (literal: string): IdInText => ({ number: known.numberOf(literal), literal })
  if (namesNone(value, known)) return { ids: [], stranger: null }
  if (known.regex('^<id>(?:, <id>)*$', '').test(value))
    return { ids: value.split(', ').map(inText), stranger: null }
  const spaced = value.replace(/\s+/g, ' ')
  const bare = spaced.replace(known.regex(String.raw`(<id>\]?)(?: ?[(（][^()（）]*[)）])+`, 'gi'), '$1')
  const joined = bare
    .replace(known.regex(String.raw` ?(?:–|\.\.+|…|~|～|至|à|\bto\b|\bthrough\b) ?(?=\[?<id>)`, 'gi'), '–')
    .replace(known.regex(String.raw`(?<=\d[a-z]?\]?) ?[/／] ?(?=\[?<id>)`, 'gi'), ',')
    .replace(known.regex(AND, 'giu'), ',')
  const ids: IdInText[] = []
  for (const part of joined.split(/[,;，；、&\s]+|\band\b/i)) {
    const [isId, first, last] = known.regex(ONE_OR_RANGE).exec(part) ?? []
    const from = first === undefined ? null : inText(first)
    const numbers = from && known.range(from.number, last === undefined ? from.number : known.numberOf(last))
    if (part !== '' && (isId === undefined || numbers === null)) return { ids, stranger: part }
    for (const number of numbers ?? []) ids.push({ number, literal: first! })
  }
  return { ids, stranger: null }
}

/** Whether a value says `none`, perhaps with a full stop or a remark that names no task. */
function namesNone(value: string, ids: TaskIds): boolean {
  if (isNone(value)) return true
  const [, none, remark = ''] = NONE_AND_REMARK.exec(value.trim()) ?? []
  return none !== undefined && isNone(none) && !ids.regex('<named>').test(remark)
}

const NONE_AND_REMARK = /^([^()（）]*[^()（）\s.。])(?:[.。]|\s*([(（][^()（）]*[)）]))$/
