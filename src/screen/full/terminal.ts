/** A key, or a pasted text, which has the name `paste`. */
export interface Key {
  /** `up`, `return`, `escape`, `tab`; for a printable key the character itself. */
  readonly name: string
  readonly ctrl: boolean
  readonly shift: boolean
  /** The typed text; empty for keys that type nothing. */
  readonly text: string
}

/** What a screen learns from its terminal. */
export interface TerminalListener {
  readonly key: (key: Key) => void
  /** Called when its size has changed, or another program has used it: its content is unknown. */
  readonly spoilt: () => void
}

/** A terminal for one screen alone, until it is closed. */
export interface Terminal {
  readonly size: () => { readonly columns: number; readonly rows: number }
  readonly write: (text: string) => void
  /** Starts to read keys; writes `enter` and `leave` each time that the screen is entered and left, for any cause. */
  readonly open: (
    listener: TerminalListener,
    texts: { readonly enter: string; readonly leave: string },
  ) => void
  readonly close: () => void
  /** Directs keys here again, after another listener got them. */
  readonly focus: () => void
  /** Lends the terminal to another program during the work. */
  readonly lend: <T>(work: () => Promise<T>) => Promise<T>
}
