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
