/** The known word nearest to what was typed, or undefined where none is within `limit` edits and so near enough to be meant. */
export function closest(
  typed: string,
  known: Iterable<string>,
  limit = Math.max(1, Math.floor(typed.length / 3)),
): string | undefined {
  const wanted = typed.toLowerCase()
  let best: string | undefined
  let bestDistance = limit + 1
  for (const word of known) {
    const distance = editDistance(wanted, word.toLowerCase(), bestDistance)
    if (distance < bestDistance) [best, bestDistance] = [word, distance]
  }
  return best
}

/** Insertions, deletions, substitutions and swaps of neighbours between two words; `cap` where it is at least that. */
function editDistance(a: string, b: string, cap: number): number {
  if (Math.abs(a.length - b.length) >= cap) return cap
  let beforePrevious: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + (same ? 0 : 1))
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) cost = Math.min(cost, beforePrevious[j - 2]! + 1)
      row.push(cost)
    }
    ;[beforePrevious, previous] = [previous, row]
  }
  return previous[b.length]!
}
