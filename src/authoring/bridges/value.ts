import {
  type Node as JsonNode,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser/lib/esm/main.js'
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  type Alias,
  type Document,
  type Scalar as YamlScalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import type { Span } from '../../base/diagnostic.ts'
import { isDeep } from '../../backlog/markdown/frontmatter.ts'

/** The content of a JSON or YAML file, with positions. */
export type Value = Scalar | List | Table

interface Scalar {
  readonly kind: 'scalar'
  readonly value: string | number | boolean | null
  /** As text: a number keeps its digits, so that 1.10 is not 1.1. */
  readonly text: string
  readonly span: Span
}

interface List {
  readonly kind: 'list'
  readonly items: readonly Value[]
  readonly span: Span
}

export interface Table {
  readonly kind: 'table'
  readonly entries: ReadonlyMap<string, Value>
  /** The offset of its first key; null if it has none. */
  readonly firstKey: number | null
  readonly span: Span
}

/** The value of a text, or why it cannot be parsed. */
type ValueReading =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly at: number; readonly message: string }

/** Reads JSON, with or without comments and trailing commas. */
export function readJsonValue(text: string): ValueReading {
  return jsonReading(() => fromJson(text))
}

/** Reads a JSON value on each line, as one list. */
export function readJsonLines(text: string): ValueReading {
  return jsonReading(() => {
    const items = [...text.matchAll(/[^\r\n]*\S[^\r\n]*/g)].flatMap(
      ({ 0: line, index }) => fromJson(line, index) ?? [],
    )
    return { kind: 'list', items, span: { start: 0, end: text.length } }
  })
}

function jsonReading(read: () => Value | undefined): ValueReading {
  try {
    const value = read()
    return value ? { ok: true, value } : { ok: false, at: 0, message: 'the file is empty' }
  } catch (error) {
    if (error instanceof Misread) return { ok: false, at: error.at, message: error.message }
    // The parser recurses as deep as the text is nested.
    if (error instanceof RangeError) return { ok: false, at: 0, message: 'nested too deeply' }
    throw error
  }
}

/** An error at an offset, which both readers throw; it never leaves this file. */
class Misread extends Error {
  readonly at: number
  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

/** Reads JSON that begins at an offset. */
function fromJson(text: string, at = 0): Value | undefined {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true })
  const [error] = errors
  if (error)
    throw new Misread(at + error.offset, `not valid JSON: ${inWords(printParseErrorCode(error.error))}`)
  return root && valueOf(root, text, at)
}

function valueOf({ type, offset, length, value, children = [] }: JsonNode, text: string, at: number): Value {
  const span = { start: at + offset, end: at + offset + length }
  if (type === 'array')
    return { kind: 'list', items: children.map((child) => valueOf(child, text, at)), span }
  if (type !== 'object') {
    const scalar = value as Scalar['value']
    const written = typeof scalar === 'string' ? scalar : text.slice(offset, offset + length)
    return { kind: 'scalar', value: scalar, text: scalar === null ? '' : written, span }
  }
  const entries = new Map<string, Value>()
  for (const { children: [key, child] = [] } of children) {
    const name = String(key!.value)
    if (entries.has(name)) throw new Misread(at + key!.offset, `the key "${name}" is given twice`)
    entries.set(name, valueOf(child!, text, at))
  }
  return { kind: 'table', entries, firstKey: children[0] ? at + children[0].offset : null, span }
}

/** `CommaExpected` as `comma expected`. */
function inWords(code: string): string {
  return code.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
}

const MOST_OPEN = 1000

/** Reads one YAML document. An alias is resolved once, however often it occurs. */
export function readYamlValue(text: string): ValueReading {
  if (isDeep(text, MOST_OPEN)) return { ok: false, at: 0, message: 'nested too deeply' }
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'error' })
  const [error] = document.errors
  if (error)
    return { ok: false, at: error.pos[0], message: `not valid YAML: ${error.message.split('\n', 1)[0]}` }
  if (document.contents === null) return { ok: false, at: 0, message: 'the file is empty' }
  try {
    return { ok: true, value: fromYaml(document) }
  } catch (error) {
    if (error instanceof Misread) return { ok: false, at: error.at, message: error.message }
    throw error
  }
}

function fromYaml(document: Document): Value {
  // Values that were read already; null while one is being read.
  const known = new Map<unknown, Value | null>()
  return valueAt(document.contents, 0)

  function valueAt(node: unknown, at: number): Value {
    if (isAlias(node)) return aliased(node)
    if (!isMap(node) && !isSeq(node) && !isScalar(node))
      return { kind: 'scalar', value: null, text: '', span: { start: at, end: at } }
    known.set(node, null)
    const value = contentOf(node)
    known.set(node, value)
    return value
  }

  function aliased(alias: Alias): Value {
    const [start, end] = alias.range ?? [0, 0]
    const target = alias.resolve(document)
    if (!target) throw new Misread(start, `nothing has the anchor ${alias.source}`)
    const value = known.get(target) ?? null
    if (value === null) throw new Misread(start, `${alias.source} holds itself`)
    return value.kind === 'scalar' ? { ...value, span: { start, end } } : value
  }

  function contentOf(node: YAMLMap | YAMLSeq | YamlScalar): Value {
    const [start, end] = node.range ?? [0, 0]
    const span = { start, end }
    if (isSeq(node)) return { kind: 'list', items: node.items.map((item) => valueAt(item, start)), span }
    if (!isMap(node)) {
      const { value, source } = node
      const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      if (!isPlain) return { kind: 'scalar', value: null, text: '', span }
      return { kind: 'scalar', value, text: source ?? String(value), span }
    }
    const entries = new Map<string, Value>()
    let firstKey: number | null = null
    for (const { key, value } of node.items) {
      const [at, after] = (isScalar(key) && key.range) || [start, start]
      if (!isScalar(key)) throw new Misread(at, 'a key is to be a plain word')
      firstKey ??= at
      entries.set(String(key.value), valueAt(value, after))
    }
    return { kind: 'table', entries, firstKey, span }
  }
}
