import { countByStatus, type Selection, type TaskState } from '../../select/selection.ts'
import type { Facts } from '../../task/model.ts'
import { listView } from '../../ui/list-view.ts'
import type { Context } from '../command.ts'
import { blockedReasons, openListing } from '../listing.ts'
import { isMilestone } from '../milestone.ts'
import type { Options } from '../options.ts'
import { openPlace } from '../project.ts'
import { JSON_FACTS, tasksJson } from '../task-json.ts'

/** Shows the backlog, or the part of it that the filters leave. */
export async function run(context: Context): Promise<number> {
  if (context.json) await printJson(context)
  else await print(context)
  return 0
}

async function print(context: Context): Promise<void> {
  const place = await openPlace(context)
  const facts = ['title', 'milestone', 'completed', ...FILTER_FACTS] as const
  const { selection, tierOf } = await openListing(place, facts, ({ status }) => status !== 'DONE')
  const states = matching(selection, context.options)
  const reasonOf = await blockedReasons(
    place,
    states.map(({ task }) => task),
  )
  await context.print(
    listView({
      states,
      folder: place.dir,
      isEmpty: selection.outcome === 'empty',
      tierOf: (task) => tierOf(task).tier,
      reasonOf,
    }),
  )
}

async function printJson(context: Context): Promise<void> {
  const place = await openPlace(context)
  const { selection, tierOf } = await openListing(place, [...JSON_FACTS, ...FILTER_FACTS])
  const states = matching(selection, context.options)
  const counts = countByStatus(states.map(({ task }) => task))
  context.printJson({ version: 1, tasks: tasksJson(states, tierOf), counts })
}

const FILTER_FACTS = ['milestone', 'tags', 'discipline', 'feature'] as const

type Filtered = Facts<(typeof FILTER_FACTS)[number]>

/** The part of a backlog that the filters leave. */
function matching<T extends Filtered>({ states }: Selection<T>, options: Options): readonly TaskState<T>[] {
  const matches = filterOf(options)
  return states.filter(({ task }) => matches(task))
}

function filterOf(options: Options): (task: Filtered) => boolean {
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
