import { formatDuration } from '../../base/time.ts'
import type { JobStatus } from '../run-status.ts'
import { tellingLines } from '../../base/failure-lines.ts'
import { accent, BLANK, dim, line, paragraph, strong, type Block, type Line } from '../block.ts'
import { linesOfBlocks } from '../layout.ts'
import { gateText } from '../run-text.ts'
import type { Measure } from '../width.ts'
import { textBlock } from './activity.ts'
import type { PaneShown } from './keys.ts'
import type { AttemptSeen, Seen } from './model.ts'
import type { Ring } from './ring.ts'

/** The space for blocks, in columns and rows. */
export interface PaneRoom {
  readonly columns: number
  readonly rows: number
  readonly measure: Measure
}

/** The content of a pane. */
export interface PaneRows {
  readonly lines: readonly Line[]
  readonly shown: PaneShown
}

/**
 * The part of growing content that ends at a line, or the newest part. Lays out only what is visible, however much there is.
 */
export function growing(blocks: Ring<Block | string>, at: number | null, room: PaneRoom): PaneRows {
  const { first, end } = blocks
  const to = at === null ? end : Math.max(first, Math.min(end, at))
  const laid: Line[] = []
  const lay = (number: number): readonly Line[] => {
    const block = blocks.at(number)
    if (block === undefined) return []
    return linesOfBlocks([typeof block === 'string' ? textBlock(block) : block], room.columns, room.measure)
  }
  let from = to
  while (from > first && laid.length < room.rows) laid.unshift(...lay(--from))
  const lines = laid.slice(Math.max(0, laid.length - room.rows))
  // If there is too little above, what follows fills the rest.
  let until = to
  while (until < end && lines.length < room.rows)
    lines.push(...lay(until++).slice(0, room.rows - lines.length))
  return { lines, shown: { from, to: until, first, end, grows: true } }
}

/** The part of fixed content that begins at a line. */
export function whole(lines: readonly Line[], at: number | null, room: PaneRoom): PaneRows {
  const last = Math.max(0, lines.length - room.rows)
  const from = Math.max(0, Math.min(last, at ?? 0))
  const to = Math.min(lines.length, from + room.rows)
  return { lines: lines.slice(from, to), shown: { from, to, first: 0, end: lines.length, grows: false } }
}

/** The gates' results in the last attempt, and the running gate: `gates   ✓ typecheck 1.3s   ● test 4s`. */
export function gatesLine(seen: Seen | undefined, job: JobStatus | undefined, now: Date): Line | null {
  const done = seen?.attempts.at(-1)?.gates ?? []
  const running = job?.doing === 'gates' ? job : null
  if (done.length === 0 && !running) return null
  const results = done.flatMap((result): Line => ['   ', ...gateText(result)])
  const seconds = running ? Math.max(0, (now.getTime() - Date.parse(running.since)) / 1000) : 0
  const isOver = running && done.some(({ gate }) => gate.name === running.note)
  const current: Line =
    running && !isOver ? ['   ', accent('●'), ` ${running.note} ${formatDuration(seconds)}`] : []
  return [dim('gates'), ...results, ...current]
}

/** The attempts of this run with the results of their gates, newest first, as shown above the log. */
export function gatesOf(attempts: readonly AttemptSeen[]): readonly Block[] {
  return attempts
    .toReversed()
    .flatMap(({ counted, gates, end, log }) => [
      line(strong(`attempt ${counted}`), dim(end === null ? '  goes on' : `  ${end.outcome}`)),
      ...gates.flatMap((result) => [
        line('  ', ...gateText(result)),
        ...tellingLines(result.excerpt, MOST_TELLING).map((text) => line(dim(`      ${text}`))),
      ]),
      ...(gates.length === 0 ? [line(dim('  no gate has run'))] : []),
      line(dim(`  ${log}`)),
      BLANK,
    ])
}

const MOST_TELLING = 12

/** The attempts that the run itself knows, if git has no record of them. */
export function attemptsOf(attempts: readonly AttemptSeen[]): readonly Block[] {
  if (attempts.length === 0) return [paragraph([], 'no attempt has been made at it')]
  return attempts.map(({ counted, agent, end }) =>
    line(`  ${counted}  `, end === null ? accent('goes on') : strong(end.outcome), dim(`  ${agent}`)),
  )
}
