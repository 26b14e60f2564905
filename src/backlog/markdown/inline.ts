/**
 * One line of Markdown as plain text if that is obvious: it contains no marks, or only code spans; null if the
 * Markdown parser has to decide.
 */
export function scanInlineText(raw: string): string | null {
  if (!/[\\`*_<[&\0]/.test(raw)) return raw
  // The parser turns a NUL into U+FFFD.
  if (raw.includes('\0')) return null
  const emphasized = /^(\*\*?|__?)([^\s*_`<[\\&](?:[^*_`<[\\&]*[^\s*_`<[\\&])?)\1$/.exec(raw)
  if (emphasized) return emphasized[2]!
  const parts = withoutPlainLinks(raw).split('`')
  // An even number of parts is an odd number of marks: one of them is not closed.
  if (parts.length % 2 === 0) return null
  const isPlain = parts.every((part, i) => (i % 2 === 0 ? isPlainText(part) : isPlainCode(part)))
  return isPlain ? parts.join('') : null
}

/** Replaces links by their text, if text and target are plain words and no `!` comes before. */
function withoutPlainLinks(raw: string): string {
  return raw.includes('](') && !raw.includes('`')
    ? raw.replace(/(?<![!\\`\]])\[([A-Za-z0-9 .-]+)\]\([A-Za-z0-9./-]+\)(?![[(])/g, '$1')
    : raw
}

/** Whether there is no escape, emphasis, link, HTML or entity; an underscore between letters or digits is plain. */
function isPlainText(part: string): boolean {
  return !/[\\*<[]|&[#A-Za-z]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/.test(part)
}

/** Whether it is not empty (which would be a longer mark), and has no blanks that Markdown strips. */
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

/** Blanks out HTML comments, at the same offsets, so that nothing in them is read as a field. */
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
