/** How bad it is: an error keeps a task from being eligible, or will. */
export type Severity = 'error' | 'warning'

/** Something wrong in a file, at its place. Collected, never thrown. */
export interface Diagnostic {
  /** Relative to the project root, with forward slashes. */
  readonly file: string
  /** Both count from 1; a column counts UTF-16 units, as editors do. */
  readonly line: number
  readonly column: number
  readonly severity: Severity
  readonly rule: string
  readonly message: string
  /** Where it ends, just behind its last character; where that is known. */
  readonly endLine?: number
  readonly endColumn?: number
  /** What would mend it, where there is one right answer. */
  readonly fix?: TextEdit
}

/** A stretch of a file by lines and columns, and what is to stand there instead. */
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
