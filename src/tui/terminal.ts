import type { Size } from './frame.ts'

/** A key, or a text that was pasted, whose name is `paste`. */
export interface Key {
  /** `up`, `return`, `escape`, `tab`; of what prints the character itself. */
  readonly name: string
  readonly ctrl: boolean
  readonly shift: boolean
  /** What it types; empty for one that types nothing. */
  readonly text: string
}

/** What a screen hears of its terminal. */
export interface TerminalListener {
  readonly key: (key: Key) => void
  /** It has another size, or somebody else has had it: nothing is known of what it shows. */
  readonly spoilt: () => void
}

/** A terminal that one has to oneself, until it is closed. */
export interface Terminal {
  readonly size: () => Size
  readonly write: (text: string) => void
  /** Begins to hear keys; `enter` and `leave` are written whenever the screen is entered and left, however that comes about. */
  readonly open: (
    listener: TerminalListener,
    texts: { readonly enter: string; readonly leave: string },
  ) => void
  readonly close: () => void
  /** Keys come here again, where somebody else has begun to hear them since. */
  readonly focus: () => void
  /** Leaves the terminal to another program meanwhile. */
  readonly lend: <T>(work: () => Promise<T>) => Promise<T>
}
