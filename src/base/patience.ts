/** How long a timer can be set for. */
const LONGEST_MS = 2 ** 31 - 1

/** How long a person's answer is waited for: the signal aborts then, or with the other; `end` when it has come. */
export function patience(
  seconds: number,
  over: AbortSignal,
): { readonly signal: AbortSignal; readonly isOver: () => boolean; readonly end: () => void } {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), Math.min(seconds * 1000, LONGEST_MS))
  return {
    signal: AbortSignal.any([over, controller.signal]),
    isOver: () => controller.signal.aborted,
    end: () => clearTimeout(timer),
  }
}
