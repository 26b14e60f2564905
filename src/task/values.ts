const NONE = new Set(['', 'none', '(none)', 'n/a', '-', '–', '—'])

/** Whether a value says that there is nothing. */
export function isNone(value: string): boolean {
  return NONE.has(value.trim().toLowerCase())
}

/** The parts of a value between commas; empty where it says `none`. */
export function splitList(value: string): string[] {
  if (isNone(value)) return []
  return value
    .split(/[,，、\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** The paths of a value, without the remark that may follow each in brackets. */
export function splitPaths(value: string): string[] {
  return splitList(value).flatMap((part) => {
    const remark = /[)）]$/.test(part) ? Math.max(part.lastIndexOf(' ('), part.lastIndexOf('（')) : -1
    return remark === 0 ? [] : [remark < 0 ? part : part.slice(0, remark).trimEnd()]
  })
}

/** `§3.2, §4`, also without commas: each reference with its sign. */
export function splitReferences(value: string): string[] {
  if (isNone(value)) return []
  return value
    .split(/[,，、;\s]+/)
    .map((part) => part.trim())
    .filter((part) => part !== '' && part !== '§')
}

/** The number of an id: `T-004` is 4. */
export function numberOf(id: string): number {
  return Number(id.slice(2))
}

/** The id of a number, padded as a neighbour is. */
export function idOf(number: number, digits: number): string {
  return `T-${String(number).padStart(digits, '0')}`
}
