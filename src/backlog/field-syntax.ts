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

/** A field after another one in the same row. */
interface FieldPart {
  readonly key: string
  /** The offsets in the row of its key and its value, and of its end. */
  readonly at: number
  readonly valueAt: number
  readonly end: number
}

/** The fields after the first in a row: `0 · **Depends:** T-001 | Branch: x`. If the first key is not bold, it must be known. */
export function fieldsInRow(
  raw: string,
  isKnown: (key: string) => boolean,
): { readonly end: number; readonly parts: readonly FieldPart[] } {
  if (!/[:：]/.test(raw)) return { end: raw.length, parts: [] }
  const plain = raw.replace(/`[^`\r\n]+`/g, (code) => '`'.repeat(code.length))
  const parts: { key: string; at: number; valueAt: number; end: number }[] = []
  let end = raw.length
  for (const { 0: sign, index } of plain.matchAll(BETWEEN_FIELDS)) {
    const at = index + sign.length
    const last = parts.at(-1)
    if (last !== undefined && at < last.valueAt) continue
    const start = fieldStart(plain.slice(at))
    if (start === null) continue
    const isPart = STRONG_SIGN.test(sign) && (last !== undefined || isKnown(start.key))
    if (!start.bold && !isPart) continue
    if (last === undefined) end = index
    else last.end = Math.max(index, last.valueAt)
    parts.push({ key: start.key, at, valueAt: at + start.valueAt, end: raw.length })
  }
  return { end, parts }
}

const BETWEEN_FIELDS = /[ \t]*[·•|;；][ \t]*|[ \t\r\n]{2,}|[\r\n]|[ \t]*,?[ \t]*(?=\*\*[^\s*]|__[^\s_])/g
const STRONG_SIGN = /[·•|;；\r\n]|[ \t]{2}/
