import { html, type Html } from './html.ts'

/** One bar of a chart: its label and its value. */
export interface Bar {
  readonly label: string
  readonly value: number
  /** Its text, with the value in words. */
  readonly text: string
}

const [WIDTH, HEIGHT, FOOT, TOP] = [720, 140, 18, 14]

/** Bars side by side, by time; each has a tooltip, and a table has the same values. */
export function barChart(
  bars: readonly Bar[],
  { name, text }: { readonly name: string; readonly text: (value: number) => string },
): Html {
  const most = Math.max(...bars.map(({ value }) => value))
  if (bars.length === 0 || most <= 0) return html``
  const step = WIDTH / bars.length
  const room = HEIGHT - FOOT - TOP
  const drawn = bars.map(({ value, label, text }, index) => {
    const height = Math.max(value > 0 ? 1 : 0, (value / most) * room)
    const x = index * step
    const width = Math.max(0.5, Math.min(step * 0.8, 48))
    return html`<rect
      class="bar"
      x="${fixed(x + (step - width) / 2)}"
      y="${fixed(HEIGHT - FOOT - height)}"
      width="${fixed(width)}"
      height="${fixed(height)}"
      ><title>${label}: ${text}</title></rect
    >`
  })
  return html`<figure tabindex="0">
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${name}">
      <line class="axis" x1="0" y1="${HEIGHT - FOOT}" x2="${WIDTH}" y2="${HEIGHT - FOOT}" />
      ${drawn}
      <text x="0" y="10">${text(most)}</text>
      ${labelsOf(bars, step)}
    </svg>
    <figcaption>${name}</figcaption>
  </figure>`
}

/** The first, the last and some labels between: as many as are readable. */
function labelsOf(bars: readonly Bar[], step: number): readonly Html[] {
  const every = Math.ceil(bars.length / 8)
  return bars.flatMap(({ label }, index) => {
    if (index % every !== 0) return []
    return [
      html`<text x="${fixed(index * step + step / 2)}" y="${HEIGHT - 4}" text-anchor="middle"
        >${label}</text
      >`,
    ]
  })
}

/** A bar for the parts of a whole; the text beside it has the numbers. */
export function meter(parts: readonly { readonly kind: string; readonly count: number }[]): Html {
  const total = parts.reduce((sum, { count }) => sum + count, 0)
  let at = 0
  const rects = parts.map(({ kind, count }) => {
    const width = total === 0 ? 0 : (count / total) * 100
    const rect = html`<rect class="${kind}" x="${fixed(at)}" y="0" width="${fixed(width)}" height="8" />`
    at += width
    return rect
  })
  return html`<svg class="meter" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    ${rects}
  </svg>`
}

/** A number with the digits that a drawing needs. */
export function fixed(value: number): string {
  return String(Math.round(value * 10) / 10)
}
