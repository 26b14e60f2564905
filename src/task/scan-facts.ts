import { ownText } from './byte-text.ts'
import { dependencyId, readDepends } from './depends.ts'
import { VALUE_READERS } from './field-values.ts'
import { scanInlineText } from '../markdown/inline.ts'
import type { FactName, Facts, FieldName, FieldValues, TaskFacts, TaskHead } from './model.ts'
import { type PlainBlock, plainBlockScanner } from './plain-block.ts'
import { plainNeeds } from './plain-needs.ts'
import { plainText, type PlainWords, plainWords, textReader } from './plain-words.ts'
import { holdReader } from './scan-hold.ts'
import { scanProductLists, scanProducts } from './scan-products.ts'
import type { TaskBytes } from './task-files.ts'
import { mayBeTemplate } from './template.ts'
import { numberOf } from './values.ts'
import type { TaskVocabulary } from './vocabulary.ts'

/** What is asked of each task file beside its head. */
export interface FactsAsked<K extends FactName> {
  readonly facts: readonly K[]
  /** Whether what stands above the sections is enough: of what they list nothing is said then, nor is the whole wanted. */
  readonly isEnough?: (facts: Facts<K>) => boolean
  /** Whether the whole of a file is wanted, asked of its bytes, each as one unit. */
  readonly isWanted?: (bytes: string) => boolean
}

/**
 * Makes the reader of some facts of task files in the plainest style, over their bytes. It gives null for any other
 * style, and for a task that is wanted whole: a few slower readers come after this one, and say the same of what it reads.
 * It is made of steps, one for each thing that is asked: of what is not asked there is nothing for the engine to compile.
 */
export function factsScanner<K extends FactName>(
  vocabulary: TaskVocabulary,
  { facts: names, ...ask }: FactsAsked<K>,
): (taskBytes: TaskBytes) => Facts<K> | null {
  const words = plainWords(vocabulary)
  const asked = new Set<FactName>(names)
  const readers = valueReaders(asked, vocabulary)
  const steps = [
    ...(asked.has('title') ? [readTitle] : []),
    ...(asked.has('depends') ? [dependsStep()] : []),
    ...(readers.size > 0 ? [valuesStep(readers)] : []),
    ...(asked.has('fields') ? [unknownFieldsStep(words)] : []),
    sectionsStep(words, asked, ask),
  ]
  const scanBlock = plainBlockScanner(words, ({ name, isSection }) => {
    if (isSection) return asked.has('produces') || asked.has('outputs')
    return name === null ? asked.has('fields') : name === 'Status' || name === 'Depends' || readers.has(name)
  })
  const columnsIn = columnFinder(['Status', 'Depends'])
  const blank = blankFacts(names)
  return (taskBytes) => {
    const block = scanBlock(taskBytes)
    if (block === null) return null
    const columns = columnsIn(block)
    const status = words.status(block.values[columns[0]!] ?? '')
    const needs = plainNeeds(block.values[columns[1]!] ?? '')
    if (status === null || needs === null) return null
    if (status === 'TODO' && mayBeTemplate(taskBytes.bytes)) return null
    const facts = { ...blank }
    facts.id = taskBytes.id
    facts.number = numberOf(taskBytes.id)
    facts.file = taskBytes.file
    facts.status = status
    facts.needs = needs
    for (const step of steps) if (!step(facts, block, taskBytes.bytes)) return null
    return facts as Facts<K>
  }
}

type WritableFacts = { -readonly [P in keyof TaskHead]: TaskHead[P] } & {
  -readonly [P in FactName]?: TaskFacts[P]
}

/** What all that is read is a copy of: so the engine has one kind of object for it, with room for all its facts. */
function blankFacts(asked: readonly FactName[]): WritableFacts {
  const head = { id: '', number: 0, file: '', status: null, needs: [], held: false, problems: [] }
  const facts = asked.map((name) => [name, name === 'outputs' ? 0 : null])
  return { ...head, ...Object.fromEntries(facts) }
}

/**
 * Where among a block's values the field of each name stands; beyond the last, where the block cannot have it. Most
 * files have the layout of the file before.
 */
function columnFinder(names: readonly FieldName[]): (block: PlainBlock) => readonly number[] {
  let known: PlainBlock['fields'] | undefined
  let columns: readonly number[] = []
  return ({ fields }) => {
    if (fields !== known) {
      known = fields
      columns = names.map((name) => {
        const column = fields.findIndex((field) => field?.name === name)
        return column < 0 ? fields.length : column
      })
    }
    return columns
  }
}

/** Adds to the facts of a file; false where only another reader can tell, or the task is wanted whole. */
type Step = (facts: WritableFacts, block: PlainBlock, bytes: string) => boolean

function readTitle(facts: WritableFacts, _block: PlainBlock, bytes: string): boolean {
  let start = '# '.length + facts.id.length + ':'.length
  while (bytes.charCodeAt(start) === SPACE) start++
  const title = scanInlineText(ownText(bytes.slice(start, bytes.indexOf('\n'))).trim())
  // What ends in such signs may be closed by them; what begins with an id may be another heading than it seems.
  if (title === null || title.endsWith('#') || title.startsWith('T-')) return false
  facts.title = title
  return true
}

const SPACE = 32

function dependsStep(): Step {
  const columnsIn = columnFinder(['Depends'])
  return (facts, block) => {
    const { ids } = readDepends(plainText(block.values[columnsIn(block)[0]!] ?? '') ?? '')
    // Of two ids of one number the first counts.
    const named = new Map(ids.toReversed().map((id) => [id.number, dependencyId(id, facts.id)]))
    facts.depends = facts.needs.map((number) => ({ id: named.get(number)!, number }))
    return true
  }
}

interface ValueReader {
  readonly fact: keyof FieldValues
  readonly read: (bytes: string) => { readonly value: unknown } | null
}

/** By the field that each value stands in. */
function valueReaders(
  asked: ReadonlySet<FactName>,
  vocabulary: TaskVocabulary,
): ReadonlyMap<FieldName, ValueReader> {
  const readers = new Map<FieldName, ValueReader>()
  for (const fact of asked) {
    if (!(fact in VALUE_READERS)) continue
    const { field, read } = VALUE_READERS[fact as keyof FieldValues]
    readers.set(field, {
      fact: fact as keyof FieldValues,
      read: textReader<unknown>((text) => read(text, vocabulary)),
    })
  }
  return readers
}

function valuesStep(readers: ReadonlyMap<FieldName, ValueReader>): Step {
  const each = [...readers.values()]
  const columnsIn = columnFinder([...readers.keys()])
  return (facts, block) => {
    const columns = columnsIn(block)
    for (let i = 0; i < each.length; i++) {
      const { fact, read } = each[i]!
      const found = read(block.values[columns[i]!] ?? '')
      if (found === null) return false
      ;(facts as Record<string, unknown>)[fact] = found.value
    }
    return true
  }
}

/** The fields that ralph does not know. */
function unknownFieldsStep(words: PlainWords): Step {
  return (facts, { fields, values }) => {
    const unknown: TaskFacts['fields'][number][] = []
    for (const [i, field] of fields.entries()) {
      const bytes = values[i]
      if (field === null || field.name !== null || field.isSection || bytes === undefined) continue
      const value = words.text(bytes)
      if (value === null) return false
      unknown.push({ name: null, key: field.key, value })
    }
    facts.fields = unknown
    return true
  }
}

/** What stands in the sections: whether the task is held, what it produces, and whether it is wanted whole. */
function sectionsStep(
  words: PlainWords,
  asked: ReadonlySet<FactName>,
  { isEnough, isWanted }: Omit<FactsAsked<FactName>, 'facts'>,
): Step {
  const isHeld = holdReader(words)
  const readHold: Step = (facts, { end }, bytes) => {
    if (facts.status !== 'TODO') return true
    const held = isHeld(bytes.slice(Math.max(0, end - 1)))
    facts.held = held === true
    return held !== null
  }
  const readProducts = productsStep(words, asked)
  if (!isWanted && !readProducts) return readHold
  return (facts, block, bytes) => {
    if (!readHold(facts, block, bytes)) return false
    if (isEnough?.(facts as Facts<FactName>)) return true
    if (isWanted?.(bytes)) return false
    return !readProducts || readProducts(facts, block, bytes)
  }
}

function productsStep(words: PlainWords, asked: ReadonlySet<FactName>): Step | null {
  const [outputs, produces] = [asked.has('outputs'), asked.has('produces')]
  if (!outputs && !produces) return null
  return (facts, { fields, values }, bytes) => {
    // A field in place of a section is left to the parser.
    if (fields.some((field, i) => field?.isSection && values[i] !== undefined)) return false
    const lists = scanProductLists(bytes, words)
    if (lists === null) return false
    const items = lists.flat()
    if (outputs) facts.outputs = items.length
    if (!produces || lists.length === 0) return true
    const products = scanProducts(items)
    if (products !== null) facts.produces = products
    return products !== null
  }
}
