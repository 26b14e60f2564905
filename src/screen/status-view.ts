import { formatDuration, minuteText, secondsBetween } from '../base/time.ts'
import { fewOf } from '../base/text.ts'
import type { JobStatus, RunStatus, RunOverview } from './run-status.ts'
import { choicesText, endCounts, placeFacts, workerText } from './tell.ts'
import { questionText } from '../engine/questions.ts'
import {
  strong,
  dim,
  accent,
  good,
  bad,
  dotted,
  line,
  paragraph,
  spread,
  table,
  type Block,
  type View,
} from './block.ts'
import { crashText, jobLine, stateWord } from './run-state.ts'
/** The current run with its tasks, questions and candidates, and how the last run ended. */
export function statusView({ run, last, candidates }: RunOverview, now: Date): View {
  const ready = candidates.map(({ id, attempt }) => `${id} (attempt ${attempt})`)
  return [
    ...(run ? runBlocks(run, now) : [line('No run is under way here.')]),
    ...(ready.length > 0 ? [paragraph(['ready to land  '], fewOf(ready))] : []),
    ...(run || !last ? [] : [lastBlock(last)]),
  ]
}

/** All runs with a journal, newest first. */
export function runsView(runs: readonly RunStatus[]): View {
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
  return table(rows, { shrink: [4], indent: '' })
}

function runBlocks(run: NonNullable<RunOverview['run']>, now: Date): View {
  const state = run.paused ? 'paused: ralph resume' : stateWord(run)
  const facts = dotted(...placeFacts(run, run.atOnce).slice(1), `process ${run.pid}`)
  const since = dim(` since ${minuteText(run.since)}`)
  return [
    spread(['The run is under way', since, accent(state === '' ? '' : ` · ${state}`)], [dim(facts)]),
    ...run.jobs.flatMap((job) => jobBlocks(job, now)),
    ...run.workers.map((one) =>
      paragraph([dim('worker '), one.worker, '  '], dotted(workerText(one), ...workerFacts(one, now))),
    ),
    ...(run.waiting.length > 0 ? [paragraph([dim('wait for a worker  ')], fewOf(run.waiting))] : []),
    ...run.questions.flatMap((question) => {
      return [
        paragraph([accent('? ')], questionText(question) + choicesText(question)),
        line(dim(`  to answer: ralph answer ${question.id} "…"`)),
      ]
    }),
    ...endsOf(run),
  ]
}

function workerFacts({ tasks, state, seen }: RunStatus['workers'][number], now: Date): readonly string[] {
  const words = { works: '', waits: '', leaving: 'takes no more', silent: 'silent' }
  return [
    tasks.length === 0 ? (state === 'leaving' ? '' : 'waits') : fewOf(tasks),
    words[state ?? 'works'],
    seen === undefined ? '' : `seen ${formatDuration(secondsBetween(seen, now))} ago`,
  ].filter(Boolean)
}

function jobBlocks(job: JobStatus, now: Date): View {
  const { id, title, attempt } = job
  const facts =
    attempt &&
    dotted(
      attempt.counted > 0 && `attempt ${attempt.counted} of ${attempt.most}`,
      formatDuration(secondsBetween(attempt.since, now)),
    )
  const words = jobLine(job, now)
  const right = facts ? [dim(facts)] : []
  return [
    spread([accent(id), '  ', strong(title)], right),
    ...(words.length > 0 ? [line('  ', ...words)] : []),
  ]
}

function endsOf({ completed, blocked, failed }: RunStatus): View {
  return [
    ...(completed.length > 0 ? [line(good('✓'), ` done: ${fewOf(completed)}`)] : []),
    ...(blocked.length > 0 ? [line(bad('■'), ` blocked: ${fewOf(blocked)}`)] : []),
    ...(failed.length > 0 ? [line(bad('■'), ` not finished: ${fewOf(failed)}`)] : []),
  ]
}

function lastBlock(last: RunStatus): Block {
  const { ended } = last
  if (ended === null) return paragraph([], `${crashText('The last run', last)}.`)
  const counts = endCounts(last).join(', ')
  return paragraph([], `The last run ended ${minuteText(ended.at)}: ${counts}; ${ended.reason}.`)
}
