/** A line that begins like a field: its key, and where its value begins. */
export interface FieldStart {
  readonly key: string
  /** `**Key**:` rather than a plain `Key:`. */
  readonly bold: boolean
  readonly valueAt: number
}

// `**Key**:`, `**Key:**` (also with underscores), or a plain `Key:` before a blank; full-width colons need no blank.
const FIELD =
  /^(?:(\*\*|__)([^*_\n\r][^*\n\r]{0,79}?)(?:\1[ \t]*[:：]|[:：][ \t]*\1)|([\p{L}\p{N}][^:：*`<[\]|\\\n\r]{0,39}?)[ \t]*(?::(?=[ \t\r\n]|$)|：))[ \t]*/u

/** Reads the start of a field from the first line of a raw paragraph. */
export function fieldStart(raw: string): FieldStart | null {
  const match = FIELD.exec(raw)
  if (match === null) return null
  const bold = match[2] !== undefined
  return { key: (match[2] ?? match[3])!.trim(), bold, valueAt: match[0].length }
}
