import type { Key } from '../screen/full/keys.ts'
import type { Terminal, TerminalListener } from '../screen/full/screen.ts'
import { wantsLiveLines } from '../screen/style.ts'
import type { Io } from './io.ts'
import type { Keyboard } from './keyboard.ts'

interface Opened {
  readonly listener: TerminalListener
  readonly texts: { readonly enter: string; readonly leave: string }
  readonly onKey: (key: Key) => void
  readonly unlisten: () => void
  readonly forget: readonly (() => void)[]
}

/** The terminal for a full screen; null if there is none, if it can only print, or if animation is off. */
export function openTerminal({ keyboard, stdout, atExit, env }: Io): Terminal | null {
  const keys = keyboard()
  const isLive = wantsLiveLines({ env, isTerminal: stdout.columns !== null })
  return keys && isLive ? terminalOf(keys, { stdout, atExit }) : null
}

function terminalOf(keys: Keyboard, { stdout, atExit }: Pick<Io, 'stdout' | 'atExit'>): Terminal {
  let opened: Opened | null = null
  /** Whether the screen is shown: not while the program is stopped, or another one has the terminal. */
  let isEntered = false
  let isLent = false
  const enter = (): void => {
    isEntered = true
    if (opened) stdout.write(opened.texts.enter)
  }
  const leave = (): void => {
    if (opened && isEntered) stdout.write(opened.texts.leave)
    isEntered = false
  }
  return {
    size: () => ({ columns: stdout.columns ?? 80, rows: stdout.rows ?? 24 }),
    write: (text) => isEntered && stdout.write(text),
    open(listener, texts) {
      const read = keyReader()
      const onKey = (raw: Key): void => {
        if (raw.name === 'suspend') return leave()
        if (raw.name === 'resume') {
          if (isLent) return
          leave()
          enter()
          return listener.spoilt()
        }
        for (const key of read(raw)) listener.key(key)
      }
      const forget = [stdout.onResize(() => listener.spoilt()), atExit(leave)]
      opened = { listener, texts, onKey, forget, unlisten: keys.listen(onKey) }
      enter()
    },
    close() {
      leave()
      for (const forget of opened?.forget ?? []) forget()
      opened?.unlisten()
      opened = null
    },
    focus() {
      if (!opened) return
      opened.unlisten()
      opened = { ...opened, unlisten: keys.listen(opened.onKey) }
    },
    async lend(work) {
      const { listener } = opened ?? {}
      leave()
      isLent = true
      const resume = keys.pause('program')
      try {
        return await work()
      } finally {
        isLent = false
        resume()
        // It may have been closed in the meantime.
        if (listener && opened?.listener === listener) {
          enter()
          listener.spoilt()
        }
      }
    },
  }
}

/** Joins pasted text: the end of a line in it is no key. */
export function keyReader(): (key: Key) => readonly Key[] {
  let pasted: string | null = null
  return (key) => {
    const { name, text } = key
    if (name === 'paste-end') {
      const whole = (pasted ?? '').replaceAll(/\s+/g, ' ').trim()
      pasted = null
      return [plainKey('paste', whole)]
    }
    if (name === 'paste-start') pasted = ''
    else if (pasted !== null) pasted += text === '' ? ' ' : text
    // A key right after an Escape does not mean Alt.
    else if (text === '' && name.length <= 1 && !key.ctrl)
      return [plainKey('escape', ''), plainKey(name, name)]
    // Printing keys have their own sign as name: readline's names are missing for a space and for other alphabets.
    else return [{ ...key, name: name === 'enter' ? 'return' : text === '' ? name : text }]
    return []
  }
}

function plainKey(name: string, text: string): Key {
  return { name, text, ctrl: false, shift: false }
}
