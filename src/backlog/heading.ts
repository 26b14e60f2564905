import { numberOf } from './values.ts'

/**
 * The id and the title in a heading. `Task` may come before the id, and any other word if the id is the file's own (a
 * heading in another language), as `Fix T-003` in the file of T-004 is a title.
 */
export function readHeading(text: string, own: number): { number: number | null; title: string } {
  // The first id is the heading's: the words before it must not contain one.
  const match = /^(?:((?!\[?T-\d)\S+)\s+)?\[?(T-\d{1,12})\]?(?![\w-])\s*[:：—–·.-]?\s*(.*)$/isu.exec(text)
  if (match === null) return { number: null, title: text }
  const number = numberOf(match[2]!)
  const isTitle = match[1] !== undefined && match[1].toLowerCase() !== 'task' && number !== own
  return isTitle ? { number: null, title: text } : { number, title: match[3]! }
}
