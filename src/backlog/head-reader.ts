import type { Span } from '../base/diagnostic.ts'
import { type KeyMeaning, decoded, ownText, plainText, plainWords, textReader } from './plain-words.ts'
import { dependencyId, readDepends } from './depends.ts'
import { VALUE_READERS } from './field-values.ts'
import { scanInlineText } from './markdown/inline.ts'
import { withoutBullet } from './markdown/lines.ts'
import { hasLoneLineEnd, lineEnd, scanBlocks, scanHeadings } from './markdown/scan.ts'
import {
  type FactName,
  type Facts,
  type FieldName,
  type FieldValues,
  type Product,
  SECTION_NAMES,
  type TaskFacts,
  type TaskHead,
} from './model.ts'
import { productOf } from './products.ts'
import type { TaskBytes } from './task-files.ts'
import { mayBeTemplate } from './template.ts'
import type { TaskIds, TaskNumber } from './ids.ts'
import { isNone } from './values.ts'
import type { TaskVocabulary } from './vocabulary.ts'

/** Which facts to read beside a task's head. */
export interface FactRequest<K extends FactName> {
  readonly facts: readonly K[]
  /** Whether the facts above the sections are enough: then the sections are not read. */
  readonly isEnough?: (facts: Facts<K>) => boolean
  /** Whether a file must be read whole, from its bytes, each as one unit. */
  readonly isWanted?: (bytes: string) => boolean
}

/**
 * Makes the reader of some facts of task files in the plainest style, over their bytes. It returns null for any other
 * style, and for a task that is wanted whole: then slower readers, with the same results, read the file.
 */
export function factsScanner<K extends FactName>(
  vocabulary: TaskVocabulary,
  { facts: names, isEnough, isWanted }: FactRequest<K>,
): (taskBytes: TaskBytes) => Facts<K> | null {
  const words = plainWords(vocabulary)
  const reading = { words, anyId: vocabulary.ids.regex('<named>') }
  const { ids } = vocabulary
  const wanted = new Set<FactName>(names)
  const values = [...wanted].filter((fact): fact is keyof FieldValues => fact in VALUE_READERS)
  const readProducts =
    wanted.has('outputs') || wanted.has('produces') ? productsStep(words, wanted.has('produces')) : null
  const fieldSteps = [
    ...(wanted.has('title') ? [titleStep(vocabulary)] : []),
    ...(wanted.has('depends') ? [dependenciesStep(vocabulary)] : []),
    ...values.map((fact) => valueStep(fact, vocabulary)),
    ...(wanted.has('fields') ? [unknownFieldsStep(words)] : []),
    holdStep(words, ids),
  ]
  return (taskBytes) => {
    const { id, file, bytes } = taskBytes
    const fields = readBlock(taskBytes, reading)
    if (fields === null) return null
    const status = words.status(valueOf(fields, 'Status'))
    const needs = readNeeds(valueOf(fields, 'Depends'), ids)
    if (status === null || needs === null || (status === 'TODO' && mayBeTemplate(bytes))) return null
    const facts: WritableFacts = {
      id,
      number: ids.numberOf(id),
      file,
      status,
      needs,
      held: false,
      problems: [],
    }
    for (const step of fieldSteps) if (!step(facts, fields, bytes)) return null
    if (isEnough?.(facts as Facts<K>)) return facts as Facts<K>
    if (isWanted?.(bytes) || readProducts?.(facts, fields, bytes) === false) return null
    return facts as Facts<K>
  }
}

type Words = ReturnType<typeof plainWords>

type WritableFacts = { -readonly [P in keyof TaskHead]: TaskHead[P] } & {
  -readonly [P in FactName]?: TaskFacts[P]
}

/** Adds facts of a file; returns false if another reader is needed. */
type Step = (facts: WritableFacts, fields: readonly PlainField[], bytes: string) => boolean

/** A field, and the bytes of its value. */
interface PlainField {
  readonly meaning: KeyMeaning
  readonly value: string
}

/**
 * The fields of a file in the plainest style: `# T-004: …`, then only blank lines and bullets of one line, `- **Key**:
 * value`, no field twice, up to the first `## `; null for any other.
 */
function readBlock(
  { id, bytes }: TaskBytes,
  { words, anyId }: { words: Words; anyId: RegExp },
): readonly PlainField[] | null {
  if (!bytes.startsWith(`# ${id}:`)) return null
  const section = bytes.indexOf('\n## ')
  const head = section < 0 ? bytes : bytes.slice(0, section)
  if (hasLoneLineEnd(head) || KEY_IN_ROW.test(head)) return null
  const fields: PlainField[] = []
  let next = head.indexOf('\n') + 1
  while (next > 0) {
    const at = next
    next = head.indexOf('\n', at) + 1
    const line = head.slice(at, next > 0 ? next - 1 : head.length)
    if (line === '' || line === '\r') continue
    const keyEnd = line.startsWith('- **') ? line.indexOf('**:', '- **'.length) : -1
    const meaning = keyEnd < 0 ? null : words.key(line.slice('- **'.length, keyEnd))
    if (meaning === null) return null
    const isRepeated = meaning.name !== null && fields.some((field) => field.meaning.name === meaning.name)
    const value = line.slice(keyEnd + '**:'.length)
    if (isRepeated || (meaning.mayNeed && anyId.test(value))) return null
    fields.push({ meaning, value })
  }
  return fields
}

/** A line with several fields: another bold key, or a key after a separator. Those beyond ASCII are matched by their last byte. */
const KEY_IN_ROW =
  /(?<!\n- )\*\*[^\s*:][^*\n]*(?::\*\*|\*\*:)|(?:[|;\xb7\x9c\xa2]|  )[ \t]*[^\s:|;][^\n:|;]{0,40}:/

function valueOf(fields: readonly PlainField[], name: FieldName): string {
  return fields.find(({ meaning }) => meaning.name === name)?.value ?? ''
}

const NO_NEEDS: readonly TaskNumber[] = []

/** The numbers in a Depends value, each once; null if it contains more than ids. */
function readNeeds(bytes: string, ids: TaskIds): readonly TaskNumber[] | null {
  // The most frequent values, read much faster than below, with the same result.
  if (bytes === '' || bytes === ' none') return NO_NEEDS
  if (ids.regex('^ <id>$', '').test(bytes)) return [ids.numberOf(bytes.slice(1))]
  const value = plainText(bytes)
  const depends = value === null ? null : readDepends(value, ids)
  return depends?.stranger === null ? [...new Set(depends.ids.map(({ number }) => number))] : null
}

function titleStep({ ids }: TaskVocabulary): Step {
  const beginsWithId = ids.regex('^<named>')
  return (facts, _fields, bytes) => {
    const line = bytes.slice('# '.length + facts.id.length + ':'.length, bytes.indexOf('\n'))
    const title = scanInlineText(ownText(line).trim())
    // A trailing # may close the heading; a title that begins with an id may mean another heading.
    if (title === null || title.endsWith('#') || beginsWithId.test(title)) return false
    facts.title = title
    return true
  }
}

function dependenciesStep({ ids: known }: TaskVocabulary): Step {
  return (facts, fields) => {
    const { ids } = readDepends(plainText(valueOf(fields, 'Depends')) ?? '', known)
    // Of two ids with one number the first counts.
    const named = new Map(
      ids.toReversed().map((id) => [id.number, dependencyId(id, { own: facts.id, ids: known })]),
    )
    facts.depends = facts.needs.map((number) => ({ id: named.get(number)!, number }))
    return true
  }
}

function valueStep(fact: keyof FieldValues, vocabulary: TaskVocabulary): Step {
  const { field, read } = VALUE_READERS[fact]
  const readBytes = textReader<unknown>((text) => read(text, vocabulary))
  return (facts, fields) => {
    const found = readBytes(valueOf(fields, field))
    if (found !== null) (facts as Record<string, unknown>)[fact] = found.value
    return found !== null
  }
}

/** The fields that ralph does not know. */
function unknownFieldsStep(words: Words): Step {
  return (facts, fields) => {
    const unknown: TaskFacts['fields'][number][] = []
    for (const { meaning, value: bytes } of fields) {
      if (meaning.name !== null || meaning.isSection) continue
      const value = words.text(bytes)
      if (value === null) return false
      unknown.push({ name: null, key: meaning.key, value })
    }
    facts.fields = unknown
    return true
  }
}

/** Reads whether a TODO has a Blocked section. */
function holdStep(words: Words, ids: TaskIds): Step {
  const usual = SECTION_NAMES.filter((name) => words.title(name) !== 'Blocked').join('|')
  // An unusual section, or another form of a second-level heading: not two marks and a blank in the first column.
  const unusual = new RegExp(
    `\\n(?:## (?!(?:${usual})\\r?\\n)| {0,3}-+[ \\t]*(?:[\\r\\n]|$)| {1,3}##|##(?![# ]))`,
  )
  return (facts, _fields, bytes) => {
    if (facts.status !== 'TODO') return true
    if (hasLoneLineEnd(bytes)) return false
    if (!unusual.test(bytes)) return true
    const sections = plainSections(bytes, words)
    facts.held = sections?.some(({ name }) => name === 'Blocked') ?? false
    return sections !== null && !sections.some((one) => one.name === 'another' && mayListIds(one, bytes, ids))
  }
}

/** Counts the products, and reads them too if they are wanted: most callers only need their number. */
function productsStep(words: Words, areWanted: boolean): Step {
  return (facts, fields, bytes) => {
    // A field in place of a section needs the parser.
    const sections = fields.some(({ meaning }) => meaning.isSection) ? null : plainSections(bytes, words)
    const own = sections?.filter(({ name }) => name === 'Produces')
    const lists = own?.map((section) => itemsIn(section, bytes))
    if (!lists || lists.includes(null)) return false
    const items = lists.flatMap((list) => list ?? [])
    facts.outputs = items.length
    if (!areWanted) return true
    const products = items.map(plainProduct)
    if (products.includes(null)) return false
    facts.produces = lists.length === 0 ? null : products.flatMap((product) => product ?? [])
    return true
  }
}

/** The sections with the spans of their bodies; null if only the parser can decide. */
function plainSections(bytes: string, words: Words) {
  const headings = scanHeadings(bytes, 0)?.filter(({ depth }) => depth <= 2)
  const sections = headings?.flatMap(({ depth, text, span }, index) => {
    const name = depth === 2 ? words.title(bytes.slice(text.start, text.end)) : 'none'
    const end = headings[index + 1]?.span.start ?? bytes.length
    return name === 'none' ? [] : [{ name, start: Math.min(lineEnd(bytes, span.end).next, end), end }]
  })
  return sections?.every(({ name }) => name !== null) ? sections : null
}

/** Whether a section may be a list of ids, which may be dependencies; lines that say `none` may begin it. */
function mayListIds({ start, end }: Span, bytes: string, ids: TaskIds): boolean {
  const beginsWithId = ids.regex('^(?:<!--|[[*_`~]*<named>)')
  for (const [line] of bytes.slice(start, end).matchAll(/[^\n]+/g)) {
    const text = withoutBullet(ownText(line))
    if (beginsWithId.test(text)) return true
    if (text !== '' && readDepends(text, ids).stranger !== null) return false
  }
  return false
}

/** The items of a section's lists, as bytes; null if it has anything else. */
function itemsIn(section: Span, bytes: string): readonly string[] | null {
  const blocks = scanBlocks(bytes, section)
  if (blocks === null || blocks.some(({ kind }) => kind !== 'list')) return null
  const items = blocks.flatMap((block) => (block.kind === 'list' ? block.items : []))
  return items.map(({ text }) => bytes.slice(text!.start, text!.end)).filter((item) => !isNone(decoded(item)))
}

function plainProduct(item: string): Product | null {
  const raw = ownText(item)
  const text = scanInlineText(raw.trim())
  return text === null ? null : productOf(raw, () => text)
}
