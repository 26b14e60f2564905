import { formatDuration } from '../base/duration.ts'
import { counted } from '../base/counted.ts'

/** What a task may take, in words: `75 turns, 15 min`. */
export function limitsText(maxTurns: number, timeoutSeconds: number): string {
  return `${counted(maxTurns, 'turn')}, ${timeLimitText(timeoutSeconds)}`
}

/** A time limit in words: `15 min`. */
export function timeLimitText(seconds: number): string {
  return seconds % 60 === 0 && seconds < 3600 ? `${seconds / 60} min` : formatDuration(seconds)
}
