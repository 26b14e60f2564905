/** The line and column of an offset, both counting from 1. */
interface LineColumn {
  readonly line: number
  readonly column: number
}

/** Positions in one text with many lookups: its lines are found at the first one. */
export function placesIn(source: string): (offset: number) => LineColumn {
  let starts: readonly number[] | undefined
  return (offset) => {
    starts ??= lineStarts(source)
    const line = lastAtOrBefore(starts, offset)
    return { line: line + 1, column: offset - starts[line]! + 1 }
  }
}

/** The start of each line. CRLF, LF and a lone CR each end one, as in `placeAt`. */
function lineStarts(source: string): number[] {
  const starts = [0]
  for (const ending of source.matchAll(/\r\n|\n|\r/g)) starts.push(ending.index + ending[0].length)
  return starts
}

function lastAtOrBefore(sorted: readonly number[], wanted: number): number {
  let [low, high] = [0, sorted.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (sorted[middle]! <= wanted) low = middle
    else high = middle - 1
  }
  return low
}
