/**
 * Shares one budget among those who want some of it: nobody gets more than asked for, what one leaves the others
 * share, and all who are cut get the same. Where that would be less than `least` for somebody who wants more than
 * it, the last ones go without.
 */
export function fairShares(wants: readonly number[], budget: number, least: number): readonly number[] {
  const isEnough = (served: number): boolean =>
    evenShares(wants.slice(0, served), budget).every(
      (share, index) => share >= Math.min(wants[index]!, least),
    )
  // Serving one more never gives the others more, so the most that can be served is found by halving.
  let [enough, tooMany] = [0, wants.length + 1]
  while (tooMany - enough > 1) {
    const middle = Math.floor((enough + tooMany) / 2)
    if (isEnough(middle)) enough = middle
    else tooMany = middle
  }
  return [...evenShares(wants.slice(0, enough), budget), ...wants.slice(enough).map(() => 0)]
}

/** The smallest wants are met first; each of the rest gets an equal part of what is left at its turn. */
function evenShares(wants: readonly number[], budget: number): readonly number[] {
  const shares = wants.map(() => 0)
  const bySize = wants.map((want, index) => ({ want, index })).sort((a, b) => a.want - b.want)
  let left = Math.max(0, budget)
  for (const [position, { want, index }] of bySize.entries()) {
    const share = Math.min(want, Math.floor(left / (bySize.length - position)))
    shares[index] = share
    left -= share
  }
  return shares
}
