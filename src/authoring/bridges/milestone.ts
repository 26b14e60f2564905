import { milestoneParts } from '../../backlog/milestone.ts'

/** Names the milestones of an imported backlog, with numbers that are not in use here. */
export function milestoneNamer(existing: readonly string[]): (milestone: string) => string {
  const named = new Map(existing.map((text) => [nameIn(text), text]))
  const owners = new Map(existing.map((text) => [numberIn(text), text]))
  let highest = Math.max(0, ...existing.map((text) => Math.trunc(Number(numberIn(text))) || 0))
  return (milestone) => {
    const known = named.get(nameIn(milestone))
    if (known !== undefined) return known
    const isTaken = milestoneParts(milestone).number !== '' && owners.has(numberIn(milestone))
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
