import xterm from '@xterm/headless'

/** What a terminal of that size shows after a text. */
export interface Picture {
  readonly title: string
  readonly columns: number
  readonly rows: number
}

const [WIDTH, HEIGHT, MARGIN, BAR] = [8.4, 18, 16, 30]

/** The colours of a terminal, by the number that a program asks for; the classes of the picture's style. */
const COLOURS: Readonly<Record<number, string>> = { 1: 'bad', 2: 'good', 3: 'warn', 6: 'accent' }

const STYLE = `
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:#24292f}
.back{fill:#fff;stroke:#d0d7de}.title{fill:#57606a}.dim{fill:#6e7781}.bold{font-weight:bold}
.bad{fill:#cf222e}.good{fill:#1a7f37}.warn{fill:#9a6700}.accent{fill:#0969da}.mark{fill:#eaeef2}
@media(prefers-color-scheme:dark){
text{fill:#e6edf3}.back{fill:#0d1117;stroke:#30363d}.title{fill:#8b949e}.dim{fill:#8b949e}
.bad{fill:#ff7b72}.good{fill:#3fb950}.warn{fill:#d29922}.accent{fill:#58a6ff}.mark{fill:#21262d}}`

/** What a program has written, as a picture that reads in the light and in the dark. */
export async function svgOf(written: string, { title, columns, rows }: Picture): Promise<string> {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true })
  const text = written.replaceAll(/\r?\n/g, '\r\n')
  await new Promise<void>((resolve) => terminal.write(text, resolve))
  const { active } = terminal.buffer
  const lines = Array.from({ length: rows }, (_, row) => active.getLine(active.baseY + row)!)
  const used = lines.reduce((last, line, row) => (line.translateToString(true) === '' ? last : row + 1), 0)
  const [width, height] = [columns * WIDTH + 2 * MARGIN, used * HEIGHT + 2 * MARGIN + BAR]
  const drawn = lines
    .slice(0, used)
    .flatMap((line, row) => lineOf(line, BAR + MARGIN + (row + 1) * HEIGHT - 4))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(width)} ${height}" role="img" aria-label="${escaped(title)}">`,
    `<style>${STYLE}</style>`,
    `<rect class="back" x=".5" y=".5" width="${round(width - 1)}" height="${height - 1}" rx="8"/>`,
    `<text class="title" x="${MARGIN}" y="${BAR - 6}">${escaped(title)}</text>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n')
}

interface Run {
  readonly column: number
  readonly style: string
  text: string
}

/** A line as stretches of one style, each put where its first cell is: no font is as wide as another. */
function lineOf(line: NonNullable<ReturnType<xterm.IBuffer['getLine']>>, y: number): readonly string[] {
  const runs: Run[] = []
  for (let column = 0; column < line.length; column++) {
    const cell = line.getCell(column)!
    if (cell.getWidth() === 0) continue
    const style = [
      cell.isBold() ? 'bold' : '',
      cell.isDim() ? 'dim' : (COLOURS[cell.isFgDefault() ? -1 : cell.getFgColor() % 8] ?? ''),
      cell.isInverse() ? 'inverse' : '',
    ]
      .filter(Boolean)
      .join(' ')
    const text = cell.getChars() || ' '
    const last = runs.at(-1)
    if (last?.style === style) last.text += text
    else runs.push({ column, style, text })
  }
  return runs
    .filter(({ text }) => text.trim() !== '')
    .map(({ column, style, text }) => {
      const blanks = text.length - text.trimStart().length
      const x = round(MARGIN + (column + blanks) * WIDTH)
      const shown = text.trim()
      const length = round([...shown].length * WIDTH)
      return `<text x="${x}" y="${y}" textLength="${length}"${style ? ` class="${style}"` : ''}>${escaped(shown)}</text>`
    })
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
