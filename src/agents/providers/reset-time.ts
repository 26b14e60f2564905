const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/**
 * The moment that a limit's message names, or null if it names none: `try again at 10:33 AM`,
 * `at Nov 20th, 2026 3:04 PM`, `resets 3pm`, `in 2 days 3 hours`, `after 1h2m3s`, `"retryDelay":"34s"`.
 * A time of day is in the machine's time zone, as the agents write it.
 */
export function resetTime(message: string, now: Date): Date | null {
  return dayAndTime(message) ?? timeOfDay(message, now) ?? delay(message, now)
}

function dayAndTime(message: string): Date | null {
  const match =
    /\b(?:at|on|resets)\s+([a-z]{3})[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4}),?\s+(?:at\s+)?(\d{1,2})(?::(\d{2}))?\s*(am|pm)?\b/i.exec(
      message,
    )
  if (!match) return null
  const [, month = '', day, year, hour, minute, half] = match
  const monthIndex = MONTHS.indexOf(month.toLowerCase())
  if (monthIndex === -1) return null
  const [h, m] = clock(Number(hour), Number(minute ?? 0), half)
  return new Date(Number(year), monthIndex, Number(day), h, m)
}

function timeOfDay(message: string, now: Date): Date | null {
  const match =
    /\b(?:again\s+at|resets?(?:\s+at)?|until)\s+(\d{1,2})(?::(\d{2})\s*(am|pm)?|\s*(am|pm))(?![\w:])/i.exec(
      message,
    )
  if (!match) return null
  const [, hour, minute, halfAfterMinutes, halfAlone] = match
  const [h, m] = clock(Number(hour), Number(minute ?? 0), halfAfterMinutes ?? halfAlone)
  if (h > 23 || m > 59) return null
  const moment = new Date(now)
  moment.setHours(h, m, 0, 0)
  // A limit ends in the future: a time that has passed means tomorrow.
  if (moment.getTime() < now.getTime() - 60_000) moment.setDate(moment.getDate() + 1)
  return moment
}

function clock(hour: number, minute: number, half: string | undefined): [number, number] {
  if (half === undefined) return [hour, minute]
  return [(hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0), minute]
}

function delay(message: string, now: Date): Date | null {
  const start = /\b(?:in|after|retry[- ]?delay|retry[- ]?after)["':=\s]+(?=\d)/i.exec(message)
  if (!start) return null
  const amounts = /[\s,]*(?:and\s+)?(\d+(?:\.\d+)?)\s*(ms|milli|[dhms])[a-z]*/iy
  amounts.lastIndex = start.index + start[0].length
  let seconds: number | null = null
  for (let match = amounts.exec(message); match; match = amounts.exec(message)) {
    seconds = (seconds ?? 0) + Number(match[1]) * unitSeconds(match[2]!)
  }
  return seconds === null ? null : new Date(now.getTime() + seconds * 1000)
}

function unitSeconds(unit: string): number {
  return { d: 86_400, h: 3600, m: 60, s: 1 }[unit.toLowerCase()] ?? 0.001
}
