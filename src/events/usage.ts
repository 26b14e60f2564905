import type { Usage } from '../agent/port.ts'

/** Nothing was told. */
export const UNKNOWN_USAGE: Usage = {
  turns: null,
  inputTokens: null,
  cachedTokens: null,
  outputTokens: null,
  costUsd: null,
}

/** The sum of what is known; null where none of it is. */
export function sum(...numbers: readonly (number | null)[]): number | null {
  let total: number | null = null
  for (const value of numbers) if (value !== null) total = (total ?? 0) + value
  return total
}
