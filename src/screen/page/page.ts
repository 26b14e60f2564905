import { readFileSync } from 'node:fs'
import { builtFile } from '../../base/built-file.ts'
import { counted } from '../../base/text.ts'
import { dayText, formatDuration, minuteText } from '../../base/time.ts'
import { formatCost } from '../../base/usage.ts'
import type { ReportData } from '../../history/report.ts'
import { statsOf } from '../../history/stats.ts'
import { html, type Html } from './html.ts'
import {
  completedSection,
  failureSection,
  graphSection,
  milestonesOf,
  progressSection,
  sessionSeconds,
  spendingSection,
  timeline,
} from './sections.ts'

/** The report as one self-contained page: no network, no script, no other file. */
export function reportPage(
  data: ReportData,
  /** The requested range: `since v1.0`; empty for all of history. */
  { project, range, now }: { project: string; range: string; now: Date },
): string {
  const milestoneOf = milestonesOf(data)
  const parts: readonly (readonly [id: string, name: string, content: Html])[] = [
    ['progress', 'Progress', progressSection(data, milestoneOf)],
    ['completed', 'What was done', completedSection(data, milestoneOf)],
    ['failures', 'What failed, and why', failureSection(data)],
    ['time', 'Time line', timeline(data)],
    ['spending', 'Cost and tokens', spendingSection(data, milestoneOf)],
    ['graph', 'Which task needs which', graphSection(data)],
  ]
  // The policy comes first, so that nothing in the page can load anything.
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
        />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <link rel="icon" href="data:," />
        <title>${project}: what ralph did</title>
        <style>
          ${{ html: readFileSync(builtFile('report.css'), 'utf8') }}
        </style>
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header>
          <h1>${project}</h1>
          <p>${headline(data, range)}</p>
          ${figures(data)}
        </header>
        <nav aria-label="Parts">
          <ul>
            ${parts.map(([id, name]) => html`<li><a href="#${id}">${name}</a></li>`)}
          </ul>
        </nav>
        <main id="main">
          ${parts.map(
            ([id, name, content]) =>
              html`<section aria-labelledby="${id}">
                <h2 id="${id}">${name}</h2>
                ${content}
              </section> `,
          )}
        </main>
        <footer>
          <p>
            Made by ralph on ${minuteText(now)}, from git alone, at <code>${data.commit.slice(0, 10)}</code>.
          </p>
        </footer>
      </body>
    </html> `
  return page.html
}

function headline({ completions, attempts }: ReportData, range: string): string {
  const times = [
    ...completions.map(({ committedAt }) => committedAt),
    ...attempts.map(({ keptAt }) => keptAt),
  ]
  const days = times.map(dayText).toSorted()
  const span = days.length === 0 ? '' : `${days[0]} to ${days.at(-1)}`
  return [range === '' ? 'All of history' : range, span].filter(Boolean).join(', ')
}

function figures(data: ReportData): Html {
  const { total, lost } = statsOf(data.completions, data.attempts, () => '')
  const { counts, states } = data.selection
  const unclear = states.length - counts.TODO - counts.DONE - counts.BLOCKED
  const cost = (total.usage.costUsd ?? 0) + (lost.usage.costUsd ?? 0)
  const rows: readonly (readonly [string, string])[] = [
    ...(data.period.from === null ? [] : [['completed in this time', String(total.tasks)] as const]),
    ['done of all', `${counts.DONE} of ${states.length}`],
    ['to do', String(counts.TODO)],
    ['blocked', String(counts.BLOCKED)],
    ...(unclear > 0 ? [['without a clear status', String(unclear)] as const] : []),
    ['attempts', String(total.attempts + lost.attempts)],
    ['run time', formatDuration(sessionSeconds(data))],
    ['time of all attempts', formatDuration((total.seconds ?? 0) + lost.seconds)],
    ...(cost > 0 ? [['cost', formatCost(cost)] as const] : []),
    ...(total.unchecked > 0 ? [['checked by no gate', counted(total.unchecked, 'task')] as const] : []),
  ]
  return html`<dl class="figures">
    ${rows.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`
}
