import { formatDuration } from '../base/time.ts'
import type { Stats, Totals } from '../history/stats.ts'
import { formatCost, formatTokens } from '../base/usage.ts'
import { BLANK, dim, line, strong, type Block, type Cell, type Piece, type Row } from './block.ts'
import { counted } from '../base/text.ts'
import { nothingLogged } from './log-view.ts'

/** The totals of the tasks: of all, and by milestone, tier and agent; `unnamed` as in the log. */
export function statsView(byName: Readonly<Record<string, Stats>>, unnamed: number): readonly Block[] {
  const [first] = Object.values(byName)
  if (!first || first.total.tasks + first.lost.attempts === 0) return nothingLogged(unnamed)
  const rows: Row[] = [rowOf(strong('total'), first.total)]
  for (const [name, { groups }] of Object.entries(byName)) {
    if (groups.length === 0) continue
    rows.push(SPACE, { kind: 'spread', left: [strong(name)], right: [] })
    for (const group of groups) rows.push(rowOf(group.name, group))
  }
  return [{ kind: 'table', rows, shrink: [0], indent: '  ' }, ...noteBlocks(first)]
}

const SPACE: Row = { kind: 'spread', left: [], right: [] }

function rowOf(name: Piece, { tasks, attempts, seconds, usage }: Totals): readonly Cell[] {
  return [
    name,
    counted(tasks, 'task'),
    attempts === 0 ? '' : dim(counted(attempts, 'attempt')),
    usage.turns === null ? '' : counted(usage.turns, 'turn'),
    seconds === null ? '' : formatDuration(seconds),
    usage.costUsd === null ? '' : formatCost(usage.costUsd),
    dim(formatTokens(usage) ?? ''),
  ]
}

/** Notes on what the figures leave out. */
function noteBlocks(stats: Stats): readonly Block[] {
  return [lostNote(stats), byHandNote(stats), uncheckedNote(stats)].flatMap((note) =>
    note === null ? [] : [BLANK, line(note)],
  )
}

function lostNote({ lost }: Stats): Piece | null {
  if (lost.attempts === 0) return null
  const cost = lost.usage.costUsd === null ? [] : [formatCost(lost.usage.costUsd)]
  const facts = [counted(lost.attempts, 'attempt'), formatDuration(lost.seconds), ...cost]
  return dim(`not counted above, because they completed nothing: ${facts.join(' · ')}`)
}

function byHandNote({ total: { notByRalph } }: Stats): Piece | null {
  if (notByRalph === 0) return null
  return dim(
    `${counted(notByRalph, 'task')} not completed by ralph: their files or commits say that they are`,
  )
}

function uncheckedNote({ total: { unchecked } }: Stats): Piece | null {
  if (unchecked === 0) return null
  return `${counted(unchecked, 'task')} done without a gate: nothing checked the agent's work`
}
