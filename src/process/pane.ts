import type { IBufferCell, Terminal as HeadlessTerminal } from '@xterm/headless'
import { withoutControls } from '../base/controls.ts'
import type { Size } from './terminal.ts'

/** Part of a row with the same style. */
export interface StyledText {
  readonly text: string
  /** The parameters of its SGR sequence, such as `1;38;5;4`; empty for the default style. */
  readonly sgr: string
}

/** The screen of a program, held in memory so that it exists also while nobody watches. */
export interface Pane {
  /** Gets the program's output. */
  write(chunk: Uint8Array): void
  resize(size: Size): void
  readonly size: Size
  /** The visible rows, with what is drawn by now. */
  rows(): readonly (readonly StyledText[])[]
  readonly cursor: { readonly row: number; readonly column: number; readonly isHidden: boolean }
  /** Whether the program uses the alternate screen, as an editor does. */
  readonly isAlternate: boolean
  /**
   * The output that draws the whole screen, and sets the terminal's modes as the program did, starting from an empty
   * screen.
   */
  repaint(): string
  /** Calls back on each change of the screen; the returned function ends that. */
  onChange(listener: () => void): () => void
  /** Calls back with a terminal's replies to the program: its type, and the position of the cursor. */
  onReply(listener: (text: string) => void): void
  /** Resolves when all output is drawn. */
  settled(): Promise<void>
  close(): void
}

/** Nobody sees what has scrolled away. */
const SCROLL_BACK = 0

/** Opens an empty screen. */
export async function openPane(size: Size): Promise<Pane> {
  const { default: headless } = await import('@xterm/headless')
  const terminal = new headless.Terminal({
    cols: size.columns,
    rows: size.rows,
    scrollback: SCROLL_BACK,
    allowProposedApi: true,
  })
  const keys = keyModes(terminal)
  let title = ''
  terminal.onTitleChange((to) => void (title = to))
  const rows = (): readonly (readonly StyledText[])[] => {
    const { active } = terminal.buffer
    return Array.from({ length: terminal.rows }, (_, row) => spansOf(terminal, active.baseY + row))
  }
  return {
    write: (chunk) => terminal.write(chunk),
    resize: ({ columns, rows: height }) => terminal.resize(columns, height),
    get size() {
      return { columns: terminal.cols, rows: terminal.rows }
    },
    rows,
    get cursor() {
      const { cursorX: column, cursorY: row } = terminal.buffer.active
      return { column, row, isHidden: keys.isCursorHidden() }
    },
    get isAlternate() {
      return terminal.buffer.active.type === 'alternate'
    },
    repaint() {
      const { cursorX, cursorY } = terminal.buffer.active
      const drawn = rows().map((spans, row) =>
        spans.length === 0 ? '' : `${CSI}${row + 1};1H${drawnOf(spans)}`,
      )
      return `${drawn.join('')}${CSI}0m${CSI}${cursorY + 1};${cursorX + 1}H${modesOf(terminal)}${keys.restored()}${title === '' ? '' : `\u001b]2;${withoutControls(title)}\u0007`}`
    },
    onChange(listener) {
      const subscription = terminal.onWriteParsed(listener)
      return () => subscription.dispose()
    },
    onReply: (listener) => void terminal.onData(listener),
    settled: () => new Promise((resolve) => terminal.write('', resolve)),
    close: () => terminal.dispose(),
  }
}

const CSI = '\u001b['

/** Modes that the terminal library does not report: the cursor, and how keys are reported. */
function keyModes(terminal: HeadlessTerminal): {
  readonly isCursorHidden: () => boolean
  readonly restored: () => string
} {
  let isHidden = false
  const kitty: number[] = []
  let other: number | null = null
  const first = (params: readonly (number | number[])[]): number =>
    typeof params[0] === 'number' ? params[0] : 0
  // They return false, so that the library handles the sequence too.
  const follow = (
    id: { readonly prefix: string; readonly final: string },
    see: (value: number, second: number) => void,
  ): void =>
    void terminal.parser.registerCsiHandler(id, (params) => {
      see(first(params), first(params.slice(1)))
      return false
    })
  follow({ prefix: '?', final: 'h' }, (mode) => void (isHidden = mode === 25 ? false : isHidden))
  follow({ prefix: '?', final: 'l' }, (mode) => void (isHidden = mode === 25 ? true : isHidden))
  follow({ prefix: '>', final: 'u' }, (flags) => void kitty.push(flags))
  follow({ prefix: '<', final: 'u' }, (count) => void kitty.splice(-Math.max(1, count)))
  follow({ prefix: '>', final: 'm' }, (resource, value) => void (other = resource === 4 ? value : other))
  return {
    isCursorHidden: () => isHidden,
    restored: () =>
      [
        isHidden ? `${CSI}?25l` : `${CSI}?25h`,
        ...kitty.slice(-1).map((flags) => `${CSI}>${flags}u`),
        ...(other ? [`${CSI}>4;${other}m`] : []),
      ].join(''),
  }
}

/** The modes that the program has set, from the terminal library. */
function modesOf({ modes }: HeadlessTerminal): string {
  const mouse = { none: null, x10: 9, vt200: 1000, drag: 1002, any: 1003 }[modes.mouseTrackingMode]
  const on = [
    ...(modes.applicationCursorKeysMode ? [1] : []),
    ...(modes.bracketedPasteMode ? [2004] : []),
    ...(modes.sendFocusMode ? [1004] : []),
    ...(mouse === null ? [] : [mouse, 1006]),
  ]
  const keypad = modes.applicationKeypadMode ? '\u001b=' : ''
  return on.map((mode) => `${CSI}?${mode}h`).join('') + (modes.wraparoundMode ? '' : `${CSI}?7l`) + keypad
}

function drawnOf(spans: readonly StyledText[]): string {
  return spans.map(({ text, sgr }) => `${CSI}0${sgr === '' ? '' : `;${sgr}`}m${text}`).join('')
}

/** A row of the buffer, without trailing blanks of the default style. */
function spansOf(terminal: HeadlessTerminal, row: number): readonly StyledText[] {
  const line = terminal.buffer.active.getLine(row)
  if (!line) return []
  const spans: { text: string; sgr: string }[] = []
  let cell: IBufferCell | undefined
  for (let column = 0; column < terminal.cols; column++) {
    cell = line.getCell(column, cell)
    // The second half of a wide character has no width.
    if (!cell || cell.getWidth() === 0) continue
    const [text, sgr] = [cell.getChars() || ' ', sgrOf(cell)]
    const last = spans.at(-1)
    if (last?.sgr === sgr) last.text += text
    else spans.push({ text, sgr })
  }
  const last = spans.at(-1)
  if (last?.sgr === '') last.text = last.text.trimEnd()
  return spans.filter(({ text }) => text !== '')
}

function sgrOf(cell: IBufferCell): string {
  if (cell.isAttributeDefault()) return ''
  const flags: readonly (readonly [number, number])[] = [
    [cell.isBold(), 1],
    [cell.isDim(), 2],
    [cell.isItalic(), 3],
    [cell.isUnderline(), 4],
    [cell.isBlink(), 5],
    [cell.isInverse(), 7],
    [cell.isInvisible(), 8],
    [cell.isStrikethrough(), 9],
  ]
  const set = flags.flatMap(([is, code]) => (is ? [String(code)] : []))
  if (!cell.isFgDefault()) set.push(colourOf(38, cell.getFgColor(), cell.isFgRGB()))
  if (!cell.isBgDefault()) set.push(colourOf(48, cell.getBgColor(), cell.isBgRGB()))
  return set.join(';')
}

function colourOf(code: 38 | 48, colour: number, isRgb: boolean): string {
  if (!isRgb) return `${code};5;${colour}`
  return `${code};2;${(colour >> 16) & 255};${(colour >> 8) & 255};${colour & 255}`
}
