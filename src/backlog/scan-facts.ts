import { ownText } from './byte-text.ts'
import { dependencyId, readDepends } from './depends.ts'
import { VALUE_READERS } from './field-values.ts'
import { scanInlineText } from './markdown/inline.ts'
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
 * style, and for a task that is wanted whole: then slower readers, with the same results, read the file. It consists
 * of one step for each requested fact, so the engine compiles no others.
 */
export function factsScanner<K extends FactName>(
  vocabulary: TaskVocabulary,
  { facts: names, ...ask }: FactRequest<K>,
): (taskBytes: TaskBytes) => Facts<K> | null {
  const words = plainWords(vocabulary)
  const wanted = new Set<FactName>(names)
  const readers = valueReaders(wanted, vocabulary)
  const steps = [
    ...(wanted.has('title') ? [readTitle] : []),
    ...(wanted.has('depends') ? [dependsStep()] : []),
    ...(readers.size > 0 ? [valuesStep(readers)] : []),
    ...(wanted.has('fields') ? [unknownFieldsStep(words)] : []),
    sectionsStep(words, wanted, ask),
  ]
  const scanBlock = plainBlockScanner(words, ({ name, isSection }) => {
    if (isSection) return wanted.has('produces') || wanted.has('outputs')
    return name === null ? wanted.has('fields') : name === 'Status' || name === 'Depends' || readers.has(name)
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

/** The object that all results are copies of: so they share one hidden class, with room for all facts. */
function blankFacts(wanted: readonly FactName[]): WritableFacts {
  const head = { id: '', number: 0, file: '', status: null, needs: [], held: false, problems: [] }
  const facts = wanted.map((name) => [name, name === 'outputs' ? 0 : null])
  return { ...head, ...Object.fromEntries(facts) }
}

/**
 * The column of each field among a block's values; beyond the last one for a field that the block cannot have. Most
 * files have the same layout as the file before.
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

/** Adds facts of a file; returns false if another reader is needed, or the task is wanted whole. */
type Step = (facts: WritableFacts, block: PlainBlock, bytes: string) => boolean

function readTitle(facts: WritableFacts, _block: PlainBlock, bytes: string): boolean {
  let start = '# '.length + facts.id.length + ':'.length
  while (bytes.charCodeAt(start) === SPACE) start++
  const title = scanInlineText(ownText(bytes.slice(start, bytes.indexOf('\n'))).trim())
  // A trailing # may close the heading; a title that begins with an id may mean another heading.
  if (title === null || title.endsWith('#') || title.startsWith('T-')) return false
  facts.title = title
  return true
}

const SPACE = 32

function dependsStep(): Step {
  const columnsIn = columnFinder(['Depends'])
  return (facts, block) => {
    const { ids } = readDepends(plainText(block.values[columnsIn(block)[0]!] ?? '') ?? '')
    // Of two ids with one number the first counts.
    const named = new Map(ids.toReversed().map((id) => [id.number, dependencyId(id, facts.id)]))
    facts.depends = facts.needs.map((number) => ({ id: named.get(number)!, number }))
    return true
  }
}

interface ValueReader {
  readonly fact: keyof FieldValues
  readonly read: (bytes: string) => { readonly value: unknown } | null
}

/** Reads the values, each from its field. */
function valueReaders(
  wanted: ReadonlySet<FactName>,
  vocabulary: TaskVocabulary,
): ReadonlyMap<FieldName, ValueReader> {
  const readers = new Map<FieldName, ValueReader>()
  for (const fact of wanted) {
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

/** Reads the sections: whether the task is held, what it produces, and whether it is wanted whole. */
function sectionsStep(
  words: PlainWords,
  wanted: ReadonlySet<FactName>,
  { isEnough, isWanted }: Omit<FactRequest<FactName>, 'facts'>,
): Step {
  const isHeld = holdReader(words)
  const readHold: Step = (facts, { end }, bytes) => {
    if (facts.status !== 'TODO') return true
    const held = isHeld(bytes.slice(Math.max(0, end - 1)))
    facts.held = held === true
    return held !== null
  }
  const readProducts = productsStep(words, wanted)
  if (!isWanted && !readProducts) return readHold
  return (facts, block, bytes) => {
    if (!readHold(facts, block, bytes)) return false
    if (isEnough?.(facts as Facts<FactName>)) return true
    if (isWanted?.(bytes)) return false
    return !readProducts || readProducts(facts, block, bytes)
  }
}

function productsStep(words: PlainWords, wanted: ReadonlySet<FactName>): Step | null {
  const [outputs, produces] = [wanted.has('outputs'), wanted.has('produces')]
  if (!outputs && !produces) return null
  return (facts, { fields, values }, bytes) => {
    // A field in place of a section needs the parser.
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
