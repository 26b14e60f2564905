/** The number of a milestone, alone or after a word for one, and its name: `2 — Payments`, `Phase 2: Payments`. */
const FORM = /^(?:(?:milestone|phase|stage|sprint|m)\s*)?(\d+(?:\.\d+)*)\s*[—–:.-]*\s*(.*)$/i

/** Whether a milestone matches a typed text: its number, its name, or both as written. */
export function isMilestone(milestone: string, typed: string): boolean {
  const [, number, name] = FORM.exec(milestone) ?? []
  const wanted = normal(typed)
  return [milestone, number, name].some((form) => form !== undefined && normal(form) === wanted)
}

function normal(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/^0+(?=\d)/, '')
}

/** The number at the beginning of a milestone, or empty, and its name. */
export function milestoneParts(milestone: string): { readonly number: string; readonly name: string } {
  const [, number = '', name = milestone] =
    /^\s*(\d+(?:\.\d+)*)(?:\s*[—–:.·)-]+\s*|\s+|$)(.*)$/s.exec(milestone) ?? []
  return { number, name }
}

/** A heading as a milestone: with this number, unless it has its own. */
export function milestoneOf(heading: string, place: number): string {
  const { number, name } = milestoneParts(heading)
  return `${number || place} — ${name}`
}
