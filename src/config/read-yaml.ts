import { isMap, isNode, isScalar, parseDocument, visit, type Document } from 'yaml'
import type { ConfigDocument, ConfigProblem, KeyPath } from './check.ts'

/** Reads one YAML document. */
export function readYaml(text: string): ConfigDocument | ConfigProblem {
  const document = parseDocument(text, { prettyErrors: false })
  const [error] = document.errors
  if (error?.code === 'MULTIPLE_DOCS') return problem(error.pos[0], 'expected one document, found another')
  if (error) return problem(error.pos[0], error.message)
  const offsetOf: ConfigDocument['offsetOf'] = (path, part) => {
    const node = (part === 'key' && keyAt(document, path)) || document.getIn(path, true)
    if (isNode(node) && node.range) return node.range[0]
    return path.length > 0 ? offsetOf(path.slice(0, -1), 'value') : 0
  }
  try {
    return { value: document.contents === null ? {} : (document.toJS() as unknown), offsetOf }
  } catch (error) {
    // An alias without an anchor, or so many that a small file would fill the memory.
    if (error instanceof ReferenceError) return problem(firstAlias(document), error.message)
    throw error
  }
}

function keyAt(document: Document, path: KeyPath): unknown {
  const holder = document.getIn(path.slice(0, -1), true)
  if (!isMap(holder)) return undefined
  return holder.items.find(({ key }) => isScalar(key) && String(key.value) === String(path.at(-1)))?.key
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

function problem(offset: number, message: string): ConfigProblem {
  return { offset, message: `not valid YAML: ${message.split('\n', 1)[0]}` }
}
