/** The start of a field: its key, and the offset of its value. */
interface FieldStart {
  readonly key: string
  /** Whether it is `**Key**:` and not a plain `Key:`. */
  readonly bold: boolean
  readonly valueAt: number
}

// `**Key**:`, `**Key:**` (also with underscores, and with one or three of them), or a plain `Key:` before a blank; full-width colons need no blank.
const FIELD =
  /^(?:(\*{1,3}|_{1,3})([^*_\n\r][^*\n\r]{0,79}?)(?:\1[ \t]*[:：]|[:：][ \t]*\1)|([\p{L}\p{N}][^:：*`<[\]|\\\n\r]{0,39}?)[ \t]*(?::(?=[ \t\r\n]|$)|：))[ \t]*/u

// The usual field, for which it gives the same result: compiling the other takes a millisecond.
const USUAL_FIELD = /^(\*\*)([A-Za-z0-9][A-Za-z0-9 ]{0,38})\*\*:[ \t]*/

/** Reads the start of a field from the first line of a raw paragraph. */
export function fieldStart(raw: string): FieldStart | null {
  const match = USUAL_FIELD.exec(raw) ?? FIELD.exec(raw)
  if (match === null) return null
  const key = (match[2] ?? match[3])!.trim().replace(/^`(.+)`$/, '$1')
  return { key, bold: match[1] !== undefined && match[1].length > 1, valueAt: match[0].length }
}

/** A field in a text: its key, and the offsets of it, its value, and its end. */
export interface FieldPlace {
  /** Null for text before the first key. */
  readonly key: string | null
  readonly start: number
  readonly valueAt: number
  end: number
}

/** The fields in a place: `0 · **Depends:** T-001 | Branch: x`. If the second key is not bold, it must be known. */
export function fieldsInRow(
  raw: string,
  first: FieldPlace,
  isKnown: (key: string) => boolean,
): readonly FieldPlace[] {
  const value = raw.slice(first.valueAt, first.end)
  if (!/[:：]/.test(value)) return [first]
  const plain = value.replace(/`[^`\r\n]+`/g, (code) => '`'.repeat(code.length))
  let last = first
  const places = [first]
  for (const { 0: sign, index } of plain.matchAll(BETWEEN_FIELDS)) {
    const at = index + sign.length
    const start = first.valueAt + at
    const field = start < last.valueAt ? null : fieldStart(plain.slice(at))
    if (field === null) continue
    const isPart = STRONG_SIGN.test(sign) && (last !== first || isKnown(field.key))
    if (!field.bold && !isPart) continue
    last.end = Math.max(first.valueAt + index, last.valueAt)
    last = { key: field.key, start, valueAt: start + field.valueAt, end: first.valueAt + value.length }
    places.push(last)
  }
  return places
}

const BETWEEN_FIELDS = /[ \t]*[·•|;；][ \t]*|[ \t\r\n]{2,}|[\r\n]|[ \t]*,?[ \t]*(?=\*\*[^\s*]|__[^\s_])/g
const STRONG_SIGN = /[·•|;；\r\n]|[ \t]{2}/
