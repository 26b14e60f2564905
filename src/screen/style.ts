import type { Tone } from './block.ts'

const CODES = {
  strong: ['1', '22'],
  dim: ['2', '22'],
  accent: ['36', '39'],
  good: ['32', '39'],
  bad: ['31', '39'],
} as const satisfies Record<Exclude<Tone, `#${string}`>, readonly [string, string]>

/** Wraps a text in a terminal's codes for its tone. */
export function paint(text: string, tone: Tone): string {
  const [on, off] = isNamed(tone) ? CODES[tone] : [trueColour(tone), '39']
  return text === '' ? '' : `\u001b[${on}m${text}\u001b[${off}m`
}

function isNamed(tone: Tone): tone is keyof typeof CODES {
  return tone in CODES
}

/** The codes of `#e07a5f`: red, green and blue. */
function trueColour(colour: string): string {
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16))
  return `38;2;${parts.join(';')}`
}

/** ralph's signs, and below them their replacements in ASCII: of the same width, so that columns stay aligned. */
const SIGNS = '✓✗▸·■●◐◌←→›↑↓⏎↺…×−–—‘’“”█░│─┌┐┬├┤┼└┘┴'
const ASCII = `vx>.#*%o<>>^v<<~x---''""#.|-+++++++++`

const KNOWN = new RegExp(`[${SIGNS}]`, 'g')

/** Replaces ralph's signs by ASCII; the words of a task file stay unchanged. */
export function withAsciiSigns(text: string): string {
  return text.replace(KNOWN, (sign) => ASCII[SIGNS.indexOf(sign)]!)
}

/** Whether the locale names a character set other than UTF-8; without one, UTF-8 is assumed. */
export function wantsAscii(env: Readonly<Record<string, string | undefined>>): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  return locale !== '' && !/utf-?8/i.test(locale)
}

/** Whether to colour a stream: by the option, else FORCE_COLOR, else NO_COLOR, else if the stream is a terminal. */
export function wantsColour(stream: {
  readonly noColor: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  readonly isTerminal: boolean
}): boolean {
  const { FORCE_COLOR, NO_COLOR, TERM } = stream.env
  if (stream.noColor) return false
  if (FORCE_COLOR) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  if (NO_COLOR) return false
  return stream.isTerminal && TERM !== 'dumb'
}

/** Whether lines may change in place: not if the terminal cannot, nor for a screen reader, which would read each again. */
export function wantsLiveLines({
  env,
  isTerminal,
}: {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly isTerminal: boolean
}): boolean {
  return isTerminal && env['TERM'] !== 'dumb' && !env['RALPH_PLAIN']
}

const CSI = '\u001b['

/**
 * Restores the usual modes after a program that left others: the cursor, colours, wrapping, the mouse, pasting,
 * focus, ways to report keys.
 */
export const USUAL_MODES = `${CSI}?25h${CSI}0m${CSI}?7h${CSI}?1000l${CSI}?1002l${CSI}?1003l${CSI}?1006l${CSI}?2004l${CSI}?1004l${CSI}?1l${CSI}>4m${CSI}<u\u001b>`

/** Makes the terminal save the title of its window. */
export const KEEP_TITLE = `${CSI}22;2t`

/** Restores that title; a terminal that saves none gets an empty one, and then shows its own. */
export const TITLE_BACK = `\u001b]2;\u0007${CSI}23;2t`
