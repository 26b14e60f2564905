import { closest } from './closest.ts'

/**
 * The known word that was probably meant. Authors have words of their own, so only a slip counts: one edit, or two in a
 * long word. `Parent` is not Agent, and `Blockers` not Blocked.
 */
export function misspelling(word: string, known: Iterable<string>): string | undefined {
  return closest(word, known, word.length > LONG ? 2 : 1)
}

const LONG = 8
