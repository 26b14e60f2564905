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
export async function svgOf(written: string, picture: Picture): Promise<string> {
  const rows = await rowsOf(written, picture)
  return frame(picture, rows.length, rows.flat())
}

/** A moment of a moving picture: all that was written until then, and for how long it stands. */
export interface Moment {
  readonly written: string
  readonly seconds: number
}

/** The moments one after the other, again and again; only the last one where nothing is to move. */
export async function movingSvgOf(moments: readonly Moment[], picture: Picture): Promise<string> {
  const screens = await Promise.all(moments.map(({ written }) => rowsOf(written, picture)))
  const height = Math.max(...screens.map((rows) => rows.length))
  const total = moments.reduce((sum, { seconds }) => sum + seconds, 0)
  /** When a moment begins, in percent; the end where there is no such moment. */
  const percent = (moment: number): number => {
    const before = moments.slice(0, moment).reduce((sum, { seconds }) => sum + seconds, 0)
    return round((100 * before) / total)
  }
  const groups = new Map<string, string[]>()
  for (let row = 0; row < height; row++)
    for (const { from, to, drawn } of stretchesOf(screens.map((rows) => (rows[row] ?? []).join('\n')))) {
      const name = `s${from}-${to}`
      groups.set(name, [...(groups.get(name) ?? []), drawn])
    }
  const rules = [...groups.keys()].map((name) => {
    const [from = 0, to = 0] = name.slice(1).split('-').map(Number)
    if (from === 0 && to === moments.length) return ''
    const steps = [
      from === 0 ? '' : '0%{opacity:0}',
      `${percent(from)}%{opacity:1}`,
      to === moments.length ? '' : `${percent(to)}%{opacity:0}`,
    ]
    const still = to === moments.length ? 1 : 0
    return `@keyframes ${name}{${steps.join('')}}.${name}{opacity:${still};animation:${name} ${round(total)}s step-end infinite}`
  })
  const style = `<style>${rules.filter(Boolean).join('\n')}\n@media(prefers-reduced-motion:reduce){g{animation:none!important}}</style>`
  const drawn = [...groups].map(([name, texts]) => `<g class="${name}">\n${texts.join('\n')}\n</g>`)
  return frame(picture, height, [style, ...drawn])
}

/** In which moments a row shows what: a stretch ends where the row changes. */
function stretchesOf(contents: readonly string[]) {
  const stretches: { readonly from: number; to: number; readonly drawn: string }[] = []
  for (const [moment, drawn] of contents.entries()) {
    const last = stretches.at(-1)
    if (last?.drawn === drawn) last.to = moment + 1
    else stretches.push({ from: moment, to: moment + 1, drawn })
  }
  return stretches.filter(({ drawn }) => drawn !== '')
}

/** A window of that many rows, with what is drawn in it. */
function frame({ title, columns }: Picture, rows: number, drawn: readonly string[]): string {
  const [width, height] = [columns * WIDTH + 2 * MARGIN, rows * HEIGHT + 2 * MARGIN + BAR]
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

/** The rows that a terminal shows in the end, each as the texts that draw it. */
async function rowsOf(written: string, { columns, rows }: Picture): Promise<readonly (readonly string[])[]> {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true })
  const text = written.replaceAll(/\r?\n/g, '\r\n')
  await new Promise<void>((resolve) => terminal.write(text, resolve))
  const { active } = terminal.buffer
  const lines = Array.from({ length: rows }, (_, row) => active.getLine(active.baseY + row)!)
  const used = lines.reduce((last, line, row) => (line.translateToString(true) === '' ? last : row + 1), 0)
  return lines.slice(0, used).map((line, row) => lineOf(line, BAR + MARGIN + (row + 1) * HEIGHT - 4))
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
