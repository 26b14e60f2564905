import type { Section } from './model.ts'

/** What `ralph new` writes where the description is to stand. */
export const DESCRIPTION_HINT = '<!-- What to implement and why. -->'
/** What the example of `ralph init` says there. */
export const EXAMPLE_DESCRIPTION =
  'What to implement, and why: what somebody needs who has never seen this project.'

/** Whether a text, or its bytes, may be that of a template. */
export function mayBeTemplate(source: string): boolean {
  // Both have these words: one look at each file is enough.
  return source.includes('What to implement')
}

/** Where a file that ralph made still has the template's words for what is to be done, and nobody has said it; else null. */
export function unfilledAt(source: string, sections: readonly Section[]): Section | null {
  if (!mayBeTemplate(source)) return null
  const bodyOf = ({ bodySpan }: Section): string => source.slice(bodySpan.start, bodySpan.end)
  const example = sections.find((section) => bodyOf(section).trim() === EXAMPLE_DESCRIPTION)
  if (example) return example
  const hint = sections.find((section) => bodyOf(section).trim() === DESCRIPTION_HINT)
  return hint && !sections.some((section) => saysSomething(bodyOf(section))) ? hint : null
}

/** Whether a text says anything: neither a comment does, nor an item that nothing stands in. */
export function saysSomething(body: string): boolean {
  const said = body.replace(/<!--[\s\S]*?(?:-->|$)/g, '').split(/[\r\n]+/)
  return said.some((line) => !/^(?:[-*+](?:\s+\[[ xX]?\])?)?$/.test(line.trim()))
}
