/** The known word nearest to a typed one, or undefined if none is within `limit` edits. */
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

/** The insertions, deletions, substitutions and swaps of neighbours between two words, at most `cap`. */
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

/**
 * The known word that was probably meant. As authors have their own words, only a typing error counts: one edit, or
 * two in a long word. `Parent` is not Agent, and `Blockers` not Blocked.
 */
export function misspelling(word: string, known: Iterable<string>): string | undefined {
  return closest(word, known, word.length > LONG ? 2 : 1)
}

const LONG = 8

/** The file name, without `.md`, that a text means: in this case, else in any case. */
export function nameAmong(names: Iterable<string>, written: string): string | undefined {
  const bare = written.replace(/\.md$/i, '')
  let alike: string | undefined
  for (const name of names) {
    if (name === bare) return name
    if (name.toLowerCase() === bare.toLowerCase()) alike ??= name
  }
  return alike
}
