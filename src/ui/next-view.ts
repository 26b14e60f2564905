import { unreachable } from '../base/errors.ts'
import { unblocks, type Selection, type TaskState } from '../select/selection.ts'
import type { TierChoice } from '../select/tier.ts'
import type { Task, TaskHead } from '../task/model.ts'
import { accent, BLANK, dim, line, paragraph, strong, type Block, type Line } from './block.ts'
import { limitsText } from './limits-text.ts'
import { commaSeparated, dependenciesOf, named, thenLines, titleLine } from './task-lines.ts'
import { standingOf } from './task-sign.ts'
import { waitingRows } from './waiting-view.ts'

/** What `ralph next` shows. */
export interface NextScreen {
  readonly selection: Selection<TaskHead>
  /** The next task as a whole; null where there is none. */
  readonly task: Task | null
  /** Every task as a whole: what `all`, `explain` and a stuck backlog show. Null where none of it is shown. */
  readonly whole: Selection | null
  /** The folder that the tasks stand in, for where there are none. */
  readonly folder: string
  readonly tierOf: (task: Task) => TierChoice
  /** Who would do the next task; null where nobody is known. */
  readonly agent: string | null
  readonly all: boolean
  readonly explain: boolean
}

/** The answer first, then why, then what to do next. */
export function nextView(screen: NextScreen): readonly Block[] {
  const waits = screen.explain ? keptBack(screen) : []
  return [
    ...answer(screen),
    ...(waits.length > 0 ? [BLANK, line(strong('Waiting')), waitingRows(waits)] : []),
    ...(screen.selection.outcome === 'empty' ? [] : [BLANK, summary(screen)]),
  ]
}

function answer(screen: NextScreen): readonly Block[] {
  const { selection, folder, all } = screen
  switch (selection.outcome) {
    case 'ready':
      return all ? [eligibleRows(screen)] : screen.task ? taskBlocks(screen, screen.task) : []
    case 'all-done':
      return [line(allDone(selection.states.length))]
    case 'stuck':
      return stuckBlocks(screen)
    case 'empty':
      return [
        line(`There are no tasks in ${folder} yet.`),
        line('ralph new "Title"', dim(' writes the first one.')),
      ]
    default:
      return unreachable(selection.outcome)
  }
}

function allDone(tasks: number): string {
  return tasks === 1 ? 'The one task is done.' : `All ${tasks} tasks are done.`
}

const BRIEF = 8

function stuckBlocks(screen: NextScreen): readonly Block[] {
  const first = line('Nothing is eligible.')
  if (screen.explain) return [first]
  const waits = keptBack(screen)
  const more = waits.length > BRIEF ? [line(dim(`  and ${waits.length - BRIEF} more`))] : []
  return [first, BLANK, waitingRows(waits.slice(0, BRIEF)), ...more]
}

function taskBlocks(screen: NextScreen, task: Task): readonly Block[] {
  const { selection, agent } = screen
  const { tier, why, maxTurns, timeoutSeconds } = screen.tierOf(task)
  const facts = [tier, why, `up to ${limitsText(maxTurns, timeoutSeconds)}`, ...(agent ? [agent] : [])]
  return [
    titleLine(task),
    paragraph(['       '], facts.join(' · '), 'dim'),
    ...named('after', dependenciesOf(task, selection), '  '),
    ...named('touches', commaSeparated(task.touches), ' '),
    ...thenLines(unblocks(selection, task.id)),
    ...named('file', [[task.file]], ' '),
  ]
}

function eligibleRows({ whole, tierOf }: NextScreen): Block {
  const rows = (whole?.eligible ?? []).map((task): readonly Line[] => {
    const { tier, maxTurns, timeoutSeconds } = tierOf(task)
    return [
      [accent(task.id)],
      [task.title],
      [dim(tier)],
      [dim(limitsText(maxTurns, timeoutSeconds))],
      [dim(task.milestone ?? '')],
    ]
  })
  return { kind: 'table', rows, shrink: 1, indent: '' }
}

/** `5 of 9 done · 2 wait (ralph next --explain) · 1 blocked`. */
function summary({ selection, all, explain }: NextScreen): Block {
  const { states, counts, eligible } = selection
  const standings = states.filter(isKeptBack).map(standingOf)
  const count = (standing: string): number => standings.filter((found) => found === standing).length
  const others = eligible.length - 1
  const [waiting, blocked, unclear] = [count('waiting'), count('blocked'), count('unclear')]
  const hint = (command: string, shown: boolean): string => (shown ? '' : ` (${command})`)
  const parts = [
    `${counts.DONE} of ${states.length} done`,
    ...(others > 0 ? [`${others} more eligible${hint('ralph next --all', all)}`] : []),
    ...(waiting > 0
      ? [`${waiting} ${waiting === 1 ? 'waits' : 'wait'}${hint('ralph next --explain', explain)}`]
      : []),
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    ...(unclear > 0 ? [`${unclear} unclear${hint('ralph lint', false)}`] : []),
  ]
  return {
    kind: 'hang',
    head: [],
    words: parts.map((part, at) => [dim(at === 0 ? part : `· ${part}`)]),
    gap: ' ',
  }
}

function keptBack({ whole }: NextScreen): readonly TaskState[] {
  return (whole?.states ?? []).filter(isKeptBack)
}

function isKeptBack({ task, eligible }: TaskState<TaskHead>): boolean {
  return !eligible && task.status !== 'DONE'
}
