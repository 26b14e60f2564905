import { unreachable } from '../base/errors.ts'
import type { Wait } from '../backlog/select/schedule.ts'
import { unblocks, type Selection, type TaskState } from '../backlog/select/selection.ts'
import type { UnderWay } from '../backlog/json.ts'
import type { TierChoice } from '../backlog/select/tier.ts'
import type { Facts, TaskHead } from '../backlog/model.ts'
import { dim, accent, line, table, section, BLANK, facts, type Block, type Row, type View } from './block.ts'
import {
  commaSeparated,
  countByStanding,
  dependenciesOf,
  limitsText,
  LIVE,
  named,
  thenLines,
  titleLine,
  underWayText,
  waitingRows,
  type WaitingTask,
} from './task-lines.ts'

/** What `ralph next` shows. */
interface NextScreen {
  readonly selection: Selection<TaskHead>
  /** The task folder, for a message if it is empty. */
  readonly folder: string
  /** The next task, unless several are shown. */
  readonly next?: NextTask | null
  /** Every eligible task, if all are requested. */
  readonly eligible?: readonly EligibleTask[]
  /** The tasks that a run with several jobs would begin now, if requested, and why other eligible tasks wait. */
  readonly together?: {
    readonly begin: readonly EligibleTask[]
    readonly waiting: readonly { readonly task: Facts<'title'>; readonly wait: Wait }[]
  }
  /** The tasks of `toExplain`, with their reasons to wait. */
  readonly waiting?: readonly WaitingTask[]
  readonly explain: boolean
  readonly underWay: ReadonlyMap<string, UnderWay>
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

/** One eligible task, and what a run would use for it. */
interface EligibleTask {
  readonly task: Facts<'title' | 'milestone'>
  readonly choice: TierChoice
}

/** First the answer, then the reasons, then the next steps. */
export function nextView(screen: NextScreen): View {
  const { selection, waiting = [], explain } = screen
  return [
    ...answer(screen),
    ...(explain ? section('Waiting', waitingRows(waiting)) : []),
    ...(selection.outcome === 'empty' ? [] : [BLANK, ...atWork(screen), summary(screen)]),
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

function answer({
  selection,
  folder,
  next,
  eligible,
  together,
  waiting = [],
  explain,
  foreign = [],
}: NextScreen): View {
  const { outcome, states } = selection
  switch (outcome) {
    case 'ready':
      if (together) return togetherBlocks(together)
      return eligible ? eligibleRows(eligible) : next ? taskBlocks(next, selection) : []
    case 'all-done':
      return [line(states.length === 1 ? 'The one task is done.' : `All ${states.length} tasks are done.`)]
    case 'stuck': {
      if (explain) return [line('Nothing is eligible.')]
      const others = states.filter(isKeptBack).length - waiting.length
      const more = others > 0 ? [line(dim(`  and ${others} more`))] : []
      return [line('Nothing is eligible.'), BLANK, ...waitingRows(waiting), ...more]
    }
    case 'empty':
      return [
        line(`There are no tasks in ${folder} yet.`),
        line('ralph new "Title"', dim(' writes the first one.')),
        ...foreign.map((path) => line(`ralph import ${path}`, dim(' reads the backlog there.'))),
      ]
    default:
      return unreachable(outcome)
  }
}

function taskBlocks({ task, choice, agent }: NextTask, selection: Selection<TaskHead>): View {
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

function togetherBlocks({ begin, waiting }: NonNullable<NextScreen['together']>): View {
  const later = waiting.map(({ task: { id, title }, wait }) => ({
    id,
    title,
    reasons: [{ why: waitText(wait), where: '' }],
  }))
  return [...section('At once', eligibleRows(begin, '  ')).slice(1), ...section('Later', waitingRows(later))]
}

function waitText(wait: Wait): string {
  return wait.kind === 'jobs' ? 'for a free workspace' : `for ${wait.id}: both touch ${wait.path}`
}

function eligibleRows(eligible: readonly EligibleTask[], indent = ''): View {
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

/** The tasks of a run, which do not change the decision. */
function atWork({ underWay }: NextScreen): View {
  return [...underWay].map(([id, where]) => line(LIVE, ` ${id}  `, dim(underWayText(where))))
}

/** `5 of 9 done · 2 wait (ralph next --explain) · 1 blocked`. */
function summary({ selection, eligible: all, together, explain }: NextScreen): Block {
  const { states, counts, eligible } = selection
  const { waiting, blocked, unclear } = countByStanding(states)
  const others = eligible.length - 1
  const isList = all !== undefined || together !== undefined
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
