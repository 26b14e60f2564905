/**
 * Shares one budget: nobody gets more than they want, unused parts go to the others, and all whose share is cut get
 * the same. If that share is below `least`, the last ones who want more than it get nothing.
 */
export function fairShares(wants: readonly number[], budget: number, least: number): readonly number[] {
  const isEnough = (served: number): boolean =>
    evenShares(wants.slice(0, served), budget).every(
      (share, index) => share >= Math.min(wants[index]!, least),
    )
  // Including one more never increases the others' shares, so a binary search finds the most that fit.
  let [enough, tooMany] = [0, wants.length + 1]
  while (tooMany - enough > 1) {
    const middle = Math.floor((enough + tooMany) / 2)
    if (isEnough(middle)) enough = middle
    else tooMany = middle
  }
  return [...evenShares(wants.slice(0, enough), budget), ...wants.slice(enough).map(() => 0)]
}

/** Small wants are met first; each of the rest gets an equal part of what is left. */
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
