import { isAlias, isMap, isPair, isScalar, isSeq, type Node, parseDocument, type Pair } from 'yaml'
import type { Span } from '../../base/diagnostic.ts'

export interface FrontmatterEntry {
  readonly key: string
  /** The value as text; a list's items joined by commas. */
  readonly value: string
  readonly span: Span
  readonly valueSpan: Span
}

/** Reads the keys of the YAML at `span` of the source, or why it cannot be read; null if it is no YAML map. */
export function parseFrontmatter(source: string, span: Span) {
  const text = source.slice(span.start, span.end)
  const unreadable = (message: string, at = 0) => ({ entries: [], error: { message, at: span.start + at } })
  if (isDeep(text)) return unreadable(`it is nested more than ${DEEPEST} deep`)
  // Task files need no aliases and custom tags, which allow YAML to expand without limit.
  const document = parseDocument(text, {
    version: '1.2',
    schema: 'failsafe',
    uniqueKeys: false,
    logLevel: 'silent',
  })
  const error = document.errors[0]
  if (error !== undefined)
    return /^[\w-]+:/m.test(text) ? unreadable(firstLine(error.message), error.pos[0]) : null
  if (!isMap(document.contents)) return null
  // No line could be added to a map in braces.
  if (document.contents.flow) return unreadable('it is in braces; write each key on a line of its own')
  const entries = document.contents.items.flatMap((pair) => entryOf(text, span.start, pair))
  return { entries, error: null }
}

const DEEPEST = 60
const DEEP_LINE = new RegExp(`^(?:[ \\t]*[-?:](?=[ \\t])){${DEEPEST}}|^ {${2 * DEEPEST}}`, 'm')

/**
 * Whether YAML is nested too deep: the recursive parser runs out of memory before it runs out of stack. A long text
 * may have more open brackets, as prose contains them too.
 */
export function isDeep(text: string, mostOpen: number = DEEPEST): boolean {
  if (DEEP_LINE.test(text)) return true
  let depth = 0
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = Math.max(0, depth + ('[{'.includes(bracket) ? 1 : -1))
    if (depth > mostOpen) return true
  }
  return false
}

function entryOf(text: string, base: number, pair: Pair): readonly FrontmatterEntry[] {
  if (!isPair(pair) || !isScalar(pair.key) || !pair.key.range) return []
  const start = pair.key.range[0]
  const value = pair.value as Node | null
  const keyEnd = pair.key.range[1]
  const [from, to] = value?.range ?? [keyEnd, keyEnd]
  const valueStart = value === null || from === to ? afterColon(text, keyEnd) : from
  const end = trimmedEnd(text, valueStart, Math.max(to, valueStart))
  return [
    {
      key: String(pair.key.value),
      value: valueText(value),
      span: { start: base + start, end: base + end },
      valueSpan: { start: base + valueStart, end: base + end },
    },
  ]
}

/** The offset of an empty value: after the colon and one space. */
function afterColon(text: string, keyEnd: number): number {
  const colon = text.indexOf(':', keyEnd)
  return colon < 0 ? keyEnd : colon + 1
}

function trimmedEnd(text: string, start: number, end: number): number {
  while (end > start && /\s/.test(text[end - 1]!)) end--
  return end
}

function valueText(node: Node | null): string {
  // YAML's null counts as empty.
  if (isScalar(node) && node.type === 'PLAIN' && /^(?:null|~)$/i.test(node.source ?? '')) return ''
  if (isScalar(node)) return typeof node.value === 'string' ? node.value : (node.source ?? '')
  if (isSeq(node)) return node.items.map((item) => valueText(item as Node)).join(', ')
  if (isMap(node) || isAlias(node)) return String(node)
  return ''
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0]!.replace(/ at line \d+.*$/, '')
}
