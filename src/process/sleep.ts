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
    // Beyond 2^31 milliseconds Node's timers fire at once.
    const timer = setTimeout(wake, Math.min(Math.max(0, milliseconds), 2 ** 31 - 1))
    signal?.addEventListener('abort', wake)
  })
}
