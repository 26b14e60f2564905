import type { Interface } from 'node:readline'

/** A key as it was pressed. */
export interface Key {
  /**
   * `p`, `?`, `return`, `escape`, `up`, `f1`; never a capital. Two are no keys: `suspend` comes just before the program
   * stops at a Ctrl-Z, and `resume` after it goes on, when the screen is as the shell has left it.
   */
  readonly name: string
  readonly ctrl: boolean
  readonly shift: boolean
  /** What it types; empty for a key that types nothing. */
  readonly text: string
}

/** The keys of the terminal, which show up nowhere while somebody listens. Ctrl-C and Ctrl-Z do what they always do. */
export interface Keyboard {
  /** Keys go to the one who listens last; what it returns ends that. */
  listen(onKey: (key: Key) => void): () => void
  /**
   * Gives the terminal to somebody else until what it returns is called: to a question or a password, or to a program,
   * whose a Ctrl-C is then too.
   */
  pause(to?: 'reader' | 'program'): () => void
}

/** What of the process a keyboard needs. */
export interface KeyboardSystem {
  /** What a Ctrl-C does. */
  readonly interrupt: () => void
  /** What a Ctrl-Z does; null where the system has no such thing. */
  readonly suspend: (() => void) | null
  /** What a Ctrl-\ does. */
  readonly quit: () => void
  /** Calls back when somebody else is about to stop the process. */
  readonly onStop: (listener: () => void) => void
  /** Calls back whenever the process goes on after it was stopped. */
  readonly onContinue: (listener: () => void) => void
  /** Whether the terminal is this program's to read: one in the background would be stopped for that. */
  readonly isForeground: () => boolean
  /** Milliseconds of a clock that only goes forward. */
  readonly clock: () => number
}

/** The keyboard, and whether a program has it, or has only just had it: then an interrupt is not ours. */
export type OpenKeyboard = Keyboard & { readonly isLent: () => boolean }

/** The system may say so much later that a Ctrl-C was pressed than that a process has ended. */
const LATE_MS = 1000

/** Opens the keyboard of a terminal; nothing is read before somebody listens. */
export function openKeyboard(input: NodeJS.ReadStream, system: KeyboardSystem): OpenKeyboard {
  const listeners: ((key: Key) => void)[] = []
  const holders = new Set<{ readonly to: 'reader' | 'program' }>()
  let isOn = false
  let isBackSince = -Infinity
  let isStopped = false
  const hear = (key: Key): void => listeners.at(-1)?.(key)
  const stop = (): void => {
    if (isStopped) return
    isStopped = true
    hear(SUSPEND)
    turn(false)
  }
  const onKeypress = (text: string | undefined, { name, ctrl, shift, sequence }: NodeKey): void => {
    if (ctrl && name === 'c') return system.interrupt()
    if (ctrl && name === 'z' && system.suspend) {
      stop()
      return system.suspend()
    }
    if (sequence === '\u001c') {
      stop()
      return system.quit()
    }
    const types = text !== undefined && isTyped(text) ? text : ''
    hear({ name: (name ?? types).toLowerCase(), ctrl: ctrl ?? false, shift: shift ?? false, text: types })
  }
  const turn = (on: boolean): void => {
    if (on === isOn) return
    try {
      input.setRawMode(on)
    } catch {
      // The terminal was closed; the signal for that ends what listens.
      return
    }
    isOn = on
    if (on) {
      // Every command loads this file, and few listen: to load that module takes some milliseconds.
      const { emitKeypressEvents } = process.getBuiltinModule('node:readline')
      // All that Node reads of what it is handed here is how long an Escape waits for the rest of a sequence.
      emitKeypressEvents(input, { escapeCodeTimeout: ESCAPE_MS } as unknown as Interface)
      input.on('keypress', onKeypress).resume()
    } else input.off('keypress', onKeypress).pause()
  }
  const update = (): void => turn(listeners.length > 0 && holders.size === 0 && system.isForeground())
  system.onStop(stop)
  system.onContinue(() => {
    isStopped = false
    // A shell that has had the terminal meanwhile has set it up for itself.
    turn(false)
    update()
    hear(RESUME)
  })
  return {
    isLent: () => [...holders].some(({ to }) => to === 'program') || system.clock() - isBackSince < LATE_MS,
    listen(onKey) {
      listeners.push(onKey)
      update()
      return () => {
        const at = listeners.lastIndexOf(onKey)
        if (at >= 0) listeners.splice(at, 1)
        update()
      }
    },
    pause(to = 'reader') {
      const holder = { to }
      holders.add(holder)
      update()
      return () => {
        holders.delete(holder)
        if (to === 'program') isBackSince = system.clock()
        update()
      }
    },
  }
}

const ESCAPE_MS = 40

/** What node:readline makes of the bytes of a key. */
interface NodeKey {
  readonly name?: string
  readonly ctrl?: boolean
  readonly shift?: boolean
  readonly sequence?: string
}

const SUSPEND: Key = { name: 'suspend', ctrl: false, shift: false, text: '' }
const RESUME: Key = { ...SUSPEND, name: 'resume' }

function isTyped(text: string): boolean {
  return !/[\u0000-\u001f\u007f-\u009f]/.test(text)
}
