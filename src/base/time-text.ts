/** `2025-01-15 14:30`, in local time. */
export function minuteText(date: Date): string {
  return `${dayText(date)} ${clockText(date)}`
}

/** `2025-01-15`, in local time. */
export function dayText(date: Date): string {
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** `14:30`, in local time. */
export function clockText(date: Date): string {
  return `${two(date.getHours())}:${two(date.getMinutes())}`
}

const two = (part: number): string => String(part).padStart(2, '0')
