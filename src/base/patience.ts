/** The longest delay of a timer. */
const LONGEST_MS = 2 ** 31 - 1

/** A limit for a person's answer: the signal aborts after that time, or with the other signal; call `end` after the answer. */
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
