import stringWidth from 'fast-string-width'
import { CONTROLS } from '../base/text.ts'

const UNPRINTABLE = new RegExp(`[${CONTROLS}\\ud800-\\udfff]`)
/** JSON escapes characters below a blank itself, and those that are left are its line breaks. */
const ESCAPED_IN_JSON = new RegExp(`(?![\\u0000-\\u001f])[${CONTROLS}]`, 'g')

/**
 * Makes a text from a file safe for a terminal: characters that would move the cursor, or change colours, direction
 * or title, become a visible sign. White space becomes one blank.
 */
export function printable(text: string): string {
  if (!UNPRINTABLE.test(text)) return text
  let shown = ''
  for (const character of text)
    shown += UNPRINTABLE.test(character) && character.length === 1 ? sign(character) : character
  return shown
}

/** Escapes characters that JSON leaves unchanged and a terminal would obey, as JSON is read in terminals too. */
export function printableJson(json: string): string {
  return json.replace(ESCAPED_IN_JSON, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function sign(character: string): string {
  const code = character.charCodeAt(0)
  if (code >= 9 && code <= 13) return ' '
  if (code < 32) return String.fromCharCode(0x2400 + code)
  return code === 127 ? '\u2421' : '\ufffd'
}

/**
 * Escapes a text for Markdown: it becomes no emphasis, link, picture or HTML comment, and on a forge it mentions no
 * person and no issue.
 */
export function markdownText(text: string): string {
  return printable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/[\\`*_[\]|~$]/g, '\\$&')
    .replaceAll(/[@#](?=[\p{L}\p{N}])/gu, '$&<!-- -->')
    .replaceAll(/:\/\/|\bwww\./gi, (sign) => `${sign.slice(0, -1)}<!-- -->${sign.slice(-1)}`)
    .replace(/^(\s*)([-+]|\d+[.)])/, '$1\\$2')
}

/** Everything except Latin letters, punctuation, arrows and signs that take one column each and do not control a terminal. */
const ODD =
  /[^\x20-\x7e\u00a1-\u02ff\u0370-\u03ff\u0410-\u044f\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u259f\u25a0\u25b6\u25b8\u25cb\u25cf\u25d0\u2713\u2717]/

/** Whether all characters of a text take one column each. */
export function isNarrow(text: string): boolean {
  return !ODD.test(text)
}

/** The number of columns that a terminal shows a text in. */
export function textWidth(text: string): number {
  return isNarrow(text) ? text.length : stringWidth(withoutJoiners(printable(text)))
}

/** As much of the text as fits, with `…` at a cut. */
export function cut(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text
  if (columns < 1) return ''
  let [kept, used] = ['', 0]
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const width = textWidth(segment)
    if (used + width > columns - 1) break
    kept += segment
    used += width
  }
  return `${kept}…`
}

/** Characters that join and colour emoji: terminals differ in the width of the result. */
const JOINERS = /\u200d|\ufe0e|\ufe0f|[\u{1f3fb}-\u{1f3ff}]/gu

/** Separates joined emoji, which have the same width in any terminal. */
export function withoutJoiners(text: string): string {
  return isNarrow(text) ? text : text.replace(JOINERS, '')
}
