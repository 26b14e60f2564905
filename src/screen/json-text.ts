import { printableJson } from './printable.ts'

/**
 * A document as JSON, like `JSON.stringify` with two blanks, in pieces: lists are written item by item, so that ten
 * thousand tasks are never in memory twice.
 */
export function* jsonPieces(document: object): Iterable<string> {
  let opening = '{'
  for (const [key, value] of Object.entries(document)) {
    if (value === undefined) continue
    yield `${opening}\n  ${textOf(key, '')}: `
    if (isIterable(value)) yield* listPieces(value)
    else yield textOf(value, '  ')
    opening = ','
  }
  yield opening === '{' ? '{}\n' : '\n}\n'
}

function* listPieces(items: Iterable<unknown>): Iterable<string> {
  let opening = '['
  for (const item of items) {
    yield `${opening}\n    ${textOf(item, '    ')}`
    opening = ','
  }
  yield opening === '[' ? '[]' : '\n  ]'
}

/** A value as text, with its later lines indented. */
function textOf(value: unknown, indent: string): string {
  return printableJson(JSON.stringify(value, null, 2) ?? 'null').replaceAll('\n', `\n${indent}`)
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value
}
