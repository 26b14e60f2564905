/** The longest delay of a timer: beyond it Node's timers fire at once. */
const LONGEST_MS = 2 ** 31 - 1

/**
 * Waits, and then until the data that is already in pipes has been read: after a busy time Node's timers
 * fire before its pipes are read, which would look like silence.
 */
export async function listenFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await sleep(milliseconds, signal)
  if (!signal?.aborted) await new Promise((resolve) => setImmediate(resolve))
}

/** Waits until the time is over or the signal is aborted; never throws. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const wake = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const timer = setTimeout(wake, Math.min(Math.max(0, milliseconds), LONGEST_MS))
    signal?.addEventListener('abort', wake)
  })
}

/** Acts when the signal is aborted, or at once if it is; not after `over`. */
export function onAbort(signal: AbortSignal, over: AbortSignal, act: () => void): void {
  if (signal.aborted) act()
  else signal.addEventListener('abort', act, { once: true, signal: over })
}

/** What a person answers: the signal aborts when their time is over, or with the other signal. */
export function inTime<Answer>(
  seconds: number,
  over: AbortSignal,
  ask: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), Math.min(seconds * 1000, LONGEST_MS))
  return ask(AbortSignal.any([over, controller.signal])).finally(() => clearTimeout(timer))
}
