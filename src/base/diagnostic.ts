/** An error makes a task ineligible, now or later. */
export type Severity = 'error' | 'warning'

/** A problem at a place in a file. Collected, never thrown. */
export interface Diagnostic {
  /** Relative to the project root, with forward slashes. */
  readonly file: string
  /** Both count from 1; a column counts UTF-16 units, as editors do. */
  readonly line: number
  readonly column: number
  readonly severity: Severity
  readonly rule: string
  readonly message: string
  /** The end, after the last character, if it is known. */
  readonly endLine?: number
  readonly endColumn?: number
  /** The fix, if there is one right fix. */
  readonly fix?: TextEdit
}

/** A range of a file, and its replacement. */
export interface TextEdit {
  readonly line: number
  readonly column: number
  readonly endLine: number
  readonly endColumn: number
  readonly text: string
}

/** A stretch of a source text, as offsets into it: `source.slice(start, end)`. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** The line and column of an offset. CRLF, LF and a lone CR each end a line. */
export function placeAt(source: string, offset: number): { line: number; column: number } {
  let line = 1
  let lineStart = 0
  for (let i = 0; i < offset && i < source.length; i++) {
    const unit = source.charCodeAt(i)
    const endsLine = unit === 10 || (unit === 13 && source.charCodeAt(i + 1) !== 10)
    if (!endsLine) continue
    line++
    lineStart = i + 1
  }
  return { line, column: offset - lineStart + 1 }
}
