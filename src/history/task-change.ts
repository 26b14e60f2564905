import { scanInlineText } from '../markdown/inline.ts'
import { decoded } from '../task/byte-text.ts'
import type { Section, Status, Task } from '../task/model.ts'
import { lookUp, sectionNamed, type TaskVocabulary } from '../task/vocabulary.ts'

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
  const [were, are] = [wordsOf(before), wordsOf(after)]
  const names = [...new Set([...were.keys(), ...are.keys()])]
  const fields = names.flatMap((name): FieldChange[] => {
    const [was, is] = [were.get(name) ?? null, are.get(name) ?? null]
    return was === is ? [] : [{ name, before: was, after: is }]
  })
  return { id: after.id, fields, sections: changedSections(before, after) }
}

/** How the status changed; null is the status of a missing task. */
export function turnOf(before: Status | null, after: Status | null): 'done' | 'blocked' | 'open' | null {
  if (before === after) return null
  if (after === 'DONE') return 'done'
  if (after === 'BLOCKED') return 'blocked'
  return after === 'TODO' && before !== null ? 'open' : null
}

function wordsOf({ id, title, file, fields }: Task): ReadonlyMap<string, string> {
  const words = new Map([
    ['Id', id],
    ['Title', title],
    ['File', file],
  ])
  for (const { name, key, value } of fields) if (!words.has(name ?? key)) words.set(name ?? key, value)
  return words
}

function changedSections(before: Task, after: Task): readonly string[] {
  const [were, are] = [sectionsOf(before), sectionsOf(after)]
  const titles = [...new Set([...were.keys(), ...are.keys()])]
  return titles.filter((title) => were.get(title) !== are.get(title))
}

/** Sections with the same title count as one. */
function sectionsOf({ source, sections }: Task): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  for (const section of sections) {
    const title = titleOf(section)
    const text = normal(source.slice(section.bodySpan.start, section.bodySpan.end))
    texts.set(title, `${texts.get(title) ?? ''}\n${text}`)
  }
  return texts
}

function titleOf({ name, title }: Section): string {
  return name ?? title
}

/** A checkout may have other line endings than git's objects. */
function normal(text: string): string {
  return text.replaceAll(/[ \t]*(?:\r\n|\r|\n)/g, '\n').trim()
}

/** The bytes of a file in the plainest style, with what the scanner found. */
interface PlainVersion {
  readonly id: string
  readonly title: string
  readonly file: string
  readonly bytes: string
}

/**
 * The same for two files in the plainest style, from their lines alone, about twenty times as fast as reading them
 * whole; undefined if a line might have another meaning.
 */
export function changeOfPlain(
  before: PlainVersion,
  after: PlainVersion,
  vocabulary: TaskVocabulary,
): TaskChange | undefined {
  const [were, are] = [plainParts(before.bytes), plainParts(after.bytes)]
  if (were === null || are === null) return undefined
  const fields = were.block === are.block ? [] : changedLines(were.block, are.block, vocabulary)
  if (fields === null) return undefined
  const own = (['id', 'title', 'file'] as const).flatMap((key): FieldChange[] => {
    const [was, is] = [before[key], after[key]]
    return was === is ? [] : [{ name: `${key[0]!.toUpperCase()}${key.slice(1)}`, before: was, after: is }]
  })
  const sections = changedTexts(were.sections, are.sections)
  if (sections.some((text) => UNCLEAR.test(text))) return undefined
  const titles = sections.map((text) => scanInlineText(decoded(text.split('\n', 1)[0] ?? '').trim()))
  if (!titles.every((title) => title !== null)) return undefined
  const names = titles.map((title) => sectionNamed(vocabulary, title) ?? title)
  return { id: after.id, fields: [...own, ...fields], sections: [...new Set(names)] }
}

/** Signs that may hide a heading. */
const HIDING = ['```', '~~~', '<', '\r']
/** Lines that may be a heading in another style, or hide one. */
const UNCLEAR = /\n(?:---|===| {1,3}#|> )| #+[ \t]*(?:\n|$)/

function plainParts(bytes: string): { readonly block: string; readonly sections: readonly string[] } | null {
  for (const sign of HIDING) if (bytes.includes(sign)) return null
  const [head = '', ...sections] = bytes.split('\n## ')
  return { block: head.slice(head.indexOf('\n') + 1), sections }
}

/** The fields in lines that only one of two blocks has; null if a line is no plain field. */
function changedLines(before: string, after: string, vocabulary: TaskVocabulary): FieldChange[] | null {
  const [were, are] = [before.split('\n'), after.split('\n')]
  const changes = new Map<string, { name: string; before: string | null; after: string | null }>()
  for (const [side, lines, others] of [
    ['before', were, are],
    ['after', are, were],
  ] as const) {
    for (const line of lines) {
      if (line.trim() === '' || others.includes(line)) continue
      const [, key, bytes] = /^- \*\*([^*:]+)\*\*: ?(.*)$/.exec(line) ?? []
      const value = bytes === undefined ? null : scanInlineText(decoded(bytes).trim())
      if (key === undefined || value === null || sectionNamed(vocabulary, decoded(key))) return null
      const name = lookUp(vocabulary.fields, decoded(key)) ?? decoded(key)
      const change = changes.get(name) ?? { name, before: null, after: null }
      change[side] = value
      changes.set(name, change)
    }
  }
  return [...changes.values()].filter((change) => change.before !== change.after)
}

/** The sections whose bytes only one of two files has. */
function changedTexts(before: readonly string[], after: readonly string[]): readonly string[] {
  const only = (texts: readonly string[], others: readonly string[]): readonly string[] =>
    texts.filter(
      (text, index) => others[index] !== text && !others.some((one) => one.trimEnd() === text.trimEnd()),
    )
  return [...only(before, after), ...only(after, before)]
}
