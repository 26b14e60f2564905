/**
 * Waits, and then until what had come by now through pipes has been read: where the program was busy meanwhile, its timers
 * come before its pipes, and a silence would be nothing but its own deafness.
 */
export async function listenFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await sleep(milliseconds, signal)
  if (!signal?.aborted) await new Promise((resolve) => setImmediate(resolve))
}

/** Waits, or stops waiting when the signal is aborted; it never throws. */
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
