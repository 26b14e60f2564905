import { closest } from '../base/closest.ts'

/** ` (did you mean X?)`, or nothing where no known word is near. */
export function suggestion(typed: string, known: Iterable<string>): string {
  const near = closest(typed, known)
  return near === undefined ? '' : ` (did you mean ${near}?)`
}

/** A text from a file as one quoted word of a message, cut where it is long. */
export function quote(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return `"${line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line}"`
}

const LONGEST = 60
