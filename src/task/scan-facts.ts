import type { Span } from '../base/diagnostic.ts'
import type { HeadingBlock } from './blocks.ts'
import { readValues, VALUE_READERS } from './field-values.ts'
import { readHeading } from './heading.ts'
import { scanInlineText } from './inline.ts'
import type {
  FactName,
  Facts,
  Field,
  FieldName,
  FieldValues,
  Product,
  Status,
  TaskFacts,
  TaskHead,
} from './model.ts'
import { type PlainBlock, plainBlockScanner } from './plain-block.ts'
import { NO_NEEDS, plainNeeds } from './plain-needs.ts'
import { plainWords, type PlainWords } from './plain-words.ts'
import { productOf } from './products.ts'
import { scanHeadings, scanItems } from './scan.ts'
import { lineAfter } from './splice.ts'
import type { TaskBytes } from './task-text.ts'
import { idOf, isNone, numberOf } from './values.ts'
import type { TaskVocabulary } from './vocabulary.ts'

/** What is asked of each task file beside its head, and of which files the whole. */
export interface FactsAsked<K extends FactName> {
  readonly facts: readonly K[]
  /** Asked of a file's bytes, each as one unit. */
  readonly isWanted?: (bytes: string) => boolean
}

/**
 * Makes the reader of some facts of task files in the plainest style, over their bytes, as `scanHead` goes. It gives
 * null for any other style, for a task that is held up (its Blocked section says why), and for one that is wanted whole.
 */
export function factsScanner<K extends FactName>(
  vocabulary: TaskVocabulary,
  { facts: names, isWanted }: FactsAsked<K>,
): (taskBytes: TaskBytes) => Facts<K> | null {
  const words = plainWords(vocabulary)
  const asked = new Set<FactName>(names)
  const [title, depends, produces, unknown] = (['title', 'depends', 'produces', 'fields'] as const).map(
    (name) => asked.has(name),
  )
  const valueNames = [...asked].filter((name): name is keyof FieldValues => name in VALUE_READERS)
  const fields = new Set<FieldName | null>(valueNames.map((name) => VALUE_READERS[name].field))
  if (unknown) fields.add(null)
  const scanBlock = plainBlockScanner(
    words,
    ({ name, isSection }) => name === 'Status' || name === 'Depends' || isSection || fields.has(name),
  )
  return (taskBytes) => {
    const { file, id, bytes } = taskBytes
    const source = bytes.toString('latin1')
    if (isWanted?.(source)) return null
    const block = readBlock(scanBlock(taskBytes), words)
    const headings = block && scanHeadings(source, 0)
    if (block === null || headings === null || headings[0] === undefined) return null
    const lists = productSpans(source, headings, words)
    if (lists === null) return null
    const { status, needs } = block
    const number = numberOf(id)
    const facts: Writable<TaskHead & Partial<TaskFacts>> = {
      id,
      number,
      file,
      status,
      needs,
      held: false,
      problems: NO_PROBLEMS,
    }
    if (title) {
      const { start, end } = headings[0].text
      const text = scanInlineText(bytes.toString('utf8', start, end).trim())
      if (text === null) return null
      facts.title = readHeading(text, number).title
    }
    if (depends) facts.depends = needs.map((need) => ({ id: idOf(need, id.length - 2), number: need }))
    if (produces) {
      const products = productsIn(lists, source, bytes)
      if (products === null) return null
      facts.produces = lists.length === 0 ? null : products
    }
    if (unknown) facts.fields = block.unknown
    Object.assign(
      facts,
      readValues((field) => block.values[field] ?? '', valueNames),
    )
    return facts as Facts<K>
  }
}

type Writable<T> = { -readonly [P in keyof T]: T[P] }

const NO_PROBLEMS: TaskFacts['problems'] = []

interface FactsBlock {
  readonly status: Status
  readonly needs: readonly number[]
  readonly values: Partial<Record<FieldName, string>>
  readonly unknown: TaskFacts['fields']
}

function readBlock(block: PlainBlock | null, words: PlainWords): FactsBlock | null {
  if (block === null) return null
  const values: Partial<Record<FieldName, string>> = {}
  const unknown: Pick<Field, 'name' | 'key' | 'value'>[] = []
  let status: Status | null = null
  let needs: readonly number[] | null = NO_NEEDS
  for (let i = 0; i < block.fields.length; i++) {
    const field = block.fields[i]
    const bytes = block.values[i]
    if (!field || bytes === undefined) continue
    const { name, key, isSection } = field
    if (name === 'Status') {
      status = words.status(bytes)
      continue
    }
    if (name === 'Depends') {
      needs = plainNeeds(bytes)
      continue
    }
    const value = words.text(bytes)
    if (value === null || isSection) return null
    if (name === null) unknown.push({ name, key, value })
    else values[name] = value
  }
  if (status === null || status === 'BLOCKED' || needs === null) return null
  return { status, needs, values, unknown }
}

/** Where the sections that list products stand; null where one is Blocked, or only the parser can tell. */
function productSpans(
  source: string,
  headings: readonly HeadingBlock[],
  words: PlainWords,
): readonly Span[] | null {
  const spans: Span[] = []
  for (let i = 0; i < headings.length; i++) {
    const { depth, text, span } = headings[i]!
    if (depth === 1) continue
    const name = words.title(source.slice(text.start, text.end))
    if (name === 'Blocked' || name === 'unclear') return null
    if (name !== 'Produces') continue
    const end = headings[i + 1]?.span.start ?? source.length
    spans.push({ start: Math.min(lineAfter(source, span.end), end), end })
  }
  return spans
}

/** The items of stretches that are plain lists, or blank; null where one is more. */
function productsIn(spans: readonly Span[], source: string, bytes: Buffer): readonly Product[] | null {
  const products: Product[] = []
  for (const span of spans) {
    const blocks = scanItems(source, span)
    if (blocks === null) return null
    for (const { text: at } of blocks[0]?.items ?? []) {
      // A string of its own: a part of the source would keep all of that in memory.
      const raw = bytes.toString('utf8', at!.start, at!.end)
      const text = scanInlineText(raw.trim())
      if (text === null) return null
      if (!isNone(raw)) products.push(productOf({ inlineText: () => text }, raw))
    }
  }
  return products
}
