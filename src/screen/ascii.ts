/** The ASCII replacement of each of ralph's signs: of the same width, so that columns stay aligned. */
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
  '›': '>',
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

/** Replaces ralph's signs by ASCII; the words of a task file stay unchanged. */
export function withAsciiSigns(text: string): string {
  return text.replace(KNOWN, (sign) => SIGNS[sign] ?? sign)
}

/** Whether the locale names a character set other than UTF-8; without one, UTF-8 is assumed. */
export function wantsAscii(env: Readonly<Record<string, string | undefined>>): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  return locale !== '' && !/utf-?8/i.test(locale)
}
