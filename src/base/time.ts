const UNITS = { s: 1, m: 60, h: 3600 } as const

/** The seconds in `90`, `90s`, `20m`, `1h`, `1h 30m`; undefined for any other text, and for zero. */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim().toLowerCase()
  if (/^\d{1,7}$/.test(trimmed)) return Number(trimmed) || undefined
  const match =
    /^(?:(\d{1,5})\s*h(?:ours?|rs?)?)?\s*(?:(\d{1,5})\s*m(?:in(?:ute)?s?)?)?\s*(?:(\d{1,7})\s*s(?:ec(?:ond)?s?)?)?$/.exec(
      trimmed,
    )
  if (!match) return undefined
  const [, hours = 0, minutes = 0, seconds = 0] = match
  return Number(hours) * UNITS.h + Number(minutes) * UNITS.m + Number(seconds) || undefined
}

/** `42s`, `8m 12s`, `1h 12m`: at most two units. */
export function formatDuration(seconds: number): string {
  const total = Math.max(0, Math.round(seconds))
  const [hours, minutes, rest] = [Math.floor(total / 3600), Math.floor((total % 3600) / 60), total % 60]
  if (hours > 0) return minutes > 0 ? `${hours}h ${minutes}m` : `${hours}h`
  if (minutes > 0) return rest > 0 ? `${minutes}m ${String(rest).padStart(2, '0')}s` : `${minutes}m`
  return `${rest}s`
}

/** `42s`, `41m`, `1h 12m`: seconds only within the first minute. */
export function wholeMinutes(seconds: number): string {
  return formatDuration(seconds < 60 ? seconds : Math.floor(seconds / 60) * 60)
}

/** A moment: as a date, as a text in ISO 8601, or in seconds since 1970 as git has it. */
type Moment = Date | string | number

function dateOf(moment: Moment): Date {
  return new Date(typeof moment === 'number' ? moment * 1000 : moment)
}

/** Never negative: clocks may be set back. */
export function secondsBetween(from: Moment, to: Moment): number {
  return Math.max(0, (dateOf(to).getTime() - dateOf(from).getTime()) / 1000)
}

/** `2025-01-15 14:30`, in local time. */
export function minuteText(moment: Moment): string {
  return `${dayText(moment)} ${clockText(moment)}`
}

/** `2025-01-15`, in local time. */
export function dayText(moment: Moment): string {
  const date = dateOf(moment)
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** `14:30`, in local time. */
export function clockText(moment: Moment): string {
  const date = dateOf(moment)
  return `${two(date.getHours())}:${two(date.getMinutes())}`
}

/** How long a wait lasts: `for 42s`, `until 14:30`, or on another day `until 2025-01-18 14:30`. */
export function waitText(until: Moment, now: Moment): string {
  const left = Math.ceil(secondsBetween(now, until))
  if (left > 0 && left < 60) return `for ${left}s`
  return `until ${dayText(until) === dayText(now) ? clockText(until) : minuteText(until)}`
}

const two = (part: number): string => String(part).padStart(2, '0')
