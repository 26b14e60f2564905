import type { Usage } from '../agent/port.ts'

/** Nothing was told. */
export const UNKNOWN_USAGE: Usage = {
  turns: null,
  inputTokens: null,
  cachedTokens: null,
  outputTokens: null,
  costUsd: null,
}

/** The sum of what was told; what nobody told stays unknown. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    turns: add(a.turns, b.turns),
    inputTokens: add(a.inputTokens, b.inputTokens),
    cachedTokens: add(a.cachedTokens, b.cachedTokens),
    outputTokens: add(a.outputTokens, b.outputTokens),
    costUsd: add(a.costUsd, b.costUsd),
  }
}

/** `$0.53`; with more digits where two would say nothing. */
export function formatCost(usd: number): string {
  return `$${usd > 0 && usd < 0.005 ? usd.toFixed(4) : usd.toFixed(2)}`
}

/** The number in `$0.53`; null where there is none. */
export function parseCost(text: string | null): number | null {
  const match = /^\$(\d+(?:\.\d+)?)$/.exec(text?.trim() ?? '')
  return match ? Number(match[1]) : null
}

/** `412k in (380k cached), 9k out`; null where nothing is known. */
export function formatTokens(usage: Usage): string | null {
  const parts: string[] = []
  if (usage.inputTokens !== null) {
    const cached = usage.cachedTokens === null ? '' : ` (${compact(usage.cachedTokens)} cached)`
    parts.push(`${compact(usage.inputTokens)} in${cached}`)
  }
  if (usage.outputTokens !== null) parts.push(`${compact(usage.outputTokens)} out`)
  return parts.length > 0 ? parts.join(', ') : null
}

/** The numbers of such a text, as exactly as it tells them. */
export function parseTokens(
  text: string | null,
): Pick<Usage, 'inputTokens' | 'cachedTokens' | 'outputTokens'> {
  return {
    inputTokens: counted(text, 'in'),
    cachedTokens: counted(text, 'cached'),
    outputTokens: counted(text, 'out'),
  }
}

function add(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : a + b
}

const SCALE = { '': 1, k: 1e3, M: 1e6 } as const

function compact(count: number): string {
  if (count < 1000) return String(count)
  if (count < 999_500) return `${short(count / 1e3)}k`
  return `${short(count / 1e6)}M`
}

function short(value: number): string {
  return value < 10 ? String(Number(value.toFixed(1))) : value.toFixed(0)
}

function counted(text: string | null, what: string): number | null {
  const match = new RegExp(`(\\d+(?:\\.\\d+)?)([kM]?) ${what}\\b`).exec(text ?? '')
  if (!match) return null
  return Math.round(Number(match[1]) * SCALE[(match[2] ?? '') as keyof typeof SCALE])
}
