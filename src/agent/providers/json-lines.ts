/** An object out of a stream, whose fields nothing is known of yet. */
export type Json = Readonly<Record<string, unknown>>

/** The object that one line holds; null where the line is something else, as a log line or half an object is. */
export function parseLine(line: string): Json | null {
  // Every event of every agent is an object: what starts otherwise need not be parsed to be passed over.
  if (!line.trimStart().startsWith('{')) return null
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** The value as an object, an empty one where it is none. */
export function record(value: unknown): Json {
  return isObject(value) ? value : {}
}

/** The value as a list, an empty one where it is none. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The value as a text, an empty one where it is none. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The value as a text, null where it is none or says nothing. */
export function textOrNull(value: unknown): string | null {
  return text(value) || null
}

/** The value as a number, null where it is none. */
export function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
