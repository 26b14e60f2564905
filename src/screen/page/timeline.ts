import { clockText, dayText, formatDuration } from '../../base/time.ts'
import type { ReportData } from '../../history/report.ts'
import { fixed } from './charts.ts'
import { html, type Html } from './html.ts'

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
const [WIDTH, LANE, HEAD] = [720, 14, 16]

/** Draws attempts, and the waits of a task between them, for each session of work: the newest first. */
export function timeline(data: ReportData): Html {
  const sessions = sessionsOf(goesOf(data)).toReversed()
  if (sessions.length === 0) return html`<p>No attempt is in this part of history.</p>`
  const left = sessions.length - MOST_SESSIONS
  return html`${sessions.slice(0, MOST_SESSIONS).map(drawSession)}${left > 0 ? html`<p>${left} earlier sessions are in the tables below.</p>` : null}
    <p class="key">
      <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
        <rect class="done" width="10" height="10" />
      </svg>
      passed
      <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
        <rect class="failed" width="10" height="10" />
      </svg>
      failed
      <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
        <line class="wait" x1="0" y1="5" x2="10" y2="5" />
      </svg>
      waited for its next attempt
    </p>`
}

/** The kept failed attempts, and the last attempt of each completion. */
function goesOf({ completions, attempts }: ReportData): readonly Go[] {
  const failed = attempts.filter(({ outcome }) => outcome !== 'done')
  const goes = failed.map((attempt): Go => {
    const { task, keptAt, seconds, outcome, number } = attempt
    return {
      task,
      start: keptAt - seconds,
      end: keptAt,
      outcome: 'failed',
      text: `${task}, attempt ${number}: ${outcome}, ${formatDuration(seconds)}`,
    }
  })
  const before = new Map<string, number>()
  for (const { task, seconds } of failed) before.set(task, (before.get(task) ?? 0) + seconds)
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
    const last = sessions.at(-1)
    if (last && go.start - end <= PAUSE_SECONDS) last.push(go)
    else sessions.push([go])
    end = Math.max(end, go.end)
  }
  return sessions
}

function drawSession(goes: readonly Go[]): Html {
  const start = goes[0]!.start
  const end = Math.max(...goes.map((go) => go.end), start + 60)
  const x = (time: number): number => ((time - start) / (end - start)) * WIDTH
  const { lanes, count } = lanesOf(goes)
  const y = (go: Go): number => HEAD + lanes.get(go.task)! * LANE
  const bars = goes.map((go) => {
    const width = Math.max(1.5, x(go.end) - x(go.start))
    return html`<rect
      class="${go.outcome}"
      x="${fixed(x(go.start))}"
      y="${y(go)}"
      width="${fixed(width)}"
      height="${LANE - 4}"
      ><title>${go.text}</title></rect
    >`
  })
  const waits = waitsIn(goes).map(
    ([from, to]) =>
      html`<line
        class="wait"
        x1="${fixed(x(from.end))}"
        x2="${fixed(x(to.start))}"
        y1="${y(from) + 5}"
        y2="${y(from) + 5}"
        ><title>${from.task} waited ${formatDuration(to.start - from.end)}</title></line
      >`,
  )
  const height = HEAD + count * LANE
  const from = new Date(start * 1000)
  const name = `${dayText(from)}, ${clockText(from)} to ${clockText(new Date(end * 1000))}: ${goes.length} attempts at ${new Set(goes.map(({ task }) => task)).size} tasks`
  return html`<figure tabindex="0">
    <figcaption>${name}</figcaption>
    <svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${name}">
      ${ticks(start, end, height, x)}${waits}${bars}
    </svg>
  </figure> `
}

/** Puts tasks into as few rows as possible, so that a long night is still one picture. */
function lanesOf(goes: readonly Go[]): {
  readonly lanes: ReadonlyMap<string, number>
  readonly count: number
} {
  const spans = new Map<string, { start: number; end: number }>()
  for (const { task, start, end } of goes) {
    const span = spans.get(task)
    if (span) span.end = Math.max(span.end, end)
    else spans.set(task, { start, end })
  }
  const free: number[] = []
  const lanes = new Map<string, number>()
  for (const [task, { start, end }] of spans) {
    const found = free.findIndex((until) => until <= start)
    const lane = found < 0 ? free.length : found
    lanes.set(task, lane)
    free[lane] = end
  }
  return { lanes, count: free.length }
}

function waitsIn(goes: readonly Go[]): readonly (readonly [Go, Go])[] {
  const last = new Map<string, Go>()
  return goes.flatMap((go) => {
    const before = last.get(go.task)
    last.set(go.task, go)
    return before && go.start - before.end > 1 ? [[before, go] as const] : []
  })
}

const STEPS = [60, 300, 900, 1800, 3600, 2 * 3600, 6 * 3600, 24 * 3600]

function ticks(start: number, end: number, height: number, x: (time: number) => number): readonly Html[] {
  const step = STEPS.find((seconds) => (end - start) / seconds <= 8) ?? STEPS.at(-1)!
  const marks: Html[] = []
  for (let time = Math.ceil(start / step) * step; time <= end; time += step) {
    const at = fixed(x(time))
    marks.push(
      html`<line class="axis" x1="${at}" x2="${at}" y1="12" y2="${height}" /><text x="${at}" y="10"
          >${clockText(new Date(time * 1000))}</text
        >`,
    )
  }
  return marks
}
