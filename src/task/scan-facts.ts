import { VALUE_READERS } from './field-values.ts'
import { readHeading } from './heading.ts'
import { scanInlineText } from './inline.ts'
import type { FactName, Facts, FieldName, FieldValues, TaskFacts, TaskHead } from './model.ts'
import { type PlainBlock, plainBlockScanner } from './plain-block.ts'
import { plainNeeds } from './plain-needs.ts'
import { type PlainWords, plainWords, textReader } from './plain-words.ts'
import { holdReader } from './scan-hold.ts'
import { scanProducts, scanProductLists } from './scan-products.ts'
import type { TaskBytes } from './task-text.ts'
import { idOf, numberOf } from './values.ts'
import type { TaskVocabulary } from './vocabulary.ts'

/** What is asked of each task file beside its head. */
export interface FactsAsked<K extends FactName> {
  readonly facts: readonly K[]
  /** Whether what stands above a file's sections is enough: nothing is said then of what it produces, nor the whole wanted. */
  readonly isEnough?: (facts: Facts<K>) => boolean
  /** Whether the whole of a file is wanted, asked of its bytes, each as one unit. */
  readonly isWanted?: (bytes: string) => boolean
}

/**
 * Makes the reader of some facts of task files in the plainest style, over their bytes. It gives null for any other
 * style, and for a task that is wanted whole: a few slower readers come after this one, and say the same of what it reads.
 */
export function factsScanner<K extends FactName>(
  vocabulary: TaskVocabulary,
  { facts: names, isEnough, isWanted }: FactsAsked<K>,
): (taskBytes: TaskBytes) => Facts<K> | null {
  const words = plainWords(vocabulary)
  const isHeld = holdReader(words)
  const asked = new Set<FactName>(names)
  const [title, depends, produces, outputs, unknown] = (
    ['title', 'depends', 'produces', 'outputs', 'fields'] as const
  ).map((name) => asked.has(name))
  const asksProducts = produces === true || outputs === true
  const blank = blankFacts(names)
  const readers = valueReaders(asked)
  const scanBlock = plainBlockScanner(words, ({ name, isSection }) => {
    if (isSection) return asksProducts
    return name === null ? unknown === true : name === 'Status' || name === 'Depends' || readers.has(name)
  })
  let columns: Columns | null = null
  return (taskBytes) => {
    const block = scanBlock(taskBytes)
    if (block === null) return null
    // Most files have the layout of the file before.
    if (columns?.of !== block.fields) columns = columnsOf(block.fields, readers)
    const { values } = block
    const status = words.status(values[columns.status] ?? '')
    const needs = plainNeeds(values[columns.depends] ?? '')
    if (status === null || needs === null) return null
    // A field in place of a section is left to the parser.
    for (const column of columns.sections) if (values[column] !== undefined) return null
    const { file, id, bytes } = taskBytes
    const number = numberOf(id)
    const facts = { ...blank }
    facts.id = id
    facts.number = number
    facts.file = file
    facts.status = status
    facts.needs = needs
    if (title) {
      const text = headingText(bytes, block.headingEnd)
      if (text === null) return null
      facts.title = readHeading(text, number).title
    }
    if (depends) facts.depends = needs.map((need) => ({ id: idOf(need, id.length - 2), number: need }))
    for (const { fact, read, column } of columns.facts) {
      const value = read(values[column] ?? '')
      if (value === null) return null
      ;(facts as Record<string, unknown>)[fact] = value.value
    }
    if (unknown) {
      const fields = unknownFields(block, words)
      if (fields === null) return null
      facts.fields = fields
    }
    const readsOn = (asksProducts || isWanted) && !isEnough?.(facts as Facts<K>)
    if (!readsOn && status !== 'TODO') return facts as Facts<K>
    const source = bytes.toString('latin1', readsOn ? 0 : Math.max(0, block.end - 1))
    if (status === 'TODO') {
      const held = isHeld(source)
      if (held === null) return null
      facts.held = held
    }
    if (readsOn && isWanted?.(source)) return null
    if (readsOn && asksProducts) {
      const lists = scanProductLists(source, words)
      if (lists === null) return null
      const items = lists.flat()
      if (outputs) facts.outputs = items.length
      if (produces && lists.length > 0) {
        const products = scanProducts(items)
        if (products === null) return null
        facts.produces = products
      }
    }
    return facts as Facts<K>
  }
}

type WritableFacts = { -readonly [P in keyof TaskHead]: TaskHead[P] } & {
  -readonly [P in FactName]?: TaskFacts[P]
}

/** What all that is read is a copy of: so the engine has one kind of object for it, and room in it for all its facts. */
function blankFacts(asked: readonly FactName[]): WritableFacts {
  const head = { id: '', number: 0, file: '', status: null, needs: [], held: false, problems: [] }
  const facts = asked.map((name) => [name, name === 'outputs' ? 0 : null])
  return { ...head, ...Object.fromEntries(facts) }
}

type ReadValue = (bytes: string) => { readonly value: unknown } | null

interface ValueReader {
  readonly fact: keyof FieldValues
  readonly read: ReadValue
}

/** By the field that each value stands in. */
function valueReaders(asked: ReadonlySet<FactName>): ReadonlyMap<FieldName | null, ValueReader> {
  const readers = new Map<FieldName | null, ValueReader>()
  for (const fact of asked) {
    if (!(fact in VALUE_READERS)) continue
    const { field, read } = VALUE_READERS[fact as keyof FieldValues]
    readers.set(field, { fact: fact as keyof FieldValues, read: textReader<unknown>(read) })
  }
  return readers
}

/** Where among a block's values stands what is asked; beyond the last where it has none such. */
interface Columns {
  readonly of: PlainBlock['fields']
  readonly status: number
  readonly depends: number
  readonly facts: readonly (ValueReader & { readonly column: number })[]
  readonly sections: readonly number[]
}

function columnsOf(of: PlainBlock['fields'], readers: ReadonlyMap<FieldName | null, ValueReader>): Columns {
  const columnOf = (name: FieldName | null): number => {
    const column = of.findIndex((field) => field !== null && field.name === name)
    return column < 0 ? of.length : column
  }
  const facts = [...readers].map(([field, reader]) => ({ ...reader, column: columnOf(field) }))
  const sections = of.flatMap((field, column) => (field?.isSection ? [column] : []))
  return { of, status: columnOf('Status'), depends: columnOf('Depends'), facts, sections }
}

/** The whole text of the heading, which is the first line; null where only the parser can tell. */
function headingText(bytes: Buffer, end: number): string | null {
  const text = bytes.toString('utf8', '# '.length, end).trim()
  // What ends in such signs may be closed by them.
  return text.endsWith('#') ? null : scanInlineText(text)
}

/** The fields that ralph does not know; null where only the parser can tell. */
function unknownFields({ fields, values }: PlainBlock, words: PlainWords): TaskFacts['fields'] | null {
  const unknown: TaskFacts['fields'][number][] = []
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i]
    const bytes = values[i]
    if (!field || field.name !== null || field.isSection || bytes === undefined) continue
    const value = words.text(bytes)
    if (value === null) return null
    unknown.push({ name: null, key: field.key, value })
  }
  return unknown
}
