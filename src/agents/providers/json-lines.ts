import { isObject, parsedJson } from '../../base/text.ts'

/** An object from a stream, whose fields are not checked yet. */
export type Json = Readonly<Record<string, unknown>>

/** The object in a line; null for anything else, such as a log line or half an object. */
export function parseLine(line: string): Json | null {
  // All events of all agents are objects, so other lines need not be parsed.
  if (!line.trimStart().startsWith('{')) return null
  const value = parsedJson(line)
  return isObject(value) ? value : null
}

/** The value as an object; empty if it is none. */
export function record(value: unknown): Json {
  return isObject(value) ? value : {}
}

/** The value as a list; empty if it is none. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The value as a text; empty if it is none. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The value as a text; null if it is none, or empty. */
export function textOrNull(value: unknown): string | null {
  return text(value) || null
}

/** The value as a number; null if it is none. */
export function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}
