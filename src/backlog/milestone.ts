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
    /^\s*(?:(?:milestone|phase|stage|sprint)\s+)?(\d+(?:\.\d+)*)(?:\s*[—–:.·)-]+\s*|\s+|$)(.*)$/is.exec(
      milestone,
    ) ?? []
  return { number, name }
}

/** A heading as a milestone: with this number, unless it has its own. */
export function milestoneOf(heading: string, place: number): string {
  const { number, name } = milestoneParts(heading)
  return `${number || place} — ${name}`
}

/** Names new milestones, with numbers that are not in use here; one without a number gets one if all are to be numbered. */
export function milestoneNamer(
  existing: readonly string[],
  { numbered = false }: { numbered?: boolean } = {},
): (milestone: string) => string {
  const named = new Map(existing.map((text) => [nameIn(text), text]))
  const owners = new Map(existing.map((text) => [numberIn(text), text]))
  let highest = Math.max(0, ...existing.map((text) => Math.trunc(Number(numberIn(text))) || 0))
  return (milestone) => {
    const known = named.get(nameIn(milestone))
    if (known !== undefined) return known
    const isTaken = milestoneParts(milestone).number === '' ? numbered : owners.has(numberIn(milestone))
    const own = isTaken ? `${++highest} — ${nameIn(milestone)}` : milestone
    named.set(nameIn(own), own)
    owners.set(numberIn(own), own)
    highest = Math.max(highest, Math.trunc(Number(numberIn(own))) || 0)
    return own
  }
}

function numberIn(milestone: string): string {
  return milestoneParts(milestone).number || milestone
}

function nameIn(milestone: string): string {
  return milestoneParts(milestone).name
}
