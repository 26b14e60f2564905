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
