import { scanInlineText } from '../backlog/markdown/inline.ts'
import { decoded, perVocabulary, plainText, remembered } from '../backlog/plain-words.ts'
import type { Status, Task, TaskHead } from '../backlog/model.ts'
import { lookUp, sectionNamed, type TaskVocabulary } from '../backlog/vocabulary.ts'

/** A field, or the title or place of a file, whose value has changed; null for a missing one. */
export interface FieldChange {
  readonly name: string
  readonly before: string | null
  readonly after: string | null
}

/** The changes of one task. */
export interface TaskChange {
  readonly id: string
  readonly fields: readonly FieldChange[]
  /** The titles of sections whose text was added, deleted or changed. */
  readonly sections: readonly string[]
}

/** The differences between two versions of a task: null if only line endings differ. */
export function changeBetween(before: Task, after: Task): TaskChange | null {
  if (normal(before.source) === normal(after.source) && before.file === after.file) return null
  return { id: after.id, ...difference(wordsOf(before), wordsOf(after)) }
}

/** The lines that one section has lost and gained. */
export interface TextChange {
  readonly section: string
  readonly removed: readonly string[]
  readonly added: readonly string[]
}

/** The lines in which the sections of two versions of a task differ, in their order. */
export function textChanges(before: Task, after: Task): readonly TextChange[] {
  const [were, are] = [wordsOf(before).sections, wordsOf(after).sections]
  return namesIn(were, are).flatMap((section) => {
    const [was, is] = [linesOf(were.get(section)), linesOf(are.get(section))]
    const [removed, added] = [missingIn(is, was), missingIn(was, is)]
    return removed.length + added.length === 0 ? [] : [{ section, removed, added }]
  })
}

function linesOf(text = ''): readonly string[] {
  return text.split('\n').filter((line) => line !== '')
}

function missingIn(lines: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(lines)
  return others.filter((line) => !known.has(line))
}

/** The values of a task's fields, by their names, and the texts of its sections, by their titles. */
interface TaskWords {
  readonly fields: ReadonlyMap<string, string>
  readonly sections: ReadonlyMap<string, string>
}

function difference(before: TaskWords, after: TaskWords): Omit<TaskChange, 'id'> {
  const fields = namesIn(before.fields, after.fields).map((name) => ({
    name,
    before: before.fields.get(name) ?? null,
    after: after.fields.get(name) ?? null,
  }))
  return {
    fields: fields.filter((field) => field.before !== field.after),
    sections: namesIn(before.sections, after.sections).filter(
      (title) => before.sections.get(title) !== after.sections.get(title),
    ),
  }
}

function namesIn(...maps: readonly ReadonlyMap<string, string>[]): readonly string[] {
  return [...new Set(maps.flatMap((map) => [...map.keys()]))]
}

/** How the status changed; null is the status of a missing task. */
export function turnOf(before: Status | null, after: Status | null): 'done' | 'blocked' | 'open' | null {
  if (before === after) return null
  if (after === 'DONE') return 'done'
  if (after === 'BLOCKED') return 'blocked'
  return after === 'TODO' && before !== null ? 'open' : null
}

function wordsOf({ id, title, file, fields, source, sections }: Task): TaskWords {
  const values = new Map([
    ['Id', id],
    ['Title', title],
    ['File', file],
  ])
  for (const { name, key, value } of fields) if (!values.has(name ?? key)) values.set(name ?? key, value)
  const texts = new Map<string, string>()
  for (const { name, title, bodySpan } of sections)
    addSection(texts, name ?? title, normal(source.slice(bodySpan.start, bodySpan.end)))
  return { fields: values, sections: texts }
}

/** Sections with the same title count as one. */
function addSection(texts: Map<string, string>, title: string, text: string): void {
  texts.set(title, `${texts.get(title) ?? ''}\n${text}`)
}

/** A checkout may have other line endings than git's objects. */
function normal(text: string): string {
  return text.replaceAll(/[ \t]*(?:\r\n|\r|\n)/g, '\n').trim()
}

/** The bytes of a version in the plainest style, and what was read in it. */
interface PlainVersion {
  readonly facts: Pick<TaskHead, 'id' | 'file'> & { readonly title: string }
  /** Null for another style. */
  readonly plain: string | null
}

/**
 * The same for two files in the plainest style, from their lines alone, which is much faster than reading them whole;
 * undefined if a line might have another meaning.
 */
export function changeOfPlain(
  before: PlainVersion,
  after: PlainVersion,
  vocabulary: TaskVocabulary,
): TaskChange | undefined {
  const names = plainNames(vocabulary)
  const [was, is] = [partsOf(before.plain), partsOf(after.plain)]
  const were = was && is && plainWords(before.facts, { own: was, other: is }, names)
  const are = was && is && were && plainWords(after.facts, { own: is, other: was }, names)
  return were && are ? { id: after.facts.id, ...difference(were, are) } : undefined
}

/** The lines above the sections, and the sections; null where a heading may be hidden. */
function partsOf(plain: string | null) {
  if (plain === null || ['```', '~~~', '<', '\r'].some((sign) => plain.includes(sign))) return null
  const [head = '', ...sections] = plain.split('\n## ')
  return { lines: head.split('\n').slice(1), sections }
}

type PlainParts = NonNullable<ReturnType<typeof partsOf>>

/** The names of fields and sections by the bytes of their keys and titles; null for what might mean something else. */
const plainNames = perVocabulary((vocabulary) => ({
  field: remembered((bytes) => {
    const key = decoded(bytes)
    if (/[*:]/.test(key)) return null
    return sectionNamed(vocabulary, key) ? null : (lookUp(vocabulary.fields, key) ?? key)
  }),
  value: remembered(plainText),
  section: remembered((bytes) => {
    const title = scanInlineText(decoded(bytes).trim())
    return title === null ? null : (sectionNamed(vocabulary, title) ?? title)
  }),
}))

/** Lines that may be a heading in another style, or hide one. */
const UNCLEAR = /\n(?:---|===| {1,3}#|> )| #+[ \t]*(?:\n|$)/

/** The words of one of two files that the other may not have as well; null if a line might have another meaning. */
function plainWords(
  { id, title, file }: PlainVersion['facts'],
  { own, other }: { readonly own: PlainParts; readonly other: PlainParts },
  names: ReturnType<typeof plainNames>,
): TaskWords | null {
  const fields = new Map([
    ['Id', id],
    ['Title', title],
    ['File', file],
  ])
  for (const line of own.lines) {
    if (line.trim() === '' || other.lines.includes(line)) continue
    const [, key = '*', bytes = ''] = /^- \*\*(.*?)\*\*:(.*)$/.exec(line) ?? []
    const [name, value] = [names.field(key), names.value(bytes)]
    if (name === null || value === null) return null
    if (!fields.has(name)) fields.set(name, value)
  }
  const sections = new Map<string, string>()
  for (const text of own.sections) {
    if (other.sections.includes(text)) continue
    const [heading = ''] = text.split('\n', 1)
    const title = UNCLEAR.test(text) ? null : names.section(heading)
    if (title === null) return null
    addSection(sections, title, text.slice(heading.length).trimEnd())
  }
  return { fields, sections }
}
