import { formatDuration } from '../base/time.ts'
import type { Stats, Totals } from '../history/stats.ts'
import { formatCost, formatTokens } from '../base/usage.ts'
import {
  strong,
  dim,
  line,
  spread,
  table,
  BLANK,
  type Block,
  type Piece,
  type Row,
  type Cell,
} from './block.ts'
import { counted } from '../base/text.ts'
import { spentText } from './told.ts'
import { nothingLogged } from './log-view.ts'

/** The totals of the tasks: of all, and by milestone, tier and agent; `unnamed` as in the log. */
export function statsView(byName: Readonly<Record<string, Stats>>, unnamed: number): readonly Block[] {
  const [first] = Object.values(byName)
  if (!first || first.total.tasks + first.lost.attempts === 0) return nothingLogged(unnamed)
  const rows: Row[] = [rowOf(strong('total'), first.total)]
  for (const [name, { groups }] of Object.entries(byName)) {
    if (groups.length === 0) continue
    rows.push(SPACE, spread([strong(name)]))
    for (const group of groups) rows.push(rowOf(group.name, group))
  }
  return [table(rows, { shrink: [0] }), ...noteBlocks(first)]
}

const SPACE: Row = spread([])

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
function noteBlocks({ lost, total }: Stats): readonly Block[] {
  const notes = [
    lost.attempts > 0 &&
      `not counted above, because they completed nothing: ${counted(lost.attempts, 'attempt')} · ${spentText(lost.seconds, { ...lost.usage, turns: null })}`,
    total.notByRalph > 0 &&
      `${counted(total.notByRalph, 'task')} not completed by ralph: their files or commits say that they are`,
    total.unchecked > 0 &&
      `${counted(total.unchecked, 'task')} done without a gate: nothing checked the agent's work`,
  ]
  return notes.flatMap((note) => (note === false ? [] : [BLANK, line(dim(note))]))
}
