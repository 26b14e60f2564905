import type { Node } from 'jsonc-parser/lib/esm/main.js'
import { parseTree, printParseErrorCode, type ParseError } from 'jsonc-parser/lib/esm/main.js'
import { isAlias, isMap, isScalar, isSeq, parseDocument, type Document, type Node as YamlNode } from 'yaml'
import type { Span } from '../base/diagnostic.ts'
import { isDeep } from '../markdown/frontmatter.ts'

/** What stands in a file of JSON or YAML, and where. */
export type Value = Scalar | List | Table

export interface Scalar {
  readonly kind: 'scalar'
  readonly value: string | number | boolean | null
  /** As text: of a number the digits that are written, so that 1.10 is not 1.1. */
  readonly text: string
  readonly span: Span
}

export interface List {
  readonly kind: 'list'
  readonly items: readonly Value[]
  readonly span: Span
}

export interface Table {
  readonly kind: 'table'
  readonly entries: ReadonlyMap<string, Value>
  /** Where its first key is written; null where it has none. */
  readonly firstKey: number | null
  readonly span: Span
}

/** What a text holds, or why that cannot be told. */
export type ValueReading =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly at: number; readonly message: string }

/** Reads JSON, with or without comments and trailing commas. */
export function readJsonValue(text: string): ValueReading {
  const errors: ParseError[] = []
  try {
    const root = parseTree(text, errors, { allowTrailingComma: true })
    const [error] = errors
    if (error)
      return {
        ok: false,
        at: error.offset,
        message: `not valid JSON: ${inWords(printParseErrorCode(error.error))}`,
      }
    if (!root) return { ok: false, at: 0, message: 'the file is empty' }
    return { ok: true, value: fromJson(root, text) }
  } catch (error) {
    if (error instanceof Misread) return { ok: false, at: error.at, message: error.message }
    // The parser goes as deep as the text does.
    if (error instanceof RangeError) return { ok: false, at: 0, message: 'nested too deeply' }
    throw error
  }
}

/** What two readers refuse where they find it; it never leaves this file. */
class Misread extends Error {
  readonly at: number
  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

function fromJson(node: Node, text: string): Value {
  const span = { start: node.offset, end: node.offset + node.length }
  const { type, children = [] } = node
  if (type === 'array') return { kind: 'list', items: children.map((child) => fromJson(child, text)), span }
  if (type !== 'object') {
    const value = node.value as Scalar['value']
    const written = typeof value === 'string' ? value : text.slice(span.start, span.end)
    return { kind: 'scalar', value, text: value === null ? '' : written, span }
  }
  const entries = new Map<string, Value>()
  for (const { children: [key, value] = [] } of children) {
    if (!key || !value) continue
    const name = String(key.value)
    if (entries.has(name)) throw new Misread(key.offset, `the key "${name}" is given twice`)
    entries.set(name, fromJson(value, text))
  }
  return { kind: 'table', entries, firstKey: children[0]?.offset ?? null, span }
}

/** `CommaExpected` as `comma expected`. */
function inWords(code: string): string {
  return code.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
}

const MOST_OPEN = 1000

/** Reads one YAML document. What an alias names is read once, however often it is named. */
export function readYamlValue(text: string): ValueReading {
  if (isDeep(text, MOST_OPEN)) return { ok: false, at: 0, message: 'nested too deeply' }
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'error' })
  const [error] = document.errors
  if (error)
    return { ok: false, at: error.pos[0], message: `not valid YAML: ${error.message.split('\n', 1)[0]}` }
  if (document.contents === null) return { ok: false, at: 0, message: 'the file is empty' }
  try {
    return { ok: true, value: fromYaml(document.contents, { document, text, known: new Map() }) }
  } catch (error) {
    if (error instanceof Misread) return { ok: false, at: error.at, message: error.message }
    throw error
  }
}

interface YamlReader {
  readonly document: Document
  readonly text: string
  /** What was read already; null while that is under way. */
  readonly known: Map<YamlNode, Value | null>
}

function fromYaml(node: unknown, reader: YamlReader): Value {
  if (isAlias(node)) {
    const at = node.range?.[0] ?? 0
    const target = node.resolve(reader.document)
    if (!target) throw new Misread(at, `nothing has the anchor ${node.source}`)
    const value = reader.known.get(target) ?? null
    if (value === null) throw new Misread(at, `${node.source} holds itself`)
    return value.kind === 'scalar' ? { ...value, span: { start: at, end: node.range?.[1] ?? at } } : value
  }
  if (!isMap(node) && !isSeq(node) && !isScalar(node))
    return { kind: 'scalar', value: null, text: '', span: { start: 0, end: 0 } }
  reader.known.set(node, null)
  const [start, end] = node.range ?? [0, 0]
  const value = contentOf(node, { start, end }, reader)
  reader.known.set(node, value)
  return value
}

function contentOf(node: unknown, span: Span, reader: YamlReader): Value {
  if (isSeq(node)) return { kind: 'list', items: node.items.map((item) => fromYaml(item, reader)), span }
  if (!isMap(node)) {
    const { value, source } = node as { value: unknown; source?: string }
    const scalar = ['string', 'number', 'boolean'].includes(typeof value) ? (value as Scalar['value']) : null
    return { kind: 'scalar', value: scalar, text: scalar === null ? '' : (source ?? String(scalar)), span }
  }
  const entries = new Map<string, Value>()
  let firstKey: number | null = null
  for (const { key, value } of node.items) {
    const at = isScalar(key) ? (key.range?.[0] ?? span.start) : span.start
    if (!isScalar(key)) throw new Misread(at, 'a key is to be a plain word')
    firstKey ??= at
    const here = value ?? { range: [key.range?.[1] ?? at] }
    entries.set(String(key.value), isEmpty(here) ? nothingAt(here.range[0]) : fromYaml(here, reader))
  }
  return { kind: 'table', entries, firstKey, span }
}

function isEmpty(value: unknown): value is { readonly range: readonly [number] } {
  return typeof value === 'object' && value !== null && 'range' in value && Object.keys(value).length === 1
}

function nothingAt(at: number): Scalar {
  return { kind: 'scalar', value: null, text: '', span: { start: at, end: at } }
}
