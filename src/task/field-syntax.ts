/** A line that begins like a field: its key, and where its value begins. */
interface FieldStart {
  readonly key: string
  /** `**Key**:` rather than a plain `Key:`. */
  readonly bold: boolean
  readonly valueAt: number
}

// `**Key**:`, `**Key:**` (also with underscores, and with one or three of them), or a plain `Key:` before a blank; full-width colons need no blank.
const FIELD =
  /^(?:(\*{1,3}|_{1,3})([^*_\n\r][^*\n\r]{0,79}?)(?:\1[ \t]*[:：]|[:：][ \t]*\1)|([\p{L}\p{N}][^:：*`<[\]|\\\n\r]{0,39}?)[ \t]*(?::(?=[ \t\r\n]|$)|：))[ \t]*/u

// The usual field, of which it says what the other says, which costs a millisecond to make.
const USUAL_FIELD = /^(\*\*)([A-Za-z0-9][A-Za-z0-9 ]{0,38})\*\*:[ \t]*/

/** Reads the start of a field from the first line of a raw paragraph. */
export function fieldStart(raw: string): FieldStart | null {
  const match = USUAL_FIELD.exec(raw) ?? FIELD.exec(raw)
  if (match === null) return null
  const key = (match[2] ?? match[3])!.trim().replace(/^`(.+)`$/, '$1')
  return { key, bold: match[1] !== undefined && match[1].length > 1, valueAt: match[0].length }
}
