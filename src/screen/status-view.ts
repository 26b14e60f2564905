import { formatDuration, minuteText, waitText } from '../base/time.ts'
import { fewOf } from '../base/text.ts'
import type { JobStatus, RunStatus, RunOverview } from './run-status.ts'
import { endCounts, stopText, workerText } from './run-text.ts'
import { accent, bad, dim, good, line, paragraph, strong, type Block } from './block.ts'

/** The current run with its tasks, questions and candidates, and how the last run ended. */
export function statusView({ run, last, candidates }: RunOverview, now: Date): readonly Block[] {
  const ready = candidates.map(({ id, attempt }) => `${id} (attempt ${attempt})`)
  return [
    ...(run ? runBlocks(run, now) : [line('No run is under way here.')]),
    ...(ready.length > 0 ? [paragraph(['ready to land  '], fewOf(ready))] : []),
    ...(run || !last ? [] : [lastBlock(last)]),
  ]
}

/** All runs with a journal, newest first. */
export function runsView(runs: readonly RunStatus[]): readonly Block[] {
  if (runs.length === 0) return [line('No run has been here.')]
  const rows = runs.map((run) => {
    const [done, ...others] = endCounts(run)
    return [
      strong(run.run),
      run.ended?.end ?? 'not ended',
      done,
      bad(others.join(' · ')),
      dim(run.ended?.reason ?? ''),
    ]
  })
  return [{ kind: 'table', rows, shrink: [4], indent: '' }]
}

function runBlocks(run: RunStatus & { readonly pid: number }, now: Date): readonly Block[] {
  const state = run.stopping
    ? `is ending${stopText(run.stop)}, and under way`
    : run.paused
      ? 'is paused: ralph resume'
      : 'is under way'
  const facts = [
    run.branch ?? 'detached HEAD',
    ...(run.agent === '' ? [] : [run.agent]),
    `process ${run.pid}`,
  ]
  return [
    {
      kind: 'spread',
      left: [`The run ${state}`, dim(` since ${minuteText(new Date(run.since))}`)],
      right: [dim(facts.join(' · '))],
    },
    ...run.jobs.flatMap((job) => jobBlocks(job, now)),
    ...run.workers.map(({ worker, tasks, ...what }) =>
      paragraph(
        [dim('worker '), worker, '  '],
        [workerText(what), tasks.length === 0 ? 'waits' : fewOf(tasks)].join(' · '),
      ),
    ),
    ...run.questions.flatMap(({ id, text, options }) => [
      paragraph(
        [accent('? ')],
        `${id} asks: ${text}${options.length > 0 ? ` (${options.join(' / ')})` : ''}`,
      ),
      line(dim(`  to answer: ralph answer ${id} "…"`)),
    ]),
    ...endsOf(run),
  ]
}

function jobBlocks({ id, title, attempt, doing, note, until }: JobStatus, now: Date): readonly Block[] {
  const facts =
    attempt === null
      ? []
      : [
          ...(attempt.counted > 0 ? [`attempt ${attempt.counted} of ${attempt.most}`] : []),
          formatDuration(Math.max(0, now.getTime() - new Date(attempt.since).getTime()) / 1000),
        ]
  const what =
    doing === 'agent'
      ? 'the agent is at work'
      : doing === 'person'
        ? 'somebody drives the agent by hand'
        : doing === 'gates'
          ? 'gates'
          : doing
  const more = [note, ...(until === null ? [] : [waitText(new Date(until), now)])].filter(
    (text) => text !== '',
  )
  return [
    { kind: 'spread', left: [accent(id), '  ', strong(title)], right: [dim(facts.join(' · '))] },
    paragraph(['  '], [what, ...more].join(': ')),
  ]
}

function endsOf({ completed, blocked, failed }: RunStatus): readonly Block[] {
  return [
    ...(completed.length > 0 ? [line(good('✓'), ` done: ${fewOf(completed)}`)] : []),
    ...(blocked.length > 0 ? [line(bad('■'), ` blocked: ${fewOf(blocked)}`)] : []),
    ...(failed.length > 0 ? [line(bad('■'), ` left as they were: ${fewOf(failed)}`)] : []),
  ]
}

function lastBlock(last: RunStatus): Block {
  const { ended, jobs } = last
  if (ended === null) {
    const during = jobs.length > 0 ? ` while it worked on ${fewOf(jobs.map(({ id }) => id))}` : ''
    return paragraph([], `The last run crashed${during}: the next ralph run recovers it.`)
  }
  const counts = endCounts(last).join(', ')
  return paragraph([], `The last run ended ${minuteText(new Date(ended.at))}: ${counts}; ${ended.reason}.`)
}
