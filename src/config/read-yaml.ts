import { isMap, isNode, isScalar, parseDocument, visit, type Document } from 'yaml'
import type { ConfigDocument, ConfigReading, KeyPath } from './document.ts'

/** Reads one YAML document. */
export function readYaml(text: string): ConfigReading {
  const document = parseDocument(text, { prettyErrors: false })
  const [error] = document.errors
  if (error?.code === 'MULTIPLE_DOCS') return problem(error.pos[0], 'expected one document, found another')
  if (error) return problem(error.pos[0], error.message)
  try {
    return { ok: true, document: documentOf(document) }
  } catch (error) {
    // An alias without an anchor, or so many that a small file would fill the memory.
    if (error instanceof ReferenceError) return problem(firstAlias(document), error.message)
    throw error
  }
}

function documentOf(document: Document): ConfigDocument {
  return {
    value: document.contents === null ? {} : (document.toJS() as unknown),
    keyOffset: (path) => keyOffset(document, path) ?? valueOffset(document, path),
    valueOffset: (path) => valueOffset(document, path),
  }
}

function keyOffset(document: Document, path: KeyPath): number | undefined {
  const holder = document.getIn(path.slice(0, -1), true)
  if (!isMap(holder)) return undefined
  const pair = holder.items.find(({ key }) => isScalar(key) && String(key.value) === String(path.at(-1)))
  return isNode(pair?.key) ? pair.key.range?.[0] : undefined
}

function valueOffset(document: Document, path: KeyPath): number {
  const node = document.getIn(path, true)
  if (isNode(node) && node.range) return node.range[0]
  return path.length > 0 ? valueOffset(document, path.slice(0, -1)) : 0
}

function firstAlias(document: Document): number {
  let offset = 0
  visit(document, {
    Alias(_, alias) {
      offset = alias.range?.[0] ?? 0
      return visit.BREAK
    },
  })
  return offset
}

function problem(offset: number, message: string): ConfigReading {
  return { ok: false, problem: { offset, message: `not valid YAML: ${message.split('\n', 1)[0]}` } }
}
