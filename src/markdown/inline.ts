/**
 * One line of Markdown as plain text where that can be told at a glance: no mark in it, or only
 * code spans; null where the Markdown parser has to say.
 */
export function scanInlineText(raw: string): string | null {
  if (!/[\\`*_<[&\0]/.test(raw)) return raw
  // The parser writes a NUL as U+FFFD.
  if (raw.includes('\0')) return null
  const emphasized = /^(\*\*?|__?)([^\s*_`<[\\&](?:[^*_`<[\\&]*[^\s*_`<[\\&])?)\1$/.exec(raw)
  if (emphasized) return emphasized[2]!
  const parts = withoutPlainLinks(raw).split('`')
  // An even number of parts is an odd number of marks: one of them closes nothing.
  if (parts.length % 2 === 0) return null
  const isPlain = parts.every((part, i) => (i % 2 === 0 ? isPlainText(part) : isPlainCode(part)))
  return isPlain ? parts.join('') : null
}

/** A link is its text: told at a glance where text and target are plain words, and nothing before it makes it an image. */
function withoutPlainLinks(raw: string): string {
  return raw.includes('](') && !raw.includes('`')
    ? raw.replace(/(?<![!\\`\]])\[([A-Za-z0-9 .-]+)\]\([A-Za-z0-9./-]+\)(?![[(])/g, '$1')
    : raw
}

/** No escape, emphasis, link, HTML or entity; an underscore between two letters or digits is only an underscore. */
function isPlainText(part: string): boolean {
  return !/[\\*<[]|&[#A-Za-z]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/.test(part)
}

/** Not empty (which would be a longer mark), and without the blanks that Markdown strips. */
function isPlainCode(part: string): boolean {
  return part !== '' && !part.startsWith(' ') && !part.endsWith(' ')
}

/** A wrapped text as one line: its line ends, and the marks of hard breaks before them, become one space. */
export function joinLines(raw: string): string {
  if (!/[\r\n]/.test(raw)) return raw.trim()
  const lines = raw.split(/\r\n|\n|\r/).map((line) => line.trim())
  return lines
    .map((line, i) => (i < lines.length - 1 && line.endsWith('\\') ? line.slice(0, -1).trimEnd() : line))
    .join(' ')
    .trim()
}

/** HTML comments blanked out, every offset kept, so that nothing in them is read as a field. */
export function blankComments(raw: string): string {
  let out = ''
  let at = 0
  for (;;) {
    const open = raw.indexOf('<!--', at)
    const close = open < 0 ? -1 : raw.indexOf('-->', open + 2)
    if (close < 0) return out + raw.slice(at)
    out += raw.slice(at, open) + raw.slice(open, close + 3).replace(/[^\r\n]/g, ' ')
    at = close + 3
  }
}
