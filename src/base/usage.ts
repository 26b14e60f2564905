import type { Usage } from './nouns.ts'
import { formatDuration, parseDuration } from './time.ts'

/** The usage if nothing was reported. */
export const UNKNOWN_USAGE: Usage = {
  turns: null,
  inputTokens: null,
  cachedTokens: null,
  outputTokens: null,
  costUsd: null,
}

/** The sum of the known numbers; null if there are none. */
export function sum(...numbers: readonly (number | null)[]): number | null {
  let total: number | null = null
  for (const value of numbers) if (value !== null) total = (total ?? 0) + value
  return total
}

/** Makes a usage from its numbers. */
function usageOf(valueOf: (key: keyof Usage) => number | null): Usage {
  return {
    turns: valueOf('turns'),
    inputTokens: valueOf('inputTokens'),
    cachedTokens: valueOf('cachedTokens'),
    outputTokens: valueOf('outputTokens'),
    costUsd: valueOf('costUsd'),
  }
}

/** The sum of two usages; null plus a number is that number. */
export function addUsage(a: Usage, b: Usage): Usage {
  return usageOf((key) => sum(a[key], b[key]))
}

/** The sum of any number of usages. */
export function totalUsage(usages: readonly Usage[]): Usage {
  return usages.reduce(addUsage, UNKNOWN_USAGE)
}

/**
 * What can be limited: dollars, and tokens (output, and input that does not come from a cache). Null: no limit, or nothing
 * known.
 */
export type Amounts = Readonly<Record<'usd' | 'tokens', number | null>>

export const NO_AMOUNTS: Amounts = { usd: null, tokens: null }

/** What a usage amounts to. */
export function amountsOf({ costUsd, inputTokens, cachedTokens, outputTokens }: Usage): Amounts {
  const fresh = inputTokens === null ? null : Math.max(0, inputTokens - (cachedTokens ?? 0))
  return { usd: costUsd, tokens: sum(fresh, outputTokens) }
}

/** The same for both kinds of amounts. */
export function eachAmount(value: (kind: keyof Amounts) => number | null): Amounts {
  return { usd: value('usd'), tokens: value('tokens') }
}

/** The sum of two amounts, as far as they are known. */
export function addAmounts(a: Amounts, b: Amounts): Amounts {
  return eachAmount((kind) => sum(a[kind], b[kind]))
}

/** `$5.00`, `3M tokens`. */
export function formatAmount(kind: keyof Amounts, amount: number): string {
  return kind === 'usd' ? formatCost(amount) : `${compact(amount)} tokens`
}

/** What `parseCount` takes, in words. */
export const TOKENS = 'a number of tokens from 1, like 500k or 3M'

/** The number in `3M`, `500k`, `1e9` or `250000`; null if there is none, or it is below 1. */
export function parseCount(text: string): number | null {
  const match = /^(\d{1,12}(?:\.\d{1,3})?(?:e\d{1,2})?) ?([km])?$/i.exec(text.trim())
  if (!match) return null
  const unit = match[2]?.toLowerCase()
  const count = Math.round(Number(match[1]) * (unit === 'k' ? 1e3 : unit === 'm' ? 1e6 : 1))
  return count >= 1 && Number.isSafeInteger(count) ? count : null
}

/** `$0.53`; with more digits for very small amounts. */
export function formatCost(usd: number): string {
  return `$${usd > 0 && usd < 0.005 ? usd.toFixed(4) : usd.toFixed(2)}`
}

/** The number in `$0.53`; null if there is none. */
export function parseCost(text: string | null): number | null {
  const match = /^\$(\d+(?:\.\d+)?)$/.exec(text?.trim() ?? '')
  return match ? Number(match[1]) : null
}

/** The seconds in a duration like `8m 12s`; null if it is none. Unlike a limit it may be `0s`. */
export function secondsIn(text: string | null): number | null {
  if (text === null) return null
  return text.trim() === formatDuration(0) ? 0 : (parseDuration(text) ?? null)
}

/** `412k in (380k cached), 9k out`; null if nothing is known. */
export function formatTokens(usage: Usage): string | null {
  const parts: string[] = []
  if (usage.inputTokens !== null) {
    const cached = usage.cachedTokens === null ? '' : ` (${compact(usage.cachedTokens)} cached)`
    parts.push(`${compact(usage.inputTokens)} in${cached}`)
  }
  if (usage.outputTokens !== null) parts.push(`${compact(usage.outputTokens)} out`)
  return parts.length > 0 ? parts.join(', ') : null
}

/** Parses such a text, with the precision that it has. */
export function parseTokens(
  text: string | null,
): Pick<Usage, 'inputTokens' | 'cachedTokens' | 'outputTokens'> {
  return {
    inputTokens: counted(text, INPUT),
    cachedTokens: counted(text, CACHED),
    outputTokens: counted(text, OUTPUT),
  }
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

const INPUT = /(\d+(?:\.\d+)?)([kM]?) in\b/
const CACHED = /(\d+(?:\.\d+)?)([kM]?) cached\b/
const OUTPUT = /(\d+(?:\.\d+)?)([kM]?) out\b/

function counted(text: string | null, what: RegExp): number | null {
  const match = text === null ? null : what.exec(text)
  if (!match) return null
  return Math.round(Number(match[1]) * SCALE[(match[2] ?? '') as keyof typeof SCALE])
}
