import type { AgentEvent } from '../agent/port.ts'

const WINDOW_MS = 50
const MOST_CHARACTERS = 16_384

/**
 * Joins texts that arrive quickly into one event: an agent may print millions of lines, and each event passes through
 * the whole run. A text after a pause is passed on at once, and no text waits for long.
 */
export async function* gatherText(events: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent, void> {
  const source = events[Symbol.asyncIterator]()
  let gathered: string[] = []
  let size = 0
  let window: Window | null = null
  const flush = (): AgentEvent => {
    const text = gathered.join('\n')
    gathered = []
    size = 0
    return { type: 'text', text }
  }
  try {
    let next = source.next()
    for (;;) {
      const step = window && size > 0 ? await window.whicheverFirst(next) : await next
      if (step === 'over') {
        window = null
        yield flush()
        continue
      }
      const event: AgentEvent | null = step.done ? null : step.value
      if (event?.type === 'text' && window?.isOpen()) {
        gathered.push(event.text)
        size += event.text.length + 1
        if (size >= MOST_CHARACTERS) yield flush()
      } else {
        if (size > 0) yield flush()
        if (!event) return
        if (event.type === 'text') window = openWindow()
        yield event
      }
      next = source.next()
    }
  } finally {
    await source.return?.()
  }
}

interface Window {
  /** Resolves with the promise's value, or with `over` when the window ends first. */
  whicheverFirst<T>(next: Promise<T>): Promise<T | 'over'>
  isOpen(): boolean
}

/** `Promise.race` would add a listener to the window for each of the many lines that arrive while it is open. */
function openWindow(): Window {
  let open = true
  let wake = (): void => undefined
  setTimeout(() => {
    open = false
    wake()
  }, WINDOW_MS)
  return {
    whicheverFirst: (next) =>
      new Promise((resolve, reject) => {
        wake = () => resolve('over')
        next.then(resolve, reject)
        if (!open) wake()
      }),
    isOpen: () => open,
  }
}
