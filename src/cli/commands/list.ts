import { countByStatus } from '../../backlog/select/selection.ts'
import type { Facts } from '../../backlog/model.ts'
import { unreadText } from '../../config/unread.ts'
import { paragraph } from '../../screen/block.ts'
import { listView } from '../../screen/list-view.ts'
import type { ContextOf } from '../commands.ts'
import { tasksUnderWay } from '../under-way.ts'
import { disciplineOf } from '../../agents/registry.ts'
import { blockedReasons, openListing } from '../../config/listing.ts'
import { isMilestone } from '../../backlog/milestone.ts'
import { JSON_FACTS, taskJson } from '../../backlog/select/task-json.ts'

type Context = ContextOf<'list'>

/** The facts that filters can compare. */
const FILTERED = ['milestone', 'tags', 'discipline', 'feature'] as const

/** Shows the backlog, or the part that matches the filters. */
export async function run(context: Context): Promise<number> {
  const { options } = context
  const place = await context.place()
  const unread = unreadText(place)
  const underWay = await tasksUnderWay(place.root)
  if (context.json) {
    const { selection, tierOf } = await openListing(place, [...JSON_FACTS, ...filtered(options)])
    const states = selection.states.filter(({ task }) => matches(task, options))
    const counts = countByStatus(states.map(({ task }) => task))
    context.printJson({ version: 1, tasks: states.map((state) => taskJson(state, tierOf, underWay)), counts })
    return 0
  }
  const facts = ['title', 'milestone', 'completed', 'discipline', ...filtered(options)] as const
  const { selection, tierOf } = await openListing(place, facts, ({ status }) => status !== 'DONE')
  const states = selection.states.filter(({ task }) => matches(task, options))
  const tasks = states.map(({ task }) => task)
  context.print(
    listView({
      states,
      all: selection.states,
      folder: place.folders.first,
      underWay,
      tierOf: (task) => tierOf(task).tier,
      reasonOf: await blockedReasons(place, tasks),
      badgeOf: await disciplineBadges(place.root, tasks),
    }),
  )
  if (unread !== null) context.note([paragraph([], unread)])
  return 0
}

/** How the discipline of each task is shown beside it, in its colour: its acronym, else its icon. */
async function disciplineBadges(root: string, tasks: readonly Facts<'discipline'>[]) {
  const badges = new Map<string | null, { text: string; color: string | null } | null>()
  for (const task of tasks) {
    if (badges.has(task.discipline)) continue
    const { acronym = null, icon = null, color = null } = (await disciplineOf(root, task)) ?? {}
    const text = acronym ?? icon
    badges.set(task.discipline, text === null ? null : { text, color })
  }
  return ({ discipline }: Facts<'discipline'>) => badges.get(discipline) ?? null
}

/** The facts that the given filters compare: a large backlog is read for no others. */
function filtered(options: Context['options']): readonly (typeof FILTERED)[number][] {
  return FILTERED.filter((fact) => (fact === 'tags' ? options.tag.length > 0 : options[fact] !== undefined))
}

/** Whether a task matches all filters of the command line. */
function matches(
  task: Facts<(typeof FILTERED)[number]>,
  { status, milestone, discipline, feature, tag }: Context['options'],
): boolean {
  return (
    (status === undefined || task.status === status) &&
    (milestone === undefined || isMilestone(task.milestone ?? '', milestone)) &&
    (discipline === undefined || same(task.discipline, discipline)) &&
    (feature === undefined || same(task.feature, feature)) &&
    tag.every((typed) => task.tags.some((own) => same(own, typed.replace(/^#/, ''))))
  )
}

function same(own: string | null, typed: string): boolean {
  return own?.trim().toLowerCase() === typed.trim().toLowerCase()
}
