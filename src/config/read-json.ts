import {
  findNodeAtLocation,
  getNodeValue,
  parseTree,
  printParseErrorCode,
  type Node,
  type ParseError,
} from 'jsonc-parser/lib/esm/main.js'
import type { ConfigDocument, ConfigProblem, KeyPath } from './check.ts'

/** Reads JSON with comments and trailing commas; with `under`, only the value of that key. */
export function readJson(text: string, under?: string): ConfigDocument | ConfigProblem {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true })
  const [error] = errors
  if (error) return { offset: error.offset, message: `not valid JSON: ${inWords(error)}` }
  const wrong = root && wrongKey(root)
  if (wrong) {
    const { offset, length, value } = wrong
    const what = value === '__proto__' ? 'stands for nothing' : 'is given twice'
    return { offset, message: `the key ${text.slice(offset, offset + length)} ${what}` }
  }
  const prefix = under === undefined ? [] : [under]
  const nodeAt = (path: KeyPath): Node | undefined => root && findNodeAtLocation(root, [...prefix, ...path])
  const node = nodeAt([])
  const offsetOf: ConfigDocument['offsetOf'] = (path, part) => {
    const found = nodeAt(path)
    if (!found) return path.length > 0 ? offsetOf(path.slice(0, -1), 'value') : 0
    return part === 'key' && found.parent?.type === 'property' ? found.parent.offset : found.offset
  }
  return { value: node && (getNodeValue(node) as unknown), offsetOf }
}

/** A key twice has no clear meaning, and the last would silently win; `__proto__` would be lost. */
function wrongKey(root: Node): Node | undefined {
  const waiting = [root]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const seen = new Set<unknown>(['__proto__'])
    for (const child of node.children ?? []) {
      waiting.push(child)
      const key = child.type === 'property' ? child.children?.[0] : undefined
      if (key && seen.has(key.value)) return key
      seen.add(key?.value)
    }
  }
  return undefined
}

/** `CommaExpected` as `comma expected`. */
function inWords({ error }: ParseError): string {
  return printParseErrorCode(error)
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
}
