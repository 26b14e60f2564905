const UNPRINTABLE =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]/

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
  return json.replace(/[\u007f-\u009f]/g, (unit) => `\\u00${unit.charCodeAt(0).toString(16)}`)
}

function sign(character: string): string {
  const code = character.charCodeAt(0)
  if (code >= 9 && code <= 13) return ' '
  if (code < 32) return String.fromCharCode(0x2400 + code)
  return code === 127 ? '\u2421' : '\ufffd'
}
