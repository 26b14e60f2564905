import { unreachable } from '../base/errors.ts'
import type { Wait } from '../backlog/select/schedule.ts'
import { unblocks, type Selection, type TaskState } from '../backlog/select/selection.ts'
import type { TierChoice } from '../backlog/select/tier.ts'
import type { Facts, TaskHead } from '../backlog/model.ts'
import { strong, dim, accent, line, table, BLANK, facts, type Block, type Row } from './block.ts'
import {
  commaSeparated,
  countByStanding,
  dependenciesOf,
  limitsText,
  named,
  thenLines,
  titleLine,
  waitingRows,
  type WaitingTask,
} from './task-lines.ts'

/** The data of `ralph next`. */
interface NextScreen {
  readonly selection: Selection<TaskHead>
  /** The task folder, for a message if it is empty. */
  readonly folder: string
  /** The next task, unless several are shown. */
  readonly next: NextTask | null
  /** Every eligible task, if all are requested. */
  readonly eligible: readonly EligibleTask[] | null
  /** The tasks that a run with several jobs would begin now, if requested. */
  readonly together: Together | null
  /** The tasks of `toExplain`, with their reasons to wait. */
  readonly waiting: readonly WaitingTask[]
  readonly explain: boolean
  /** The paths of other tools' backlogs, if there are no tasks. */
  readonly foreign?: readonly string[]
}

/** The facts of the next task. */
export const NEXT_FACTS = ['title', 'milestone', 'depends', 'touches', 'agent', 'discipline'] as const

/** The next task, and what a run would use for it. */
export interface NextTask {
  readonly task: Facts<(typeof NEXT_FACTS)[number]>
  readonly choice: TierChoice
  /** The agent; null if it is unknown. */
  readonly agent: string | null
}

/** The tasks that run at once, and why other eligible tasks do not. */
export interface Together {
  readonly begin: readonly EligibleTask[]
  readonly waiting: readonly { readonly id: string; readonly title: string; readonly wait: Wait }[]
}

/** One eligible task, and what a run would use for it. */
export interface EligibleTask {
  readonly task: Facts<'title' | 'milestone'>
  readonly choice: TierChoice
}

/** First the answer, then the reasons, then the next steps. */
export function nextView(screen: NextScreen): readonly Block[] {
  const { selection, waiting, explain } = screen
  return [
    ...answer(screen),
    ...(explain && waiting.length > 0 ? [BLANK, line(strong('Waiting')), waitingRows(waiting)] : []),
    ...(selection.outcome === 'empty' ? [] : [BLANK, summary(screen)]),
  ]
}

/** The tasks whose reasons to wait are shown: all of them if requested; the first few if all tasks wait. */
export function toExplain<T extends TaskHead>(
  { states, outcome }: Selection<T>,
  explain: boolean,
): readonly TaskState<T>[] {
  if (explain) return states.filter(isKeptBack)
  return outcome === 'stuck' ? states.filter(isKeptBack).slice(0, BRIEF) : []
}

const BRIEF = 8

function answer(screen: NextScreen): readonly Block[] {
  const { selection, folder, next, eligible, together } = screen
  switch (selection.outcome) {
    case 'ready':
      if (together) return togetherBlocks(together)
      return eligible ? [eligibleRows(eligible)] : next ? taskBlocks(next, selection) : []
    case 'all-done':
      return [line(allDone(selection.states.length))]
    case 'stuck':
      return stuckBlocks(screen)
    case 'empty':
      return [
        line(`There are no tasks in ${folder} yet.`),
        line('ralph new "Title"', dim(' writes the first one.')),
        ...(screen.foreign ?? []).map((path) =>
          line(`ralph import ${path}`, dim(' reads the backlog there.')),
        ),
      ]
    default:
      return unreachable(selection.outcome)
  }
}

function allDone(tasks: number): string {
  return tasks === 1 ? 'The one task is done.' : `All ${tasks} tasks are done.`
}

function stuckBlocks({ selection, waiting, explain }: NextScreen): readonly Block[] {
  const first = line('Nothing is eligible.')
  if (explain) return [first]
  const others = selection.states.filter(isKeptBack).length - waiting.length
  const more = others > 0 ? [line(dim(`  and ${others} more`))] : []
  return [first, BLANK, waitingRows(waiting), ...more]
}

function taskBlocks({ task, choice, agent }: NextTask, selection: Selection<TaskHead>): readonly Block[] {
  const { tier, why, maxTurns, timeoutSeconds } = choice
  const limits = `up to ${limitsText(maxTurns, timeoutSeconds)}`
  return [
    titleLine(task),
    facts(['       '], [tier, why, limits, agent], 'dim'),
    ...named('after', dependenciesOf(task, selection), '  '),
    ...named('touches', commaSeparated(task.touches), ' '),
    ...thenLines(unblocks(selection, task.id)),
    ...named('file', [[task.file]], ' '),
  ]
}

function togetherBlocks({ begin, waiting }: Together): readonly Block[] {
  const rows = waiting.map(({ id, title, wait }) => ({
    id,
    title,
    reasons: [{ why: waitText(wait), where: '' }],
  }))
  const later = rows.length > 0 ? [BLANK, line(strong('Later')), waitingRows(rows)] : []
  return [line(strong('At once')), eligibleRows(begin, '  '), ...later]
}

function waitText(wait: Wait): string {
  return wait.kind === 'jobs' ? 'for a free workspace' : `for ${wait.id}: both touch ${wait.path}`
}

function eligibleRows(eligible: readonly EligibleTask[], indent = ''): Block {
  const rows = eligible.map(({ task, choice }): Row => {
    const { tier, maxTurns, timeoutSeconds } = choice
    return [
      accent(task.id),
      task.title,
      dim(tier),
      dim(limitsText(maxTurns, timeoutSeconds)),
      dim(task.milestone ?? ''),
    ]
  })
  return table(rows, { shrink: [1], indent })
}

/** `5 of 9 done · 2 wait (ralph next --explain) · 1 blocked`. */
function summary({ selection, eligible: all, together, explain }: NextScreen): Block {
  const { states, counts, eligible } = selection
  const { waiting, blocked, unclear } = countByStanding(states)
  const others = eligible.length - 1
  const isList = all !== null || together !== null
  return facts(
    [],
    [
      `${counts.DONE} of ${states.length} done`,
      isList && `${eligible.length} eligible`,
      !isList && others > 0 && `${others} more eligible (ralph next --all)`,
      waiting > 0 &&
        `${waiting} ${waiting === 1 ? 'waits' : 'wait'}${explain ? '' : ' (ralph next --explain)'}`,
      blocked > 0 && `${blocked} blocked`,
      unclear > 0 && `${unclear} unclear (ralph lint)`,
    ],
    'dim',
  )
}

function isKeptBack({ task, eligible }: TaskState<TaskHead>): boolean {
  return !eligible && task.status !== 'DONE'
}
