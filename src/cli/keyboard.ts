import type { Interface, Key as NodeKey } from 'node:readline'
import type { Key } from '../screen/full/keys.ts'

/** The keys of the terminal, which are not echoed while somebody listens. Ctrl-C and Ctrl-Z work as usual. */
export interface Keyboard {
  /**
   * The last listener gets the keys; the returned function removes it. A key's name is `p`, `?`, `return`, `escape`, `up`
   * or `f1`, never a capital. Two are no keys: `suspend` comes just before the program stops at a Ctrl-Z, and `resume`
   * after it continues, when the shell has changed the screen.
   */
  listen(onKey: (key: Key) => void): () => void
  /**
   * Lends the terminal until the returned function is called: to a question or a password, or to a program, which
   * then also handles Ctrl-C.
   */
  pause(to?: 'reader' | 'program'): () => void
}

/** The parts of the process that a keyboard needs. */
export interface KeyboardSystem {
  /** What a Ctrl-C does. */
  readonly interrupt: () => void
  /** What a Ctrl-Z does; null if the system has no suspend. */
  readonly suspend: (() => void) | null
  /** What a Ctrl-\ does. */
  readonly quit: () => void
  /** Calls back when the process is about to be stopped. */
  readonly onStop: (listener: () => void) => void
  /** Calls back when the process continues after a stop. */
  readonly onContinue: (listener: () => void) => void
  /** Whether this program may read the terminal: in the background it would be stopped for that. */
  readonly isForeground: () => boolean
  /** Milliseconds of a clock that only goes forward. */
  readonly clock: () => number
}

/** The keyboard, and whether a program has borrowed it, or just had it: then an interrupt is not ralph's. */
export type OpenKeyboard = Keyboard & { readonly isLent: () => boolean }

/** The system may report a Ctrl-C this much later than that a process has ended. */
const LATE_MS = 1000

/** Opens the keyboard of a terminal; it is not read before somebody listens. */
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
      // The terminal was closed; its signal ends the listeners.
      return
    }
    isOn = on
    if (on) {
      // Every command loads this file, and few listen: loading that module takes milliseconds.
      const { emitKeypressEvents } = process.getBuiltinModule('node:readline')
      // Node reads only one field of this object: how long an Escape waits for the rest of a sequence.
      emitKeypressEvents(input, { escapeCodeTimeout: ESCAPE_MS } as unknown as Interface)
      input.on('keypress', onKeypress).resume()
    } else input.off('keypress', onKeypress).pause()
  }
  const update = (): void => turn(listeners.length > 0 && holders.size === 0 && system.isForeground())
  system.onStop(stop)
  system.onContinue(() => {
    isStopped = false
    // A shell that had the terminal in the meantime has changed its mode.
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

const SUSPEND: Key = { name: 'suspend', ctrl: false, shift: false, text: '' }
const RESUME: Key = { ...SUSPEND, name: 'resume' }

function isTyped(text: string): boolean {
  return !/[\u0000-\u001f\u007f-\u009f]/.test(text)
}
