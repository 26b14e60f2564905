import type { TierConfig, TierRow as ConfiguredRow } from '../config/defaults.ts'
import type { TierRow, TierTable } from '../select/tier.ts'

/** The tiers as configured, in the form in which selection asks for them. */
export function tierTable({ rows, keywords }: TierConfig): TierTable {
  return {
    Light: tierRow(rows.Light),
    Standard: tierRow(rows.Standard),
    Heavy: tierRow(rows.Heavy),
    keywords,
  }
}

/** What never makes a task this tier is a threshold that nothing reaches. */
function tierRow({ maxTurns, timeoutSeconds, fromDepends, fromProduces }: ConfiguredRow): TierRow {
  return {
    turns: maxTurns,
    timeoutSeconds,
    fromDepends: fromDepends ?? Infinity,
    fromProduces: fromProduces ?? Infinity,
  }
}
