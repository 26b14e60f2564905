import { readDepends } from './depends.ts'
import { plainText } from './plain-words.ts'

const NO_NEEDS: readonly number[] = []

/** The numbers that a Depends value names, each once, read from its bytes; null where not all of it is ids. */
export function plainNeeds(bytes: string): readonly number[] | null {
  // The usual ways, of which what follows says the same, at a multiple of the cost.
  if (bytes === '' || bytes === ' none') return NO_NEEDS
  if (ONE_ID.test(bytes)) return [Number(bytes.slice(' T-'.length))]
  const value = plainText(bytes)
  if (value === null) return null
  const { ids, stranger } = readDepends(value)
  if (stranger !== null) return null
  return [...new Set(ids.map(({ number }) => number))]
}

const ONE_ID = /^ T-\d{1,12}$/
