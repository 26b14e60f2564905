/** What stands for each sign of ralph's where a terminal has none but ASCII: of the same width, so that columns stay. */
const SIGNS: Readonly<Record<string, string>> = {
  '✓': 'v',
  '✗': 'x',
  '▸': '>',
  '·': '.',
  '■': '#',
  '●': '*',
  '◐': '%',
  '◌': 'o',
  '←': '<',
  '→': '>',
  '↑': '^',
  '↓': 'v',
  '⏎': '<',
  '↺': '<',
  '…': '~',
  '×': 'x',
  '−': '-',
  '–': '-',
  '—': '-',
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '█': '#',
  '░': '.',
  '│': '|',
  '─': '-',
  '┌': '+',
  '┐': '+',
  '┬': '+',
  '├': '+',
  '┤': '+',
  '┼': '+',
  '└': '+',
  '┘': '+',
  '┴': '+',
}

const KNOWN = new RegExp(`[${Object.keys(SIGNS).join('')}]`, 'g')

/** The text with ASCII in place of ralph's signs; the words of a task file stay as they are written. */
export function withAsciiSigns(text: string): string {
  return text.replace(KNOWN, (sign) => SIGNS[sign] ?? sign)
}

/** Whether the locale names a character set that is not UTF-8; one that is not told is taken for UTF-8. */
export function wantsAscii(env: Readonly<Record<string, string | undefined>>): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  return locale !== '' && !/utf-?8/i.test(locale)
}
