import { dayText, formatDuration, minuteText } from '../../base/time.ts'
import type { Usage } from '../../base/nouns.ts'
import { addUsage, formatCost, formatTokens, sum, UNKNOWN_USAGE } from '../../base/usage.ts'
import type { CompletionRecord } from '../../history/completions.ts'
import type { ReportData } from '../../history/report.ts'
import { statsOf, type Stats } from '../../history/stats.ts'
import { graphRows } from '../graph-rows.ts'
import { SIGNS, standingOf } from '../task-lines.ts'
import { spentText } from '../tell.ts'
import { barChart, meter } from './drawings.ts'
import { html, NEW_LINE, renderNotes, type Html, type Value } from './html.ts'

/** The milestone of each task, by id. */
export type MilestoneOf = (id: string) => string

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
  const dayOf = (time: number): string => dayText(new Date(time * 1000))
  const isLong = new Set(all.map(({ time }) => dayOf(time))).size > MOST_DAYS
  const days = new Map<string, Usage>()
  for (const { time, usage } of all) {
    const name = dayOf(time).slice(0, isLong ? 7 : undefined)
    days.set(name, addUsage(days.get(name) ?? UNKNOWN_USAGE, usage))
  }
  return [...days].map(([label, usage]) => ({ label, usage }))
}

/** Failures and their reasons: blocked tasks, and attempts that did not pass. */
export function failureSection({ completions, attempts, selection, reasons }: ReportData): Html {
  const completed = new Set(completions.map(({ id }) => id))
  const blocked = selection.states.filter(({ task }) => reasons.has(task.id))
  const failed = attempts.filter(({ outcome }) => outcome !== 'done').toReversed()
  if (blocked.length === 0 && failed.length === 0) return html`<p>Nothing failed, and no task is blocked.</p>`
  const rows = failed.map(
    ({ task, number, outcome, reason, agent, keptAt, seconds, usage, commit }): Value[] => [
      completed.has(task) ? html`<a href="#${task}">${task}</a>` : task,
      reason,
      number,
      outcome,
      agent,
      minuteText(new Date(keptAt * 1000)),
      spent(seconds, { ...UNKNOWN_USAGE, costUsd: usage.costUsd }),
      html`<code>${commit.slice(0, 7)}</code>`,
    ],
  )
  const reasonItems = blocked.map(
    ({ task }) =>
      html`<dt>${task.id} ${task.title}</dt>
        <dd>${reasons.get(task.id) ?? ''}</dd>`,
  )
  return html`${
      blocked.length > 0
        ? html`<h3>Blocked tasks</h3>
            <dl>${reasonItems}</dl>`
        : null
    }
    <h3>Attempts that failed</h3>
    <p>Each is kept: <code>git show</code> and its commit shows it.</p>
    ${table(['task', 'why', 'attempt', 'outcome', 'agent', 'when', 'took', 'kept as'], rows)}`
}

/** Each completed task, newest first, with its full notes. */
export function completedSection({ completions }: ReportData, milestoneOf: MilestoneOf): Html {
  if (completions.length === 0) return html`<p>No task was completed in this part of history.</p>`
  const seen = new Set<string>()
  const articles = completions.map((completion) => {
    const { id, title, commit, committedAt, notes, reverted, author, gates, seconds, usage } = completion
    const { agent, attempts } = completion
    const facts = [
      minuteText(new Date(committedAt * 1000)),
      milestoneOf(id),
      agent ?? author,
      attempts !== null && attempts > 1 && `${attempts} attempts`,
      spent(seconds, usage),
      gates && (gates.length === 0 ? 'no gate ran' : `passed ${gates.join(', ')}`),
    ].filter(Boolean)
    // An id is an anchor only once, even if the task was completed again.
    const anchor = seen.has(id) ? null : html` id="${id}"`
    seen.add(id)
    return html`<article${anchor}><h3>${id} ${title}${reverted ? html` <em class="failed-text">reverted since</em>` : null}</h3><p class="facts">${facts.join(' · ')} · <code>${commit.slice(0, 10)}</code></p>${notes.trim() === '' ? null : renderNotes(notes)}</article>
`
  })
  return html`${articles}`
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
    ${scroll('Graph', html`<pre>${rows}</pre>`)}`
}

/** `39 turns · 8m 12s · $0.53 · 412k in, 9k out`, the known parts of it. */
function spent(seconds: number | null, usage: Usage): string {
  return [spentText(seconds, usage), formatTokens(usage)].filter(Boolean).join(' · ')
}

/** A table whose first column names the rows, and whose second one may be wide. */
function table(heads: readonly string[], rows: readonly (readonly Value[])[]): Html {
  if (rows.length === 0) return html`<p>None.</p>`
  const head = heads.map((text) => html`<th scope="col">${text}</th>`)
  const body = rows.map(([name = '', second = '', ...cells]) => {
    const others = cells.map((cell) => html`<td>${cell}</td>`)
    return html`<tr>
      <th scope="row">${name}</th>
      <td class="wide">${second}</td>
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

function scroll(name: string, content: Html): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${name}">${content}</div>`
}
