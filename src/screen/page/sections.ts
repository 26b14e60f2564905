import { counted } from '../../base/text.ts'
import { dayText, formatDuration, minuteText } from '../../base/time.ts'
import type { Usage } from '../../base/nouns.ts'
import { formatCost, formatTokens, sum, totalUsage, UNKNOWN_USAGE, usageOf } from '../../base/usage.ts'
import type { CompletionRecord } from '../../history/completions.ts'
import type { ReportData, ReportTask } from '../../history/report.ts'
import { statsOf, type Stats, type StatsGroup } from '../../history/stats.ts'
import { graphRows } from '../graph-rows.ts'
import { standingOf } from '../task-lines.ts'
import { barChart, meter, type Bar } from './charts.ts'
import { html, NEW_LINE, type Html } from './html.ts'
import { renderNotes } from './notes.ts'

/** The milestone of each task, by id. */
export type MilestoneOf = (id: string) => string

/** The progress of each milestone, as numbers and as a bar. */
export function progressSection({ selection }: ReportData): Html {
  const groups = new Map<string, { done: number; blocked: number; open: number }>()
  for (const { task } of selection.states) {
    const name = task.milestone ?? NO_MILESTONE
    const group = groups.get(name) ?? { done: 0, blocked: 0, open: 0 }
    group[task.status === 'DONE' ? 'done' : task.status === 'BLOCKED' ? 'blocked' : 'open']++
    groups.set(name, group)
  }
  const rows = [...groups].map(
    ([name, { done, blocked, open }]) =>
      html`<tr>
        <th scope="row">${name}</th>
        <td class="wide">
          ${meter([
            { kind: 'done', count: done },
            { kind: 'failed', count: blocked },
            { kind: 'open', count: open },
          ])}
        </td>
        <td>${done} of ${done + blocked + open} done</td>
        <td>${blocked > 0 ? `${blocked} blocked` : ''}</td>
      </tr> `,
  )
  return table(['milestone', 'progress', 'done', 'blocked'], rows)
}

export const NO_MILESTONE = 'no milestone'

/** The costs by day, agent, tier and milestone. */
export function spendingSection(data: ReportData, milestoneOf: MilestoneOf): Html {
  const { completions, attempts } = data
  const by = (nameOf: (completion: CompletionRecord) => string | null | undefined): Stats =>
    statsOf(completions, attempts, (completion) => nameOf(completion) ?? 'unknown')
  const agent = by((completion) => completion.agent?.split(' ')[0])
  const days = daysOf(data)
  const cost = days.map(({ label, usage }): Bar => {
    const value = usage.costUsd ?? 0
    return { label, value, text: formatCost(value) }
  })
  const tokens = days.map(({ label, usage }): Bar => ({
    label,
    value: sum(usage.inputTokens, usage.outputTokens) ?? 0,
    text: formatTokens(usage) ?? 'unknown',
  }))
  const { lost } = agent
  return html`${barChart(cost, { name: 'Cost by time, failed attempts included', text: formatCost })}
    ${barChart(tokens, { name: 'Tokens by time, failed attempts included', text: (value) => formatTokens({ ...UNKNOWN_USAGE, inputTokens: value })?.replace(' in', '') ?? '' })}
    <h3>By agent</h3>
    ${groupTable(agent)}
    <h3>By tier</h3>
    ${groupTable(by(({ tier }) => tier))}
    <h3>By milestone</h3>
    ${groupTable(by(({ id }) => milestoneOf(id)))}
    ${lost.attempts > 0 ? html`<p>Attempts that led to nothing: ${lost.attempts}, ${spent(lost.seconds, lost.usage)}.</p>` : null}`
}

/** The totals of all completed tasks. */
export function totalsOf({ completions, attempts }: ReportData): Stats {
  return statsOf(completions, attempts, () => '')
}

function groupTable({ groups }: Stats): Html {
  const rows = groups.map(
    ({ name, tasks, attempts, seconds, usage }: StatsGroup) =>
      html`<tr>
        <th scope="row">${name}</th>
        <td>${tasks}</td>
        <td>${attempts}</td>
        <td>${seconds === null ? '' : formatDuration(seconds)}</td>
        <td>${usage.turns ?? ''}</td>
        <td>${formatTokens(usage) ?? ''}</td>
        <td>${usage.costUsd === null ? '' : formatCost(usage.costUsd)}</td>
      </tr> `,
  )
  return table(['', 'tasks', 'attempts', 'time', 'turns', 'tokens', 'cost'], rows)
}

/** If there are more days, they are grouped by month. */
const MOST_DAYS = 62

interface Day {
  readonly label: string
  readonly usage: Usage
}

/** The costs by day, or by month for a long time. The share of failed attempts in a completion is counted on their days. */
function daysOf({ completions, attempts }: ReportData): readonly Day[] {
  const failed = attempts.filter(({ outcome }) => outcome !== 'done')
  const spentBefore = new Map<string, Usage[]>()
  for (const { task, usage } of failed) spentBefore.set(task, [...(spentBefore.get(task) ?? []), usage])
  const all = [
    ...failed.map(({ keptAt, usage }) => ({ time: keptAt, usage })),
    ...completions.map(({ id, committedAt, usage }) => ({
      time: committedAt,
      usage: without(usage, spentBefore.get(id) ?? []),
    })),
  ].sort((a, b) => a.time - b.time)
  const label = (time: number): string => dayText(new Date(time * 1000))
  const isLong = new Set(all.map(({ time }) => label(time))).size > MOST_DAYS
  const days = new Map<string, Usage[]>()
  for (const { time, usage } of all) {
    const name = isLong ? label(time).slice(0, 7) : label(time)
    days.set(name, [...(days.get(name) ?? []), usage])
  }
  return [...days].map(([name, usages]) => ({ label: name, usage: totalUsage(usages) }))
}

function without(usage: Usage, others: readonly Usage[]): Usage {
  const before = totalUsage(others)
  return usageOf((key) => (usage[key] === null ? null : Math.max(0, usage[key] - (before[key] ?? 0))))
}

/** Failures and their reasons: blocked tasks, and attempts that did not pass. */
export function failureSection({ completions, attempts, selection, reasons }: ReportData): Html {
  const completed = new Set(completions.map(({ id }) => id))
  const blocked = selection.states.filter(({ task }) => reasons.has(task.id))
  const failed = attempts.filter(({ outcome }) => outcome !== 'done').toReversed()
  if (blocked.length === 0 && failed.length === 0) return html`<p>Nothing failed, and no task is blocked.</p>`
  const rows = failed.map(
    ({ task, number, outcome, reason, agent, keptAt, seconds, usage, commit }) =>
      html`<tr>
        <th scope="row">${completed.has(task) ? html`<a href="#${task}">${task}</a>` : task}</th>
        <td>${number}</td>
        <td>${outcome}</td>
        <td class="wide">${reason}</td>
        <td>${agent}</td>
        <td>${minuteText(new Date(keptAt * 1000))}</td>
        <td>${spent(seconds, { ...UNKNOWN_USAGE, costUsd: usage.costUsd })}</td>
        <td><code>${commit.slice(0, 7)}</code></td>
      </tr> `,
  )
  const counts = new Map<string, number>()
  for (const { outcome } of failed) counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  const summary = [...counts].toSorted((a, b) => b[1] - a[1]).map(([outcome, count]) => `${count} ${outcome}`)
  return html`${
    blocked.length > 0
      ? html`<h3>Blocked tasks</h3>
          <dl>
            ${blocked.map(
              ({ task }) =>
                html`<dt>${task.id} ${task.title}</dt>
                  <dd>${reasons.get(task.id) ?? ''}</dd>`,
            )}
          </dl>`
      : null
  }
  ${
    failed.length > 0
      ? html`<h3>Attempts that failed</h3>
          <p>${summary.join(', ')}. Each is kept: <code>git show</code> and its commit shows it.</p>
          ${table(['task', 'attempt', 'outcome', 'why', 'agent', 'when', 'took', 'kept as'], rows)}`
      : null
  }`
}

/** Each completed task, newest first, with its full notes. */
export function completedSection({ completions }: ReportData, milestoneOf: MilestoneOf): Html {
  if (completions.length === 0) return html`<p>No task was completed in this part of history.</p>`
  const seen = new Set<string>()
  const articles = completions.map((completion) => {
    const {
      id,
      title,
      commit,
      committedAt,
      notes,
      reverted,
      author,
      gates,
      seconds,
      usage,
      agent,
      attempts,
    } = completion
    const isFirst = !seen.has(id)
    seen.add(id)
    const facts = [
      minuteText(new Date(committedAt * 1000)),
      milestoneOf(id),
      agent ?? author,
      ...(attempts !== null && attempts > 1 ? [`${attempts} attempts`] : []),
      spent(seconds, usage),
      ...(gates === null ? [] : [gates.length === 0 ? 'no gate ran' : `passed ${gates.join(', ')}`]),
    ].filter(Boolean)
    // An id is an anchor only once, even if the task was completed again.
    const name = isFirst ? html` id="${id}"` : null
    return html`<article${name}><h3>${id} ${title}${reverted ? html` <em class="failed-text">reverted since</em>` : null}</h3><p class="facts">${facts.join(' · ')} · <code>${commit.slice(0, 10)}</code></p>${notes.trim() === '' ? null : renderNotes(notes)}</article>
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
    return html`<span class="dim">${before}</span><b class="${standing}-text">${SIGNS[standing]}</b
      ><span class="dim">${after}</span> ${task.id} ${task.title}${needs}${NEW_LINE}`
  })
  return html`<p>
      ✓ done, ▸ eligible, · waits, ■ blocked, ? unclear. A line runs from a task down to those that need it.
    </p>
    <div class="scroll" tabindex="0" role="region" aria-label="Graph"><pre>${rows}</pre></div>`
}

const SIGNS = { done: '✓', eligible: '▸', waiting: '·', blocked: '■', unclear: '?' } as const

/** `8m 12s · 39 turns · $0.53`, the known parts of it. */
export function spent(seconds: number | null, usage: Usage): string {
  return [
    ...(seconds === null ? [] : [formatDuration(seconds)]),
    ...(usage.turns === null ? [] : [counted(usage.turns, 'turn')]),
    ...(formatTokens(usage) === null ? [] : [formatTokens(usage)]),
    ...(usage.costUsd === null ? [] : [formatCost(usage.costUsd)]),
  ].join(' · ')
}

function table(heads: readonly string[], rows: readonly Html[]): Html {
  if (rows.length === 0) return html`<p>None.</p>`
  const head = heads.map((text) => (text === '' ? html`<td></td>` : html`<th scope="col">${text}</th>`))
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${heads.filter(Boolean).join(', ')}">
    <table>
      <thead>
        <tr>
          ${head}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`
}

/** The milestone of each task of a backlog. */
export function milestonesOf(states: ReportData['selection']['states']): MilestoneOf {
  const milestones = new Map(states.map(({ task }: { task: ReportTask }) => [task.id, task.milestone]))
  return (id) => milestones.get(id) ?? NO_MILESTONE
}
