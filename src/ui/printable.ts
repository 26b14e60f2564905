import { CONTROLS } from '../base/controls.ts'

const UNPRINTABLE = new RegExp(`[${CONTROLS}\\ud800-\\udfff]`)
/** Below a blank JSON escapes them itself, and those that are left break its lines. */
const ESCAPED_IN_JSON = new RegExp(`(?![\\u0000-\\u001f])[${CONTROLS}]`, 'g')

/**
 * Text from a file as it may reach a terminal: what would move the cursor, colour, reverse or retitle it is shown as a
 * sign instead. White space is one blank.
 */
export function printable(text: string): string {
  if (!UNPRINTABLE.test(text)) return text
  let shown = ''
  for (const character of text)
    shown += UNPRINTABLE.test(character) && character.length === 1 ? sign(character) : character
  return shown
}

/** JSON is read in terminals too: what JSON itself leaves as it is, but a terminal would obey, is escaped. */
export function printableJson(json: string): string {
  return json.replace(ESCAPED_IN_JSON, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function sign(character: string): string {
  const code = character.charCodeAt(0)
  if (code >= 9 && code <= 13) return ' '
  if (code < 32) return String.fromCharCode(0x2400 + code)
  return code === 127 ? '\u2421' : '\ufffd'
}
