import type { Span } from '../base/diagnostic.ts'
import { blankComments } from './markdown/inline.ts'
import { linesOf, withoutBullet } from './markdown/lines.ts'
import type { Dependency, Field, Section } from './model.ts'
import type { TaskOutline, UnplacedProblem } from './problems.ts'
import { idOf, isNone, numberOf } from './values.ts'
import { namesOthers, speaksOfNeeds, type TaskVocabulary } from './vocabulary.ts'

/** Reads the tasks in a Depends field, each once, and reports text that is no id. */
export function readDependencies(
  field: Pick<Field, 'value' | 'valueSpan'> | undefined,
  source: string,
  id: string,
): { found: readonly Dependency[]; problems: readonly UnplacedProblem[] } {
  if (field === undefined) return NOTHING
  const { start, end } = field.valueSpan
  const read = readDepends(field.value)
  const untitled = read.stranger === null ? read : readDepends(withoutTitles(source.slice(start, end)))
  const { ids, stranger } = untitled.stranger === null ? untitled : read
  const raw = withoutRemarks(source.slice(start, end))
  const found = new Map<number, Dependency>()
  const spanAt = (at: number, length: number): Span =>
    at < 0 ? field.valueSpan : { start: start + at, end: start + at + length }
  let from = 0
  for (const named of ids) {
    const { number, literal } = named
    const at = wholeIdAt(raw, literal, from)
    const span = spanAt(at, literal.length)
    from = Math.max(at, from)
    if (!found.has(number)) found.set(number, { id: dependencyId(named, id), number, span })
  }
  if (stranger === null) return { found: [...found.values()], problems: [] }
  const span = spanAt(wholePieceAt(raw, stranger, from), stranger.length)
  const message = `Depends: "${stranger}" is not a task id; expected ids such as T-001, T-003, a range T-001–T-003, or none`
  return {
    found: [...found.values()],
    problems: [{ kind: 'bad-depends', field: 'Depends', message, span }],
  }
}

const NOTHING = { found: [], problems: [] }

/** Replaces links to tasks, and titles after them, by the ids alone. */
function withoutTitles(raw: string): string {
  return blankComments(raw).replace(/\[(T-\d{1,12})\]\([^()\s]*\)(?:[ \t]+(?!T-\d)[^,;，；、[\n]*)?/gi, '$1 ')
}

/** The value of a section that stands for Depends: nothing but a list of ids, or `none`; else null. */
export function dependsSection(source: string, section: Section): Pick<Field, 'value' | 'valueSpan'> | null {
  const lines = listedIn(source, section.bodySpan)
  return lines === null ? null : { value: lines.join(', '), valueSpan: section.bodySpan }
}

/** The ids of a text that is only a list of them, each perhaps with its task's title; else null. */
function listedIn(source: string, { start, end }: Span): readonly string[] | null {
  const lines = readable(source.slice(start, end))
    .split(/\r\n|\r|\n/)
    .filter((line) => line.trim() !== '')
  const listed = lines.map((line) => {
    const item = withoutBullet(line)
    if (readDepends(item).stranger === null) return item
    return item === line.trim() ? null : (LISTED_ID.exec(item)?.[1] ?? null)
  })
  return listed.length > 0 && listed.every((ids) => ids !== null) ? listed : null
}

// An id, and a title that contains no other id.
const LISTED_ID = /^[[*_`~]*(T-\d{1,12})(?!\d)[\]*_`~]*(?:$|[:：—–-]?\s(?:(?!T-\d).)*$|[:：](?:(?!T-\d).)*$)/i

/** A dependency's id as its file probably has it: as written, or padded like this task's own id. */
export function dependencyId({ number, literal }: IdInText, own: string): string {
  const digits = literal.length - 'T-'.length
  return idOf(number, digits < USUAL_DIGITS ? own.length - 'T-'.length : digits)
}

const USUAL_DIGITS = 3

/**
 * Ids in the block that are no dependencies, as in a list that is not indented below `- **Depends**:`. Ignoring them
 * would let a task begin too early.
 */
export function strayIds(
  source: string,
  outline: TaskOutline,
  { own, isOpen, found }: Strays,
  { fields: words, others }: TaskVocabulary,
): readonly UnplacedProblem[] {
  const { fields, sections } = outline
  const known = new Set([own, ...found.map(({ number }) => number)])
  const isStray = ({ literal }: IdAt): boolean => !known.has(numberOf(literal))
  const saysNeeds = (text: string): boolean => speaksOfNeeds(words, text)
  const mayNeed = (text: string, isList: () => boolean): boolean =>
    saysNeeds(text) || (isOpen && !namesOthers(others, text) && isList())
  const inFields = fields
    .filter(
      ({ name, key, value }) =>
        name === 'Depends' || (name === null && mayNeed(key, () => isMostlyIds(value))),
    )
    .flatMap(({ span }) => idsAt(source, span))
  // A finished task needs nothing more.
  const inSections = sections
    .filter(
      ({ name, title, form, bodySpan }) =>
        isOpen &&
        form === 'heading' &&
        name === null &&
        mayNeed(title, () => listedIn(source, bodySpan) !== null),
    )
    .flatMap(({ span }) => idsAt(source, span))
  const block = blockOf(outline, source)
  const rest = readable(withoutFields(source, fields).slice(block.start, block.end))
  const inLines = matchesIn(rest, block.start, LINE_WITH_ID).filter(({ line }) =>
    saysNeeds(line.replace(BOX, '')),
  )
  const [first] = [
    ...[...inFields, ...inLines, ...inSections].filter(isStray),
    ...matchesIn(rest, block.start, LINE_OF_IDS),
  ]
  if (!first) return []
  const message = `${first.literal} stands apart from Depends, where nothing says whether this task needs it; write - **Depends**: ${first.literal}`
  return [{ kind: 'bad-depends', field: 'Depends', message, span: first.span }]
}

/** Whether a value is mostly ids, in any language, or mentions needs right before an id. */
function isMostlyIds(value: string): boolean {
  const bare = withoutRemarks(value)
  const others = bare.replace(ANY_ID, ' ')
  if (others === bare) return false
  return (others.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) <= MOST_WORDS || NEEDS_BEFORE_ID.test(bare)
}

const MOST_WORDS = 3
const NEEDS_BEFORE_ID = /\b(?:depends|depending|blocked|needs|requires|after)\b[^,;.]{0,20}T-\d/i

interface Strays {
  /** The number of the task itself. */
  readonly own: number
  /** Whether the task is not done yet. */
  readonly isOpen: boolean
  /** The dependencies that were read. */
  readonly found: readonly Dependency[]
}

/** The block between the heading and the first section. */
function blockOf({ heading, sections }: TaskOutline, source: string): Span {
  const start = heading?.span.end ?? 0
  const end = sections.find(({ form }) => form === 'heading')?.span.start ?? source.length
  return { start: Math.min(start, end), end }
}

const ANY_ID = /(?<![\w/-])(T-\d{1,12})(?!\d)/gi
// Quotes are left out.
const LINE_WITH_ID = /^(?![ \t]*>)[^\r\n]{0,80}?(?<![\w/-])(T-\d{1,12})(?!\d)/gim
const BOX = /^[ \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)?\[[ xX]\]/
const LINE_OF_IDS = /^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*\[?(T-\d{1,12})\b(?:[\],; \t]|T-\d{1,12})*$/gim

function idsAt(source: string, { start, end }: Span): readonly IdAt[] {
  return matchesIn(readable(source.slice(start, end)), start, ANY_ID)
}

/** The text with code and remarks blanked out, at the same offsets. */
function readable(raw: string): string {
  return withoutFences(withoutRemarks(raw))
}

function matchesIn(raw: string, start: number, pattern: RegExp): readonly IdAt[] {
  return [...raw.matchAll(pattern)].map((match) => {
    const literal = match[1]!
    const at = start + match.index + match[0].indexOf(literal)
    return { literal, line: match[0], span: { start: at, end: at + literal.length } }
  })
}

interface IdAt {
  readonly literal: string
  /** The text up to the end of the match. */
  readonly line: string
  readonly span: Span
}

/** The text with fenced code blanked out, at the same offsets. */
function withoutFences(raw: string): string {
  if (!/`{3}|~{3}/.test(raw)) return raw
  let bare = ''
  for (const { kind, text, at } of linesOf(raw)) {
    const isCode = kind === 'fence' || kind === 'fenced'
    bare += raw.slice(bare.length, at) + (isCode ? ' '.repeat(text.length) : text)
  }
  return bare
}

/** The text with the fields blanked out, at the same offsets. The fields must be in order. */
function withoutFields(source: string, fields: readonly Field[]): string {
  let rest = ''
  for (const { span } of fields) {
    const start = Math.max(rest.length, span.start)
    rest += source.slice(rest.length, start) + ' '.repeat(Math.max(0, span.end - start))
  }
  return rest + source.slice(rest.length)
}

/** The text with comments, remarks in brackets and link targets blanked out, at the same offsets. */
function withoutRemarks(raw: string): string {
  return blankComments(raw).replace(/[(（][^()（）]*[)）]/g, (remark) => ' '.repeat(remark.length))
}

/** The offset of an id as a whole, not as part of something longer: `T-1` in `T-10, NEXT-1, T-1`. */
function wholeIdAt(raw: string, id: string, from: number): number {
  return wholeAt(raw, id, from, (before, after) => !/[\w/-]/.test(before) && !/\d/.test(after))
}

/** The offset of a piece between separators, not inside another: the `x` of `T-001 (for x), x`. */
function wholePieceAt(raw: string, piece: string, from: number): number {
  return wholeAt(raw, piece, from, (before, after) => SEPARATORS.test(before) && SEPARATORS.test(after))
}

/** The first place of a text where the units around it, a blank at the edges, are right. */
function wholeAt(
  raw: string,
  text: string,
  from: number,
  isWhole: (before: string, after: string) => boolean,
): number {
  let at = raw.indexOf(text, from)
  while (at >= 0 && !isWhole(raw[at - 1] ?? ' ', raw[at + text.length] ?? ' '))
    at = raw.indexOf(text, at + text.length)
  return at
}

/** A task's number, and the text of its id. */
interface IdInText {
  readonly number: number
  readonly literal: string
}

/** The ids in a Depends value, and the first piece that is no id. */
interface DependsReading {
  readonly ids: readonly IdInText[]
  readonly stranger: string | null
}

// A range is expanded, so it is limited.
const LONGEST_RANGE = 1000
const SEPARATORS = /[,;，；、&\s]/
const ID = String.raw`\[?(T-\d{1,12})\]?`
const ONE = new RegExp(`^${ID}$`, 'i')
const RANGE = new RegExp(`^${ID}–${ID}$`, 'i')

// `and` in the languages of known users. Words that also begin a range (`a`) or mean `or` (`o`) are left out: unknown
// words between two ids are an error.
const AND_WORDS = 'and und y e et ed en i oraz и та й ve och og'
const AND = new RegExp(
  String.raw`(?<=\d\]?)(?:,? (?:${AND_WORDS.replaceAll(' ', '|')}) | ?(?:和|与|與|及|以及|と|および|와|과|및) ?)(?=\[?T-)`,
  'giu',
)

/** Reads task ids, separated by commas, semicolons, `and` or spaces, also ranges and remarks in brackets. */
export function readDepends(value: string): DependsReading {
  if (namesNone(value)) return { ids: [], stranger: null }
  if (/^T-\d{1,12}(?:, T-\d{1,12})*$/.test(value)) {
    return {
      ids: value.split(', ').map((literal) => ({ number: numberOf(literal), literal })),
      stranger: null,
    }
  }
  const spaced = value.replace(/\s+/g, ' ')
  const bare = spaced.replace(/(T-\d{1,12}\]?)(?: ?[(（][^()（）]*[)）])+/gi, '$1')
  const joined = bare
    .replace(/ ?(?:–|\.\.+|…|~|～|至|\bto\b|\bthrough\b) ?(?=\[?T-)/gi, '–')
    .replace(/(?<=\d\]?) ?[/／] ?(?=\[?T-)/gi, ',')
    .replace(AND, ',')
  const ids: IdInText[] = []
  for (const part of joined.split(/[,;，；、&\s]+|\band\b/i)) {
    if (part === '') continue
    const found = idsIn(part)
    if (found === null) return { ids, stranger: part }
    ids.push(...found)
  }
  return { ids, stranger: null }
}

/** Whether a value says `none`, perhaps with a full stop or a remark that names no task. */
function namesNone(value: string): boolean {
  if (isNone(value)) return true
  const [, none, remark = ''] = NONE_AND_REMARK.exec(value.trim()) ?? []
  return none !== undefined && isNone(none) && !/T-\d/i.test(remark)
}

const NONE_AND_REMARK = /^([^()（）]*[^()（）\s.。])(?:[.。]|\s*([(（][^()（）]*[)）]))$/

function idsIn(part: string): IdInText[] | null {
  const id = ONE.exec(part)?.[1]
  if (id !== undefined) return [{ number: numberOf(id), literal: id }]
  const range = RANGE.exec(part)
  if (range === null) return null
  const [first, last] = [numberOf(range[1]!), numberOf(range[2]!)]
  if (last < first || last - first >= LONGEST_RANGE) return null
  return Array.from({ length: last - first + 1 }, (_, i) => ({ number: first + i, literal: range[1]! }))
}
