import type { Happening } from '../events/event.ts'

/** Says at once that the run is to end: what is under way may take its time. */
export async function* sayingWhenStopping(
  happenings: AsyncGenerator<Happening, void>,
  signal: AbortSignal,
): AsyncGenerator<Happening, void> {
  let isSaid = false
  try {
    for (;;) {
      const next = happenings.next()
      if (!isSaid && (await isAbortedBefore(next, signal))) {
        isSaid = true
        yield { type: 'stopping' }
      }
      const step = await next
      if (step.done) return
      isSaid ||= step.value.type === 'run-finished'
      yield step.value
    }
  } finally {
    await happenings.return()
  }
}

/** Whether a signal is aborted before something has come, well or not. */
function isAbortedBefore(coming: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const onAbort = (): void => resolve(true)
    const onCome = (): void => {
      signal.removeEventListener('abort', onAbort)
      resolve(signal.aborted)
    }
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    coming.then(onCome, onCome)
  })
}
