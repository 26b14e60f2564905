import { unreachable } from '../base/errors.ts'
import { fewOf } from '../base/text.ts'
import { formatDuration, secondsBetween, waitText, wholeMinutes } from '../base/time.ts'
import { formatCost } from '../base/usage.ts'
import type { StopMode } from '../engine/events/event.ts'
import { costSoFar, type JobStatus, type RunStatus } from './run-status.ts'
import { strong, dim, accent, bad, line, paragraph, type Block, type Line } from './block.ts'
import { LIVE } from './task-lines.ts'
import { gateText } from './tell.ts'
import { textWidth } from './printable.ts'

/** `5 of 14 done`, `1 blocked`, `31m`, `$2.40 of $10.00`: how far a run is; the least important come last. */
export function progressFacts(status: RunStatus, now: Date | null): readonly string[] {
  const { progress, held, failed, since, budget, ended } = status
  const cost = costSoFar(status)
  const until = ended?.at ?? now
  const parts = [
    `${progress.done} of ${progress.tasks} done`,
    progress.blocked > 0 && `${progress.blocked} blocked`,
    failed.length > 0 && `${failed.length} left`,
    held.length > 0 && `${held.length} held`,
    until && wholeMinutes(secondsBetween(since, until)),
    cost !== null && formatCost(cost) + (budget === null ? '' : ` of ${formatCost(budget)}`),
  ]
  return parts.filter((part) => typeof part === 'string')
}

/** `paused`, `stopping after this attempt`: that a run is to do something else than go on; empty otherwise. */
export function stateWord({ paused, stopping, stop }: RunStatus): string {
  if (stopping) return `stopping${stop === null ? '' : STOP_WORDS[stop]}`
  return paused ? 'paused' : ''
}

const STOP_WORDS: Readonly<Record<StopMode, string>> = {
  'after-attempt': ' after this attempt',
  clean: ' now',
  now: ' at once',
}

/** What a task at work is doing; `doing` says it of an agent. */
export function jobLine({ doing, gates, note, since, until }: JobStatus, now: Date): Line {
  const time = formatDuration(secondsBetween(since, now))
  switch (doing) {
    case 'gates': {
      const done = gates.flatMap((result, at): Line => [at === 0 ? '' : '   ', ...gateText(result)])
      if (gates.some(({ gate }) => gate.name === note)) return done
      return [...done, done.length === 0 ? '' : '   ', LIVE, ` ${note} ${time}`]
    }
    case 'landing':
      return [LIVE, ` ${note === '' ? 'lands' : note} ${time}`]
    case 'waiting':
      return note === '' ? [] : [dim('◌'), ` ${note}`, ...(until === null ? [] : [waitWords(until, now)])]
    case 'person':
      return [LIVE, ` somebody drives the agent by hand ${time}`]
    case 'agent':
      return [LIVE, ` ${note === '' ? 'the agent is at work' : note}`]
    default:
      return unreachable(doing)
  }
}

/** ` · until 14:30 (in 41m)`, and for a short wait only how long. */
function waitWords(until: string, now: Date): string {
  const left = secondsBetween(now, until)
  return ` · ${waitText(until, now)}${Math.ceil(left) < 60 ? '' : ` (in ${wholeMinutes(left)})`}`
}

/** A task whose work has passed and cannot land, in a few words. */
export function heldLine(paths: readonly string[]): Line {
  const what = paths.length === 0 ? 'the checkout to be free' : `${fewOf(paths, 2)}: commit or stash that`
  return [strong('◐'), ` waits for ${what}`]
}

/** What is known of a run whose process died. */
export function crashText(run: string, status: RunStatus | null): string {
  const tasks = (status?.jobs ?? []).map(({ id }) => id)
  const during = tasks.length > 0 ? ` while it worked on ${fewOf(tasks)}` : ''
  return `${run} crashed${during}: the next ralph run recovers it`
}

/**
 * The state of the whole run in one line, with the keys at its right; the least important parts are dropped if there
 * is no room.
 */
export function footLine(
  status: RunStatus,
  {
    now,
    remaining,
    keys,
    columns,
  }: {
    now: Date
    remaining: Remaining | null
    /** `p pause`: the last one is dropped last, before it the first ones. */
    keys: readonly string[]
    columns: number
  },
): Block {
  const { length } = status.questions
  const asks = length === 1 ? 'a question' : `${length} questions`
  const state = status.stopping || length === 0 ? stateWord(status) : asks
  const parts = [...progressFacts(status, now), ...(remaining ? [remainingText(remaining)] : [])]
  // Begins with a blank, where the cursor rests.
  const textOf = (shown: number): string =>
    ` ${[...(state === '' ? [] : [state]), ...parts.slice(0, shown)].join(' · ')}`
  const fits = (left: string, right: string): boolean =>
    textWidth(left) + (right === '' ? 0 : textWidth(right) + 2) <= columns
  let shown = parts.length
  while (shown > 1 && !fits(textOf(shown), keys.at(-1) ?? '')) shown--
  const left = textOf(shown)
  const rights = keys.map((_, at) => [...keys.slice(0, keys.length - 1 - at), ...keys.slice(-1)].join('  '))
  const right = rights.find((text) => fits(left, text)) ?? ''
  const gap = columns - textWidth(left) - textWidth(right)
  return line(
    ' ',
    accent(state),
    left.slice(1 + state.length),
    ...(right === '' ? [] : [' '.repeat(gap), dim(right)]),
  )
}

/** `about 40m–1h more`: no more exact than the estimate. */
export function remainingText({ low, high }: Remaining): string {
  const [from, to] = [roughly(low), roughly(high)]
  if (to < 60) return 'under a minute more'
  if (from < 60) return `up to ${formatDuration(to)} more`
  return from === to
    ? `about ${formatDuration(to)} more`
    : `about ${formatDuration(from)}–${formatDuration(to)} more`
}

/** Rounds minutes: from ten to fives, from two hours to half hours. */
function roughly(seconds: number): number {
  const step = seconds < 600 ? 60 : seconds < 7200 ? 300 : 1800
  return Math.round(seconds / step) * step
}

/** A question to a person, and its choices: they answer with a number or a text. */
export function questionView(
  question: string,
  choices: readonly string[],
  isClosed = false,
): readonly [Block, Block] {
  const words = choices.map((choice, at): Line => [accent(`${at + 1}`), ` ${choice}`])
  return [
    paragraph([bad('■'), ' '], question),
    {
      kind: 'hang',
      head: ['  '],
      words: isClosed ? words : [...words, [dim('or your own words')]],
      gap: '   ',
    },
  ]
}

/** How long a run will still take, in seconds: with even odds between these limits. */
interface Remaining {
  readonly low: number
  readonly high: number
}

/** What the estimate is based on. */
export interface Pace {
  /** How many seconds each task took in this repository. */
  readonly durations: readonly number[]
  /** How many tasks the run may do. */
  readonly most: number
}

/** Fewer tasks are not enough for an estimate. */
const ENOUGH_TASKS = 5

/**
 * Estimates the rest of a run from the durations of tasks; null if too few are known, or if nothing is left. Long and
 * short tasks compensate each other, so the range grows with the square root of their number.
 */
export function remainingTime(status: RunStatus, { durations, most }: Pace, now: Date): Remaining | null {
  const { progress, jobs, completed, blocked, failed, held, atOnce } = status
  if (durations.length < ENOUGH_TASKS || status.ended || status.stopping) return null
  const tried = completed.length + blocked.length + failed.length
  const open = progress.tasks - progress.done - progress.blocked - failed.length - held.length
  const tasks = Math.min(open, most - tried)
  if (tasks <= 0) return null
  const mean = meanOf(durations)
  const spread = Math.sqrt(meanOf(durations.map((seconds) => (seconds - mean) ** 2)))
  // Subtracts the time that a running task has had; how much longer a slow one takes is unknown.
  const spent = jobs.map(({ since }) =>
    Math.min(mean / 2, (now.getTime() - new Date(since).getTime()) / 1000),
  )
  const expected = tasks * mean - spent.reduce((sum, seconds) => sum + Math.max(0, seconds), 0)
  const range = QUARTILE * spread * Math.sqrt(tasks + (tasks * tasks) / durations.length)
  const side = Math.min(atOnce, tasks)
  return { low: Math.max(0, expected - range) / side, high: (expected + range) / side }
}

/** Half of a normal distribution is within this many deviations of its mean. */
const QUARTILE = 0.6745

function meanOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length
}
