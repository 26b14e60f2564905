import { counted, fewOf } from '../../base/text.ts'
import { clockText, dayText, formatDuration, minuteText } from '../../base/time.ts'
import type { Usage } from '../../base/nouns.ts'
import { addUsage, formatCost, formatTokens, sum, UNKNOWN_USAGE } from '../../base/usage.ts'
import type { CompletionRecord } from '../../history/completions.ts'
import type { ReportData } from '../../history/report.ts'
import { statsOf, type Stats } from '../../history/stats.ts'
import { dotted } from '../block.ts'
import { graphRows } from '../graph-rows.ts'
import { SIGNS, standingOf } from '../task-lines.ts'
import { spentText } from '../tell.ts'
import { html, NEW_LINE, renderNotes, type Html, type Value } from './html.ts'

/** The milestone of each task, by id. */
type MilestoneOf = (id: string) => string

/** The milestone of each task of a backlog. */
export function milestonesOf({ selection }: ReportData): MilestoneOf {
  const milestones = new Map(selection.states.map(({ task }) => [task.id, task.milestone]))
  return (id) => milestones.get(id) ?? NO_MILESTONE
}

const NO_MILESTONE = 'no milestone'

/** The progress of each milestone, as numbers and as a bar. */
export function progressSection({ selection }: ReportData, milestoneOf: MilestoneOf): Html {
  const groups = new Map<string, { done: number; failed: number; open: number }>()
  for (const { task } of selection.states) {
    const name = milestoneOf(task.id)
    const group = groups.get(name) ?? { done: 0, failed: 0, open: 0 }
    group[task.status === 'DONE' ? 'done' : task.status === 'BLOCKED' ? 'failed' : 'open']++
    groups.set(name, group)
  }
  const rows = [...groups].map(([name, { done, failed, open }]) => [
    name,
    meter({ done, failed, open }),
    `${done} of ${done + failed + open} done`,
    failed > 0 ? `${failed} blocked` : '',
  ])
  return table(['milestone', 'progress', 'done', 'blocked'], rows)
}

/** The costs by day, agent, tier and milestone. */
export function spendingSection(data: ReportData, milestoneOf: MilestoneOf): Html {
  const { completions, attempts } = data
  const by = (nameOf: (completion: CompletionRecord) => string | null | undefined): Stats =>
    statsOf(completions, attempts, (completion) => nameOf(completion) ?? 'unknown')
  const agent = by((completion) => completion.agent?.split(' ')[0])
  const days = daysOf(data)
  const cost = days.map(({ label, usage }) => {
    const value = usage.costUsd ?? 0
    return { label, value, text: formatCost(value) }
  })
  const tokens = days.map(({ label, usage }) => ({
    label,
    value: sum(usage.inputTokens, usage.outputTokens) ?? 0,
    text: formatTokens(usage) ?? 'unknown',
  }))
  const { lost } = agent
  return html`${barChart('Cost by time, failed attempts included', cost)}
    ${barChart('Tokens by time, failed attempts included', tokens)}
    <h3>By agent</h3>
    ${groupTable(agent)}
    <h3>By tier</h3>
    ${groupTable(by(({ tier }) => tier))}
    <h3>By milestone</h3>
    ${groupTable(by(({ id }) => milestoneOf(id)))}
    ${lost.attempts > 0 ? html`<p>Attempts that led to nothing: ${lost.attempts}, ${spent(lost.seconds, lost.usage)}.</p>` : null}`
}

function groupTable({ groups }: Stats): Html {
  const rows = groups.map(({ name, tasks, attempts, seconds, usage }) => [
    name,
    tasks,
    attempts,
    seconds === null ? '' : formatDuration(seconds),
    usage.turns,
    formatTokens(usage),
    usage.costUsd === null ? '' : formatCost(usage.costUsd),
  ])
  return table(['', 'tasks', 'attempts', 'time', 'turns', 'tokens', 'cost'], rows)
}

/** If there are more days, they are grouped by month. */
const MOST_DAYS = 62

/** The costs by day, or by month for a long time. A completion's costs include its failed attempts. */
function daysOf({
  completions,
  attempts,
}: ReportData): readonly { readonly label: string; readonly usage: Usage }[] {
  const completed = new Set(completions.map(({ id }) => id))
  const failed = attempts.filter(({ task, outcome }) => outcome !== 'done' && !completed.has(task))
  const all = [
    ...failed.map(({ keptAt, usage }) => ({ time: keptAt, usage })),
    ...completions.map(({ committedAt, usage }) => ({ time: committedAt, usage })),
  ].sort((a, b) => a.time - b.time)
  const isLong = new Set(all.map(({ time }) => dayText(time))).size > MOST_DAYS
  const days = new Map<string, Usage>()
  for (const { time, usage } of all) {
    const name = dayText(time).slice(0, isLong ? 7 : undefined)
    days.set(name, addUsage(days.get(name) ?? UNKNOWN_USAGE, usage))
  }
  return [...days].map(([label, usage]) => ({ label, usage }))
}

/** Failures and their reasons, equal ones once: blocked tasks, and attempts that did not pass. */
export function failureSection({ completions, attempts, selection, reasons }: ReportData): Html {
  const completed = new Set(completions.map(({ id }) => id))
  const blocked = selection.states.flatMap(({ task: { id, title, status } }) => {
    const reason = reasons.get(id)
    const note = status === 'BLOCKED' ? '' : ' (TODO, with a Blocked section)'
    return reason === undefined ? [] : [{ name: `${id} ${title}${note}`, reason }]
  })
  const failed = attempts.filter(({ outcome }) => outcome !== 'done').toReversed()
  if (blocked.length === 0 && failed.length === 0) return html`<p>Nothing failed, and no task is blocked.</p>`
  const taskLink = (task: string): Html =>
    completed.has(task) ? html`<a href="#${task}">${task}</a> ` : html`${task} `
  const rows = groupedBy(failed, ({ outcome, reason }) => `${outcome} ${reason}`).map((equal): Value[] => {
    const [{ outcome, reason, agent, keptAt, seconds, usage, commit }] = equal
    const tasks = [...new Set(equal.map(({ task }) => task))]
    const more = tasks.length - MOST_NAMED
    const isOne = equal.length === 1
    return [
      html`${tasks.slice(0, MOST_NAMED).map(taskLink)}${more > 0 ? `and ${more} more` : null}`,
      reason,
      isOne ? '' : equal.length,
      outcome,
      isOne ? agent : '',
      minuteText(keptAt),
      isOne ? spent(seconds, { ...UNKNOWN_USAGE, costUsd: usage.costUsd }) : '',
      html`<code>${commit.slice(0, 7)}</code>`,
    ]
  })
  const reasonItems = groupedBy(blocked, ({ reason }) => reason).map(
    (equal) =>
      html`<dt>
          ${fewOf(
            equal.map(({ name }) => name),
            MOST_NAMED,
          )}
        </dt>
        <dd>${equal[0].reason}</dd>`,
  )
  return html`${
      blocked.length > 0
        ? html`<h3>Blocked tasks</h3>
            <dl>${reasonItems}</dl>`
        : null
    }
    <h3>Attempts that failed</h3>
    <p>
      Each is kept: <code>git show</code> and its commit shows it. Equal failures are shown once, with the
      last of them.
    </p>
    ${table(['task', 'why', 'times', 'outcome', 'agent', 'when', 'took', 'kept as'], rows)}`
}

const MOST_NAMED = 6

/** Items with the same key, in the order in which each key first occurs. */
function groupedBy<T>(items: readonly T[], keyOf: (item: T) => string): readonly (readonly [T, ...T[]])[] {
  const groups = new Map<string, [T, ...T[]]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return [...groups.values()]
}

/** Each completed task with its full notes, newest first, folded by milestone if there are many. */
export function completedSection({ completions }: ReportData, milestoneOf: MilestoneOf): Html {
  if (completions.length === 0) return html`<p>No task was completed in this part of history.</p>`
  const seen = new Set<string>()
  const articleOf = (completion: CompletionRecord): Html => {
    const { id, title, commit, committedAt, notes, reverted, author, gates, seconds, usage } = completion
    const { agent, attempts } = completion
    const facts = dotted(
      minuteText(committedAt),
      agent ?? author,
      attempts !== null && attempts > 1 && `${attempts} attempts`,
      spent(seconds, usage),
      gates && (gates.length === 0 ? 'no gate ran' : `passed ${gates.join(', ')}`),
    )
    // An id is an anchor only once, even if the task was completed again.
    const anchor = seen.has(id) ? null : html` id="${id}"`
    seen.add(id)
    return html`<article${anchor}><h3>${id} ${title}${reverted ? html` <em class="failed-text">reverted since</em>` : null}</h3><p class="facts">${facts} · <code>${commit.slice(0, 10)}</code></p>${notes.trim() === '' ? null : renderNotes(notes)}</article>
`
  }
  const groups = groupedBy(completions, ({ id }) => milestoneOf(id))
  return html`${groups.map((group) =>
    folded(
      `${milestoneOf(group[0].id)} (${counted(group.length, 'task')})`,
      html`${group.map(articleOf)}`,
      completions.length <= MOST_OPEN,
    ),
  )}`
}

/** More than these are folded. */
const MOST_OPEN = 20

function folded(summary: string, content: Html, isOpen = false): Html {
  const state = isOpen ? html` open=""` : null
  return html`<details${state}><summary>${summary}</summary>${content}</details> `
}

const MOST_LANES = 16

/** The dependency graph, drawn with lanes as in the terminal: readable without pictures. */
export function graphSection({ selection }: ReportData): Html {
  const rows = graphRows(selection.states, MOST_LANES).map(({ state, before, after, unseen }) => {
    const { task } = state
    const standing = standingOf(state)
    const needs = unseen.length > 0 ? html` <span class="dim">← ${unseen.join(', ')}</span>` : null
    return html`<span class="dim">${before}</span><b class="${standing}-text">${SIGNS[standing].text}</b
      ><span class="dim">${after}</span> ${task.id} ${task.title}${needs}${NEW_LINE}`
  })
  return html`<p>
      ✓ done, ▸ eligible, · waits, ■ blocked, ? unclear. A line runs from a task down to those that need it.
    </p>
    ${folded(counted(rows.length, 'task'), scroll('Graph', html`<pre>${rows}</pre>`), rows.length <= MOST_DRAWN)}`
}

const MOST_DRAWN = 100

/** `39 turns · 8m 12s · $0.53 · 412k in, 9k out`, the known parts of it. */
function spent(seconds: number | null, usage: Usage): string {
  return dotted(spentText(seconds, usage), formatTokens(usage))
}

/** A table whose first column names the rows, and whose second one may be wide; long ones are folded, empty columns left out. */
function table(heads: readonly string[], rows: readonly (readonly Value[])[]): Html {
  if (rows.length === 0) return html`<p>None.</p>`
  const more = rows.slice(MOST_OPEN)
  return html`${tablePart(heads, rows.slice(0, MOST_OPEN))}${more.length > 0 ? folded(`${more.length} more`, tablePart(heads, more)) : null}`
}

function tablePart(heads: readonly string[], rows: readonly (readonly Value[])[]): Html {
  const used = heads.map((_, at) => at < 2 || rows.some((row) => !EMPTY.has(row[at] ?? null)))
  const head = heads.map((text, at) => (used[at] ? html`<th scope="col">${text}</th>` : null))
  const body = rows.map(([name = '', ...cells]) => {
    const others = cells.map((cell, index) => {
      const at = index + 1
      if (at === 1 && typeof cell !== 'number') return html`<td class="wide">${cell}</td>`
      return used[at] ? html`<td data-name="${EMPTY.has(cell) ? '' : heads[at]!}">${cell}</td>` : null
    })
    return html`<tr>
      <th scope="row">${name}</th>
      ${others}
    </tr> `
  })
  return scroll(
    heads.filter(Boolean).join(', '),
    html`<table>
      <thead>
        <tr>
          ${head}
        </tr>
      </thead>
      <tbody>
        ${body}
      </tbody>
    </table>`,
  )
}

const EMPTY: ReadonlySet<Value> = new Set(['', null])

function scroll(name: string, content: Html): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${name}">${content}</div>`
}

const [WIDTH, HEIGHT, FOOT, TOP] = [720, 140, 20, 20]

/** Bars side by side, by time, each with its value in words as a tooltip; a table has the same values. */
function barChart(name: string, bars: readonly { label: string; value: number; text: string }[]): Html {
  const highest = bars.reduce((most, bar) => (bar.value > most.value ? bar : most), { value: 0, text: '' })
  if (highest.value === 0) return html``
  const step = WIDTH / bars.length
  const width = Math.min(step * 0.8, 48)
  // As many labels as are readable.
  const every = Math.ceil(bars.length / 6)
  const drawn = bars.map(({ value, label, text }, index) => {
    const height = (value / highest.value) * (HEIGHT - FOOT - TOP)
    const middle = index * step + step / 2
    const place = { x: middle - width / 2, y: HEIGHT - FOOT - height, width, height }
    return html`${rectangle('bar', place, `${label}: ${text}`)}
    ${index % every === 0 ? svgText(label, middle, HEIGHT - 4, anchorAt(middle)) : null}`
  })
  return figure(name, HEIGHT, html`${drawn}${svgText(highest.text, 0, 14)}`)
}

/** Keeps a label inside of its drawing. */
function anchorAt(x: number): 'start' | 'middle' | 'end' {
  return x < LABEL ? 'start' : x > WIDTH - LABEL ? 'end' : 'middle'
}

/** Half of the widest label. */
const LABEL = 50

/** A bar for the parts of a whole; the text beside it has the numbers. */
function meter(parts: Readonly<Record<string, number>>): Html {
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
/** And how many of them are not folded. */
const OPEN_SESSIONS = 2
const LANE = 18
/** The columns of the tasks' names. */
const NAMES = 60

/** Draws attempts for each session of work: the newest first. */
export function timeline(data: ReportData): Html {
  const sessions = sessionsOf(goesOf(data)).toReversed()
  if (sessions.length === 0) return html`<p>No attempt is in this part of history.</p>`
  const left = sessions.length - MOST_SESSIONS
  const drawn = sessions.slice(0, MOST_SESSIONS).map(drawSession)
  const earlier = drawn.slice(OPEN_SESSIONS)
  return html`${drawn.slice(0, OPEN_SESSIONS)}${earlier.length > 0 ? folded(`${earlier.length} before`, html`${earlier}`) : null}${left > 0 ? html`<p>${left} earlier sessions are in the tables below.</p>` : null}`
}

/** How long there was work to do: the sessions, with the waits in them. */
export function sessionSeconds(data: ReportData): number {
  return sessionsOf(goesOf(data)).reduce((sum, goes) => sum + endOf(goes) - goes[0]!.start, 0)
}

const endOf = (goes: readonly Go[]): number => goes.reduce((last, { end }) => Math.max(last, end), 0)

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
  const end = Math.max(endOf(goes), start + 60)
  const scale = (WIDTH - NAMES) / (end - start)
  const tasks = [...new Set(goes.map(({ task }) => task))]
  const names = tasks.map((task, row) => svgText(task, 0, row * LANE + 12))
  const bars = goes.map((go) => {
    const place = {
      x: NAMES + (go.start - start) * scale,
      y: tasks.indexOf(go.task) * LANE,
      width: Math.max(1.5, (go.end - go.start) * scale),
      height: LANE - 4,
    }
    return rectangle(go.outcome, place, go.text)
  })
  const name = `${dayText(start)}, ${clockText(start)} to ${clockText(end)}: ${goes.length} attempts at ${tasks.length} tasks`
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
