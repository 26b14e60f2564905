import {
  findNodeAtLocation,
  getNodeValue,
  parseTree,
  printParseErrorCode,
  type Node,
  type ParseError,
} from 'jsonc-parser/lib/esm/main.js'
import type { ConfigDocument, ConfigReading, KeyPath } from './document.ts'

/** Reads JSON with comments and trailing commas; with `under`, only the value of that key. */
export function readJson(text: string, under?: string): ConfigReading {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true })
  const [error] = errors
  if (error) return problem(error.offset, `not valid JSON: ${inWords(printParseErrorCode(error.error))}`)
  const wrong = root && wrongKey(root)
  if (wrong) {
    const { offset, length, value } = wrong
    const what = value === '__proto__' ? 'stands for nothing' : 'is given twice'
    return problem(offset, `the key ${text.slice(offset, offset + length)} ${what}`)
  }
  return { ok: true, document: documentOf(root, under === undefined ? [] : [under]) }
}

function documentOf(root: Node | undefined, prefix: KeyPath): ConfigDocument {
  const nodeAt = (path: KeyPath): Node | undefined => root && findNodeAtLocation(root, [...prefix, ...path])
  const node = nodeAt([])
  return {
    value: node && (getNodeValue(node) as unknown),
    keyOffset: (path) => {
      const found = nodeAt(path)
      return (found?.parent?.type === 'property' ? found.parent : found)?.offset ?? 0
    },
    valueOffset(path) {
      const found = nodeAt(path)
      if (found) return found.offset
      return path.length > 0 ? this.valueOffset(path.slice(0, -1)) : 0
    },
  }
}

/** A key twice has no clear meaning, and the last would silently win; `__proto__` would be lost. */
function wrongKey(root: Node): Node | undefined {
  const waiting = [root]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const seen = new Set<unknown>()
    for (const child of node.children ?? []) {
      const key = child.type === 'property' ? child.children?.[0] : undefined
      if (key && (seen.has(key.value) || key.value === '__proto__')) return key
      if (key) seen.add(key.value)
      waiting.push(child)
    }
  }
  return undefined
}

function problem(offset: number, message: string): ConfigReading {
  return { ok: false, problem: { offset, message } }
}

/** `CommaExpected` as `comma expected`. */
function inWords(code: string): string {
  return code.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
}
