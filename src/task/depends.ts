import type { Span } from '../base/diagnostic.ts'
import { blankComments } from '../markdown/inline.ts'
import type { Dependency, Field, Section } from './model.ts'
import type { UnplacedProblem } from './problems.ts'
import { idOf, isNone, numberOf } from './values.ts'
import { namesOthers, speaksOfNeeds } from './vocabulary.ts'

/** The tasks that a Depends field names, each once, and what in it is no id. */
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

/** Links to tasks, of which each may be followed by its task's title, as the ids alone. */
function withoutTitles(raw: string): string {
  return blankComments(raw).replace(/\[(T-\d{1,12})\]\([^()\s]*\)(?:[ \t]+(?!T-\d)[^,;，；、[\n]*)?/gi, '$1 ')
}

/** What a section that stands for Depends says: nothing but a list of ids, or that there are none; else null. */
export function dependsSection(source: string, section: Section): Pick<Field, 'value' | 'valueSpan'> | null {
  const lines = listedIn(source, section.bodySpan)
  return lines === null ? null : { value: lines.join(', '), valueSpan: section.bodySpan }
}

/** The ids of a stretch that is nothing but a list of them, each item perhaps with its task's title; else null. */
function listedIn(source: string, { start, end }: Span): readonly string[] | null {
  const lines = readable(source.slice(start, end))
    .split(/\r\n|\r|\n/)
    .filter((line) => line.trim() !== '')
  const listed = lines.map((line) => {
    const said = line.replace(BULLET, '').trim()
    if (readDepends(said).stranger === null) return said
    return said === line.trim() ? null : (LISTED_ID.exec(said)?.[1] ?? null)
  })
  return listed.length > 0 && listed.every((ids) => ids !== null) ? listed : null
}

const BULLET = /^[ \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(?:\[[ xX]\][ \t]+)?/
// An id, and a title that names no other.
const LISTED_ID = /^[[*_`~]*(T-\d{1,12})(?!\d)[\]*_`~]*(?:$|[:：—–-]?\s(?:(?!T-\d).)*$|[:：](?:(?!T-\d).)*$)/i

/** A dependency's id, as its own file most likely has it: as it is written, unless that is shorter than ids are. */
export function dependencyId({ number, literal }: IdInText, own: string): string {
  const digits = literal.length - 'T-'.length
  return idOf(number, digits < USUAL_DIGITS ? own.length - 'T-'.length : digits)
}

const USUAL_DIGITS = 3

/**
 * Ids that stand in the block and are no dependency, as where a list is not indented below `- **Depends**:`. To take no
 * notice of them would let a task begin too early.
 */
export function strayIds(
  source: string,
  { own, isOpen, fields, found, block, sections, words, others }: Strays,
): readonly UnplacedProblem[] {
  const known = new Set(found.map(({ number }) => number))
  const isStray = ({ literal }: IdAt): boolean => !known.has(numberOf(literal)) && numberOf(literal) !== own
  const saysNeeds = (text: string): boolean => speaksOfNeeds(words, text)
  const mayNeed = (text: string, isList: () => boolean): boolean =>
    saysNeeds(text) || (isOpen && !namesOthers(others, text) && isList())
  const inFields = fields
    .filter(
      ({ name, key, value }) =>
        name === 'Depends' || (name === null && mayNeed(key, () => isMostlyIds(value))),
    )
    .flatMap(({ span }) => idsAt(source, span))
  // What is done needs nothing more.
  const inSections = sections
    .filter(
      ({ name, title, form, bodySpan }) =>
        isOpen &&
        form === 'heading' &&
        name === null &&
        mayNeed(title, () => listedIn(source, bodySpan) !== null),
    )
    .flatMap(({ span }) => idsAt(source, span))
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

/** Whether a value names tasks and says little more, in any language; or speaks of needs right before an id. */
function isMostlyIds(value: string): boolean {
  const bare = withoutRemarks(value)
  const others = bare.replace(ANY_ID, ' ')
  if (others === bare) return false
  return (others.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) <= MOST_WORDS || NEEDS_BEFORE_ID.test(bare)
}

const MOST_WORDS = 3
const NEEDS_BEFORE_ID = /\b(?:depends|depending|blocked|needs|requires|after)\b[^,;.]{0,20}T-\d/i

/** Where ids may stand apart. */
interface Strays {
  /** The number of the task itself. */
  readonly own: number
  /** Whether the task is yet to be done. */
  readonly isOpen: boolean
  readonly fields: readonly Field[]
  /** The dependencies, as they were read. */
  readonly found: readonly Dependency[]
  readonly block: Span
  readonly sections: readonly Section[]
  /** What the keys of fields mean. */
  readonly words: ReadonlyMap<string, string>
  /** Under which of them other tasks are named and not needed. */
  readonly others: ReadonlySet<string>
}

const ANY_ID = /(?<![\w/-])(T-\d{1,12})(?!\d)/gi
// But not in a quote.
const LINE_WITH_ID = /^(?![ \t]*>)[^\r\n]{0,80}?(?<![\w/-])(T-\d{1,12})(?!\d)/gim
const BOX = /^[ \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)?\[[ xX]\]/
const LINE_OF_IDS = /^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*\[?(T-\d{1,12})\b(?:[\],; \t]|T-\d{1,12})*$/gim

function idsAt(source: string, { start, end }: Span): readonly IdAt[] {
  return matchesIn(readable(source.slice(start, end)), start, ANY_ID)
}

/** What of a text may speak of ids, and is neither code nor a remark, every offset kept. */
export function readable(raw: string): string {
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
  /** What was found, up to its end. */
  readonly line: string
  readonly span: Span
}

/** What stands between code fences blanked out, every offset kept. */
function withoutFences(raw: string): string {
  return raw.replace(FENCED, (code) => code.replace(/[^\r\n]/g, ' '))
}

const FENCED = /^ {0,3}(`{3,}|~{3,})[^\r\n]*(?:\r\n|\n|\r)[\s\S]*?(?:(?:^ {0,3}\1[`~]*[ \t]*$)|(?![\s\S]))/gm

/** The fields blanked out, every offset kept. They come in the order in which they stand. */
function withoutFields(source: string, fields: readonly Field[]): string {
  let rest = ''
  for (const { span } of fields) {
    const start = Math.max(rest.length, span.start)
    rest += source.slice(rest.length, start) + ' '.repeat(Math.max(0, span.end - start))
  }
  return rest + source.slice(rest.length)
}

/** Comments, remarks in brackets and the targets of links blanked out, every offset kept: an id in them is none of these. */
function withoutRemarks(raw: string): string {
  return blankComments(raw).replace(/[(（][^()（）]*[)）]/g, (remark) => ' '.repeat(remark.length))
}

/** Where an id stands as a whole, and not as a part of something longer: `T-1` in `T-10, NEXT-1, T-1`. */
function wholeIdAt(raw: string, id: string, from: number): number {
  const isWhole = (at: number): boolean =>
    !/[\w/-]/.test(raw[at - 1] ?? ' ') && !/\d/.test(raw[at + id.length] ?? ' ')
  let at = raw.indexOf(id, from)
  while (at >= 0 && !isWhole(at)) at = raw.indexOf(id, at + id.length)
  return at
}

/** Where a piece stands between separators, and not within another: the `x` of `T-001 (for x), x`. */
function wholePieceAt(raw: string, piece: string, from: number): number {
  const isEdge = (at: number): boolean => at < 0 || at >= raw.length || SEPARATORS.test(raw[at]!)
  let at = raw.indexOf(piece, from)
  while (at >= 0 && !(isEdge(at - 1) && isEdge(at + piece.length))) at = raw.indexOf(piece, at + piece.length)
  return at
}

/** A task's number, and the text that names it. */
interface IdInText {
  readonly number: number
  readonly literal: string
}

/** What a reading of dependencies found, and the first piece that is no id. */
interface DependsReading {
  readonly ids: readonly IdInText[]
  readonly stranger: string | null
}

// A range of ids is written out, so it is bounded.
const LONGEST_RANGE = 1000
const SEPARATORS = /[,;，；、&\s]/
const ID = String.raw`\[?(T-\d{1,12})\]?`
const ONE = new RegExp(`^${ID}$`, 'i')
const RANGE = new RegExp(`^${ID}–${ID}$`, 'i')

// `and` in the languages that teams are known to work in. A word that also begins a range (`a`) or parts a choice (`o`)
// is none: what is unknown between two ids fails closed.
const AND_WORDS = 'and und y e et ed en i oraz и та й ve och og'
const AND = new RegExp(
  String.raw`(?<=\d\]?)(?:,? (?:${AND_WORDS.replaceAll(' ', '|')}) | ?(?:和|与|與|及|以及|と|および|와|과|및) ?)(?=\[?T-)`,
  'giu',
)

/** Reads task ids: between commas, semicolons, `and` or spaces, as ranges, with remarks in brackets. */
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

/** Whether a value says that there is no dependency, also with a full stop or a remark that names no task. */
function namesNone(value: string): boolean {
  if (isNone(value)) return true
  const [, said, remark = ''] = NONE_AND_REMARK.exec(value.trim()) ?? []
  return said !== undefined && isNone(said) && !/T-\d/i.test(remark)
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
