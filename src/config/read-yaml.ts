import { isMap, isNode, isScalar, parseDocument, type Document } from 'yaml'
import type { ConfigReading, KeyPath } from './document.ts'

/** Reads one YAML document. */
export function readYaml(text: string): ConfigReading {
  const document = parseDocument(text, { prettyErrors: false })
  const [error] = document.errors
  if (error) {
    return {
      ok: false,
      problem: { offset: error.pos[0], message: `not valid YAML: ${firstLine(error.message)}` },
    }
  }
  return {
    ok: true,
    document: {
      value: document.contents === null ? {} : (document.toJS() as unknown),
      keyOffset: (path) => keyOffset(document, path) ?? valueOffset(document, path),
      valueOffset: (path) => valueOffset(document, path),
    },
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

function firstLine(message: string): string {
  return message.split('\n', 1)[0]!
}
