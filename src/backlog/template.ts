import type { Section } from './model.ts'

/** The description in a file of `ralph new`. */
export const DESCRIPTION_HINT = '<!-- What to implement and why. -->'

/** Whether a text, or its bytes, may contain a template's description. */
export function mayBeTemplate(source: string): boolean {
  return source.includes(DESCRIPTION_HINT)
}

/** The section with the template's description in a file of ralph's; null if somebody has replaced it. */
export function unfilledAt(source: string, sections: readonly Section[]): Section | null {
  if (!mayBeTemplate(source)) return null
  const bodyOf = ({ bodySpan }: Section): string => source.slice(bodySpan.start, bodySpan.end)
  const hint = sections.find((section) => bodyOf(section).trim() === DESCRIPTION_HINT)
  return hint && !sections.some((section) => saysSomething(bodyOf(section))) ? hint : null
}

/** Whether a text has content: comments and empty items do not count. */
export function saysSomething(body: string): boolean {
  const lines = body.replace(/<!--[\s\S]*?(?:-->|$)/g, '').split(/[\r\n]+/)
  return lines.some((line) => !/^(?:[-*+](?:\s+\[[ xX]?\])?)?$/.test(line.trim()))
}
