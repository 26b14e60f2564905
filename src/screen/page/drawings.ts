import { clockText, dayText, formatDuration } from '../../base/time.ts'
import type { ReportData } from '../../history/report.ts'
import { html, type Html } from './html.ts'

const [WIDTH, HEIGHT, FOOT, TOP] = [720, 140, 18, 14]

/** One bar of a chart: its label, its value, and the value in words. */
export interface Bar {
  readonly label: string
  readonly value: number
  readonly text: string
}

/** Bars side by side, by time; each has a tooltip, and a table has the same values. */
export function barChart(name: string, bars: readonly Bar[]): Html {
  const highest = bars.reduce((most, bar) => (bar.value > most.value ? bar : most), { value: 0, text: '' })
  if (highest.value === 0) return html``
  const step = WIDTH / bars.length
  const width = Math.min(step * 0.8, 48)
  // As many labels as are readable.
  const every = Math.ceil(bars.length / 8)
  const drawn = bars.map(({ value, label, text }, index) => {
    const height = (value / highest.value) * (HEIGHT - FOOT - TOP)
    const middle = index * step + step / 2
    const place = { x: middle - width / 2, y: HEIGHT - FOOT - height, width, height }
    return html`${rectangle('bar', place, `${label}: ${text}`)}
    ${index % every === 0 ? svgText(label, middle, HEIGHT - 4, 'middle') : null}`
  })
  return figure(name, HEIGHT, html`${drawn}${svgText(highest.text, 0, 10)}`)
}

/** A bar for the parts of a whole; the text beside it has the numbers. */
export function meter(parts: Readonly<Record<string, number>>): Html {
  const total = Object.values(parts).reduce((sum, count) => sum + count, 0)
  let x = 0
  const drawn = Object.entries(parts).map(([kind, count]) => {
    const width = (count / total) * 100
    x += width
    return rectangle(kind, { x: x - width, y: 0, width, height: 8 })
  })
  return html`<svg class="meter" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    ${drawn}
  </svg>`
}

/** One attempt at a task, with its start and end in seconds since 1970. */
interface Go {
  readonly task: string
  readonly start: number
  readonly end: number
  readonly outcome: string
  readonly text: string
}

/** A longer pause ends a session: nobody was working. */
const PAUSE_SECONDS = 2 * 3600
/** How many of the last sessions are drawn; the tables have all. */
const MOST_SESSIONS = 20
const LANE = 14
/** The columns of the tasks' names. */
const NAMES = 60

/** Draws attempts for each session of work: the newest first. */
export function timeline(data: ReportData): Html {
  const sessions = sessionsOf(goesOf(data)).toReversed()
  if (sessions.length === 0) return html`<p>No attempt is in this part of history.</p>`
  const left = sessions.length - MOST_SESSIONS
  return html`${sessions.slice(0, MOST_SESSIONS).map(drawSession)}${left > 0 ? html`<p>${left} earlier sessions are in the tables below.</p>` : null}`
}

/** The kept failed attempts, and the last attempt of each completion. */
function goesOf({ completions, attempts }: ReportData): readonly Go[] {
  const failed = attempts.filter(({ outcome }) => outcome !== 'done')
  const before = new Map<string, number>()
  const goes = failed.map(({ task, keptAt, seconds, outcome, number }): Go => {
    before.set(task, (before.get(task) ?? 0) + seconds)
    const text = `${task}, attempt ${number}: ${outcome}, ${formatDuration(seconds)}`
    return { task, start: keptAt - seconds, end: keptAt, outcome: 'failed', text }
  })
  for (const { id, title, seconds, committedAt } of completions) {
    if (seconds === null) continue
    // A completion's time includes its failed attempts.
    const own = Math.max(1, seconds - (before.get(id) ?? 0))
    const text = `${id} ${title}: done, ${formatDuration(own)}`
    goes.push({ task: id, start: committedAt - own, end: committedAt, outcome: 'done', text })
  }
  return goes.sort((a, b) => a.start - b.start)
}

function sessionsOf(goes: readonly Go[]): readonly (readonly Go[])[] {
  const sessions: Go[][] = []
  let end = -Infinity
  for (const go of goes) {
    if (go.start - end > PAUSE_SECONDS) sessions.push([])
    sessions.at(-1)!.push(go)
    end = Math.max(end, go.end)
  }
  return sessions
}

/** A row for each task, with its name before its attempts. */
function drawSession(goes: readonly Go[]): Html {
  const start = goes[0]!.start
  const end = Math.max(...goes.map((go) => go.end), start + 60)
  const scale = (WIDTH - NAMES) / (end - start)
  const tasks = [...new Set(goes.map(({ task }) => task))]
  const names = tasks.map((task, row) => svgText(task, 0, row * LANE + 9))
  const bars = goes.map((go) => {
    const place = {
      x: NAMES + (go.start - start) * scale,
      y: tasks.indexOf(go.task) * LANE,
      width: Math.max(1.5, (go.end - go.start) * scale),
      height: LANE - 4,
    }
    return rectangle(go.outcome, place, go.text)
  })
  const [from, to] = [new Date(start * 1000), new Date(end * 1000)]
  const name = `${dayText(from)}, ${clockText(from)} to ${clockText(to)}: ${goes.length} attempts at ${tasks.length} tasks`
  return figure(name, tasks.length * LANE, html`${names}${bars}`)
}

function figure(name: string, height: number, content: Html): Html {
  return html`<figure tabindex="0">
    <figcaption>${name}</figcaption>
    <svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${name}">${content}</svg>
  </figure> `
}

function svgText(text: string, x: number, y: number, anchor = 'start'): Html {
  return html`<text x="${fixed(x)}" y="${y}" text-anchor="${anchor}">${text}</text>`
}

function rectangle(
  kind: string,
  { x, y, width, height }: Readonly<Record<'x' | 'y' | 'width' | 'height', number>>,
  title = '',
): Html {
  const place = html`x="${fixed(x)}" y="${fixed(y)}" width="${fixed(width)}" height="${fixed(height)}"`
  return html`<rect class="${kind}" ${place}><title>${title}</title></rect>`
}

/** A number with the digits that a drawing needs. */
function fixed(value: number): string {
  return String(Math.round(value * 10) / 10)
}
