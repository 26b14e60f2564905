import type { Span } from '../../base/diagnostic.ts'

/** One row of a two-column table, with spans relative to its paragraph. */
interface TableRow {
  readonly span: Span
  readonly key: { readonly text: string }
  readonly value: Span
  readonly isHead: boolean
}

/** The rows of a paragraph that is a table of two columns; null if it is none. This Markdown parser has no tables. */
export function tableRows(raw: string): readonly TableRow[] | null {
  const lines = [...raw.matchAll(/([^\r\n]*)(?:\r\n|\n|\r|$)/g)].filter((match) => match[1]!.trim() !== '')
  if (lines[1] === undefined || !isDelimiter(lines[1][1]!)) return null
  const rows = lines.map((line, i) => (i === 1 ? null : rowOf(line[1]!, line.index, i === 0)))
  return rows.filter((row) => row !== null)
}

/** The line below a table's head. */
export function isDelimiter(line: string): boolean {
  const cells = cellsOf(line)
  return cells.length === 2 && cells.every((cell) => /^:?-+:?$/.test(line.slice(cell.start, cell.end)))
}

function rowOf(line: string, at: number, isHead: boolean): TableRow | null {
  const cells = cellsOf(line)
  const [key, value] = cells
  if (cells.length !== 2 || key === undefined || value === undefined) return null
  const span = { start: at + key.start, end: at + value.end }
  return {
    span,
    key: { text: line.slice(key.start, key.end) },
    value: { start: at + value.start, end: at + value.end },
    isHead,
  }
}

/** The spans of the cells. A bar after a backslash, or inside code marks, is text. */
function cellsOf(line: string): Span[] {
  const inner = /^[ \t]*\|?/.exec(line)![0].length
  const cells: Span[] = []
  let start = inner
  for (const match of line.matchAll(/\\.|`[^`]*`|\|/g)) {
    if (match[0] !== '|' || match.index < inner) continue
    cells.push(trimmed(line, start, match.index))
    start = match.index + 1
  }
  if (line.slice(start).trim() !== '') cells.push(trimmed(line, start, line.length))
  return cells
}

function trimmed(line: string, start: number, end: number): Span {
  while (start < end && /[ \t]/.test(line[start]!)) start++
  while (end > start && /[ \t]/.test(line[end - 1]!)) end--
  return { start, end }
}
