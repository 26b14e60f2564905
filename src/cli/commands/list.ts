import { countByStatus, select, type TaskState } from '../../select/selection.ts'
import { mayDecideTier, TIER_FACTS, type TierChoice, tierOf, tierOfFacts } from '../../select/tier.ts'
import { detached } from '../../task/facts.ts'
import type { FactName, Facts, TaskHead } from '../../task/model.ts'
import { readFacts } from '../../task/read.ts'
import { listView } from '../../ui/list-view.ts'
import { blockedReason } from '../../ui/reason-text.ts'
import type { Context } from '../command.ts'
import { isMilestone } from '../milestone.ts'
import type { Options } from '../options.ts'
import { openPlace, type Place } from '../project.ts'
import { JSON_FACTS, taskJson } from '../task-json.ts'

/** Shows the backlog, or the part of it that the filters leave. */
export async function run(context: Context): Promise<number> {
  if (context.json) await printJson(context)
  else await print(context)
  return 0
}

async function print(context: Context): Promise<void> {
  const list = await openList(context, ['title', 'milestone', 'completed'])
  const { dir, states, isEmpty, choiceOf, reasonOf } = list
  await context.print(
    listView({ states, folder: dir, isEmpty, tierOf: (task) => choiceOf(task).tier, reasonOf }),
  )
}

async function printJson(context: Context): Promise<void> {
  const { states, choiceOf } = await openList(context, JSON_FACTS)
  function* tasks(): Iterable<object> {
    for (const state of states) yield taskJson(state, choiceOf)
  }
  context.printJson({ version: 1, tasks: tasks(), counts: countByStatus(states.map(({ task }) => task)) })
}

/** The part of a backlog that the filters leave. */
interface List<T extends TaskHead> extends Place {
  readonly states: readonly TaskState<T>[]
  /** There are no tasks at all. */
  readonly isEmpty: boolean
  readonly choiceOf: (task: T) => TierChoice
  /** The first line of what stands under Blocked; empty where the task is not held up. */
  readonly reasonOf: (task: T) => string
}

/** Finds the place, and reads of its backlog what is listed. The texts of the tasks are never in memory together. */
async function openList<K extends FactName>(context: Context, facts: readonly K[]): Promise<List<Facts<K>>> {
  const place = await openPlace(context)
  const { tiers } = place.config
  const asked = { facts: [...facts, ...FILTER_FACTS, ...TIER_FACTS], isWanted: mayDecideTier(tiers) }
  const choices = new Map<TaskHead, TierChoice>()
  const reasons = new Map<TaskHead, string>()
  const { tasks } = await readFacts(place, asked, (found, task) => {
    choices.set(found, task ? tierOf(task, tiers) : tierOfFacts(found, tiers))
    if (task?.held || task?.status === 'BLOCKED') reasons.set(found, detached(blockedReason(task)))
  })
  const matches = filterOf(context.options)
  return {
    ...place,
    states: select(tasks).states.filter(({ task }) => matches(task)),
    isEmpty: tasks.length === 0,
    choiceOf: (task) => choices.get(task)!,
    reasonOf: (task) => reasons.get(task) ?? '',
  }
}

const FILTER_FACTS = ['milestone', 'tags', 'discipline', 'feature'] as const

function filterOf(options: Options): (task: Facts<(typeof FILTER_FACTS)[number]>) => boolean {
  const status = options.text('status')
  const tags = options.list('tag')
  const milestone = options.text('milestone')
  const discipline = options.text('discipline')
  const feature = options.text('feature')
  return (task) =>
    (status === undefined || task.status === status) &&
    tags.every((tag) => task.tags.some((own) => same(own, tag))) &&
    (milestone === undefined || (task.milestone !== null && isMilestone(task.milestone, milestone))) &&
    (discipline === undefined || same(task.discipline, discipline)) &&
    (feature === undefined || same(task.feature, feature))
}

function same(own: string | null, asked: string): boolean {
  return own !== null && own.trim().toLowerCase() === asked.trim().toLowerCase()
}
