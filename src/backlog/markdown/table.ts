import type { Span } from '../../base/diagnostic.ts'

/** The rows of a paragraph that is a table of two columns, as fields; null if it is none. This Markdown parser has no tables. */
export function tableRows(raw: string) {
  const lines = [...raw.matchAll(/([^\r\n]*)(?:\r\n|\n|\r|$)/g)].filter(([, line]) => line!.trim() !== '')
  if (lines[1] === undefined || !isDelimiter(lines[1][1]!)) return null
  return lines.flatMap(({ 1: line = '', index: at }, i) => {
    const [key, value, ...others] = cellsOf(line)
    if (i === 1 || key === undefined || value === undefined || others.length > 0) return []
    const place = { start: at + key.start, valueAt: at + value.start, end: at + value.end }
    return [{ key: line.slice(key.start, key.end), ...place, isHead: i === 0 }]
  })
}

/** The line below a table's head. */
export function isDelimiter(line: string): boolean {
  const cells = cellsOf(line)
  return cells.length === 2 && cells.every((cell) => /^:?-+:?$/.test(line.slice(cell.start, cell.end)))
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
