import { readDepends } from './depends.ts'
import { plainText } from './plain-words.ts'

const NO_NEEDS: readonly number[] = []

/** Reads the numbers in a Depends value from its bytes, each once; null if it contains more than ids. */
export function plainNeeds(bytes: string): readonly number[] | null {
  // The most frequent values, read much faster than below, with the same result.
  if (bytes === '' || bytes === ' none') return NO_NEEDS
  if (ONE_ID.test(bytes)) return [Number(bytes.slice(' T-'.length))]
  const value = plainText(bytes)
  if (value === null) return null
  const { ids, stranger } = readDepends(value)
  if (stranger !== null) return null
  return [...new Set(ids.map(({ number }) => number))]
}

const ONE_ID = /^ T-\d{1,12}$/
