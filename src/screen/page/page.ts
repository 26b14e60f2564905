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
    ['time', 'Time line', timeline(data)],
    ['spending', 'Cost and tokens', spendingSection(data, milestoneOf)],
    ['failures', 'What failed, and why', failureSection(data)],
    ['completed', 'What was done', completedSection(data, milestoneOf)],
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
          ${{ html: STYLE }}
        </style>
      </head>
      <body>
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
  const { counts } = data.selection
  const cost = (total.usage.costUsd ?? 0) + (lost.usage.costUsd ?? 0)
  const rows: readonly (readonly [string, string])[] = [
    ['completed', String(total.tasks)],
    ['done of all', `${counts.DONE} of ${data.selection.states.length}`],
    ['blocked', String(counts.BLOCKED)],
    ['attempts', String(total.attempts + lost.attempts)],
    ['time', formatDuration((total.seconds ?? 0) + lost.seconds)],
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

/** The style of the page: light and dark, on phones and on paper. */
const STYLE = `
:root{--ink:#1c1f23;--dim:#5b6470;--paper:#fff;--soft:#f4f5f7;--line:#d9dde3;--link:#0b57a4;--done:#2a7d46;--failed:#b3261e;--open:#c3c9d1;--bar:#3b6fb6}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e6e8eb;--dim:#a3acb8;--paper:#15181c;--soft:#1e2329;--line:#363d46;--link:#8ab8f2;--done:#5bbd7b;--failed:#f28b82;--open:#4a525d;--bar:#7aa7e8}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem 1rem 4rem;max-width:60rem;font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;color:var(--ink);background:var(--paper);overflow-wrap:anywhere}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .25rem}
h2{font-size:1.35rem;margin:2.75rem 0 .75rem;padding-bottom:.25rem;border-bottom:1px solid var(--line)}
h3{font-size:1.05rem;margin:1.75rem 0 .35rem}
a{color:var(--link)}
a:focus-visible,[tabindex]:focus-visible{outline:3px solid var(--link);outline-offset:2px}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;padding:0;margin:1.25rem 0;list-style:none}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(8rem,1fr));gap:.75rem;margin:1.25rem 0}
.figures div{background:var(--soft);border-radius:.5rem;padding:.6rem .8rem}
.figures dt{font-size:.8rem;color:var(--dim)}
.figures dd{margin:0;font-size:1.25rem;font-weight:600;font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.35rem .9rem .35rem 0;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums;overflow-wrap:normal}
th{font-weight:600}
thead th{color:var(--dim);font-weight:500}
td{white-space:nowrap}
th[scope=row]{min-width:4.5rem}
td.wide{min-width:12rem;white-space:normal;overflow-wrap:anywhere}
figure{margin:1rem 0;overflow-x:auto}
svg{display:block;width:100%;height:auto}
svg text{font-size:10px;fill:var(--dim);font-family:inherit}
svg .bar{fill:var(--bar)}
svg .done{fill:var(--done)}
svg .failed{fill:var(--failed)}
svg .open{fill:var(--open)}
.meter{height:.6rem;border-radius:.3rem;margin-top:.4rem}
figcaption,.facts,footer{font-size:.85rem;color:var(--dim);margin:.1rem 0 .5rem}
.dim{color:var(--dim)}
.done-text{color:var(--done)}
.blocked-text,.unclear-text,.failed-text{color:var(--failed)}
.eligible-text{color:var(--link)}
article{padding-bottom:.75rem;border-bottom:1px solid var(--line)}
pre{background:var(--soft);padding:.75rem;border-radius:.5rem;overflow-x:auto;font-size:.82rem;line-height:1.35}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.9em}
dt{font-weight:600}
@media (max-width:40rem){body{font-size:.95rem}h1{font-size:1.5rem}figure svg{min-width:36rem}.figures{grid-template-columns:repeat(2,1fr)}}
@media print{body{max-width:none;padding:0;font-size:10.5pt}nav{display:none}article,figure,tr{break-inside:avoid}h2,h3{break-after:avoid}.scroll,pre,figure{overflow:visible}pre{white-space:pre-wrap}td{white-space:normal}*{print-color-adjust:exact}}
`
