import { formatDuration } from '../base/time.ts'
import type { Remaining } from './remaining-time.ts'
import { costSoFar, type RunStatus } from './run-status.ts'
import { formatCost } from '../base/usage.ts'
import { accent, dim, line, type Block, type Line } from './block.ts'
import { widthOf } from './fit.ts'
import { secondsBetween, wholeMinutes } from './run-blocks.ts'
import { stopText } from './run-text.ts'
import type { Measure } from './width.ts'

/** What the foot of a run shows. */
interface FootFacts {
  readonly now: Date
  readonly remaining: Remaining | null
  /** `p pause`: the last one is dropped last, before it the first ones. */
  readonly keys: readonly string[]
}

/**
 * The state of the whole run in one line, with the keys at its right; the least important parts are dropped if there
 * is no room.
 */
export function footLine(
  status: RunStatus,
  { now, remaining, keys }: FootFacts,
  { columns, measure }: { readonly columns: number; readonly measure: Measure },
): Block {
  const parts = [...stateOf(status), ...partsOf(status, { now, remaining })]
  const fits = (left: Line, right: string): boolean =>
    widthOf(left, measure) + (right === '' ? 0 : measure(right) + 2) <= columns
  let shown = parts.length
  while (shown > 1 && !fits(joined(parts.slice(0, shown)), keys.at(-1) ?? '')) shown--
  const left = joined(parts.slice(0, shown))
  const rights = keys.map((_, at) => [...keys.slice(0, keys.length - 1 - at), ...keys.slice(-1)].join('  '))
  const right = rights.find((text) => fits(left, text)) ?? ''
  const gap = columns - widthOf(left, measure) - measure(right)
  return line(...left, ...(right === '' ? [] : [' '.repeat(gap), dim(right)]))
}

/** The line above the foot. */
export function rule(columns: number): Block {
  return line(dim('─'.repeat(columns)))
}

function stateOf({ paused, stopping, stop, questions }: RunStatus): readonly Line[] {
  if (stopping) return [[accent(`stopping${stopText(stop)}`)]]
  if (questions.length > 0)
    return [[accent(questions.length === 1 ? 'a question' : `${questions.length} questions`)]]
  return paused ? [[accent('paused')]] : []
}

function partsOf(
  status: RunStatus,
  { now, remaining }: Pick<FootFacts, 'now' | 'remaining'>,
): readonly Line[] {
  const { progress, held, failed, since, budget } = status
  const cost = costSoFar(status)
  const texts = [
    `${progress.done} of ${progress.tasks} done`,
    ...(progress.blocked > 0 ? [`${progress.blocked} blocked`] : []),
    ...(failed.length > 0 ? [`${failed.length} left`] : []),
    ...(held.length > 0 ? [`${held.length} held`] : []),
    wholeMinutes(secondsBetween(new Date(since), now)),
    ...(cost === null
      ? []
      : [budget === null ? formatCost(cost) : `${formatCost(cost)} of ${formatCost(budget)}`]),
    ...(remaining ? [remainingText(remaining)] : []),
  ]
  return texts.map((text) => [text])
}

/** Begins with a blank, where the cursor rests. */
function joined(parts: readonly Line[]): Line {
  return [' ', ...parts.flatMap((part, at) => (at === 0 ? part : [' · ', ...part]))]
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
