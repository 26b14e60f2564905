import type { HeadingBlock } from './blocks.ts'
import { readDepends } from './depends.ts'
import { readValues } from './field-values.ts'
import { readHeading } from './heading.ts'
import { scanInlineText } from './inline.ts'
import type { Field, FieldName, Product, Status, TaskFacts } from './model.ts'
import { type PlainBlock, plainBlockScanner } from './plain-block.ts'
import { decoded, perVocabulary, plainWords, type PlainWords } from './plain-words.ts'
import { productOf } from './products.ts'
import { scanHeadings, scanItems } from './scan.ts'
import { lineAfter } from './splice.ts'
import type { TaskBytes } from './task-text.ts'
import { idOf, isNone, numberOf } from './values.ts'
import type { TaskVocabulary } from './vocabulary.ts'

/**
 * Reads what an overview tells of a task file in the plainest style, over its bytes, as `scanHead` does. Null for any
 * other, for a task that is held up (its Blocked section says why), and for one that is wanted whole.
 */
export function scanFacts(
  taskBytes: TaskBytes,
  vocabulary: TaskVocabulary,
  isWanted: (bytes: string) => boolean,
): TaskFacts | null {
  const { file, id, bytes } = taskBytes
  const source = bytes.toString('latin1')
  if (isWanted(source)) return null
  const { words, scanBlock } = readersOf(vocabulary)
  const plain = { source, raw: (start: number, end: number) => bytes.toString('utf8', start, end) }
  const block = blockOf(scanBlock(taskBytes), words)
  const headings = block && scanHeadings(source, 0)
  if (block === null || headings === null || headings[0] === undefined) return null
  const products = readSections(plain, headings, words)
  const { text } = headings[0]
  const title = scanInlineText(plain.raw(text.start, text.end).trim())
  if (products === null || title === null) return null
  const number = numberOf(id)
  const depends = block.depends.map((need) => ({ id: idOf(need, id.length - 2), number: need }))
  return {
    id,
    number,
    file,
    title: readHeading(title, number).title,
    status: block.status,
    held: false,
    needs: block.depends,
    depends,
    ...readValues((name) => block.values[name] ?? ''),
    produces: products.produces,
    fields: block.unknown,
    problems: NO_PROBLEMS,
  }
}

const NO_PROBLEMS: TaskFacts['problems'] = []

const readersOf = perVocabulary((vocabulary) => {
  const words = plainWords(vocabulary)
  return { words, scanBlock: plainBlockScanner(words, () => true) }
})

/** A file as its bytes, each as one unit, and what they say. */
interface PlainText {
  readonly source: string
  /** A stretch as it was written, in a string of its own. */
  readonly raw: (start: number, end: number) => string
}

interface FactsBlock {
  readonly status: Status
  readonly depends: readonly number[]
  readonly values: Partial<Record<FieldName, string>>
  readonly unknown: TaskFacts['fields']
}

function blockOf(block: PlainBlock | null, words: PlainWords): FactsBlock | null {
  if (block === null) return null
  const values: Partial<Record<FieldName, string>> = {}
  const unknown: Pick<Field, 'name' | 'key' | 'value'>[] = []
  let status: Status | null = null
  for (let i = 0; i < block.fields.length; i++) {
    const field = block.fields[i]
    const bytes = block.values[i]
    if (!field || bytes === undefined) continue
    const { name, key, isSection } = field
    if (name === 'Status') {
      status = words.status(bytes)
      continue
    }
    const value = scanInlineText(decoded(bytes).trim())
    if (value === null || isSection) return null
    if (name === null) unknown.push({ name, key, value })
    else values[name] = value
  }
  const { ids, stranger } = readDepends(values.Depends ?? '')
  if (status === null || status === 'BLOCKED' || stranger !== null) return null
  const depends = ids.length > 1 ? [...new Set(ids.map(numberIn))] : ids.map(numberIn)
  return { status, depends, values, unknown }
}

const numberIn = ({ number }: { readonly number: number }): number => number

interface FactsSections {
  readonly produces: readonly Product[] | null
}

/** What is told of the sections; null where one is Blocked, or only the parser can tell. */
function readSections(
  plain: PlainText,
  headings: readonly HeadingBlock[],
  words: PlainWords,
): FactsSections | null {
  let produces: readonly Product[] | null = null
  for (let i = 0; i < headings.length; i++) {
    const { depth, text, span } = headings[i]!
    if (depth === 1) continue
    const name = words.title(plain.source.slice(text.start, text.end))
    if (name === 'Blocked' || name === 'unclear') return null
    if (name !== 'Produces') continue
    const end = headings[i + 1]?.span.start ?? plain.source.length
    const items = productsIn(plain, Math.min(lineAfter(plain.source, span.end), end), end)
    if (items === null) return null
    produces = produces === null ? items : [...produces, ...items]
  }
  return { produces }
}

/** The items of a stretch that is a plain list, or blank. */
function productsIn(plain: PlainText, start: number, end: number): readonly Product[] | null {
  const blocks = scanItems(plain.source, { start, end })
  if (blocks === null) return null
  const products: Product[] = []
  for (const item of blocks[0]?.items ?? []) {
    const raw = plain.raw(item.text!.start, item.text!.end)
    const text = scanInlineText(raw.trim())
    if (text === null) return null
    if (!isNone(raw)) products.push(productOf({ inlineText: () => text }, raw))
  }
  return products
}
