import { countByStatus, type Selection, type TaskState } from '../../backlog/select/selection.ts'
import type { Facts } from '../../backlog/model.ts'
import { listView } from '../../screen/list-view.ts'
import type { ContextOf } from '../commands.ts'
import { disciplineOf } from '../../agents/agent-wishes.ts'
import { blockedReasons, openListing } from '../../config/listing.ts'
import { isMilestone } from '../../backlog/milestone.ts'
import { openPlace } from '../../config/project.ts'
import { JSON_FACTS, tasksJson } from '../../backlog/select/task-json.ts'

type Context = ContextOf<'list'>

/** Shows the backlog, or the part that matches the filters. */
export async function run(context: Context): Promise<number> {
  if (context.json) await printJson(context)
  else await print(context)
  return 0
}

async function print(context: Context): Promise<void> {
  const place = await openPlace(context.where)
  const filters = filtersOf(context.options)
  const facts = ['title', 'milestone', 'completed', 'discipline', ...factsFor(filters)] as const
  const { selection, tierOf } = await openListing(place, facts, ({ status }) => status !== 'DONE')
  const states = matching(selection, filters)
  const tasks = states.map(({ task }) => task)
  const reasonOf = await blockedReasons(place, tasks)
  const badgeOf = await disciplineBadges(place.root, tasks)
  await context.print(
    listView({
      states,
      all: selection.states,
      folder: place.folders.first,
      tierOf: (task) => tierOf(task).tier,
      reasonOf,
      badgeOf,
    }),
  )
}

/** How a discipline is shown beside a task: its acronym, else its icon, in its colour. */
interface Badge {
  readonly text: string
  readonly color: string | null
}

type Disciplined = Facts<'discipline'>

/** The badge of each task whose discipline has one; reads each discipline once. */
async function disciplineBadges(
  root: string,
  tasks: readonly Disciplined[],
): Promise<(task: Disciplined) => Badge | null> {
  const badges = new Map<string | null, Badge | null>()
  for (const task of tasks) {
    if (badges.has(task.discipline)) continue
    const discipline = await disciplineOf(root, task)
    const text = discipline?.acronym ?? discipline?.icon ?? null
    badges.set(task.discipline, text === null ? null : { text, color: discipline?.color ?? null })
  }
  return ({ discipline }) => badges.get(discipline) ?? null
}

async function printJson(context: Context): Promise<void> {
  const place = await openPlace(context.where)
  const filters = filtersOf(context.options)
  const { selection, tierOf } = await openListing(place, [...JSON_FACTS, ...factsFor(filters)])
  const states = matching(selection, filters)
  const counts = countByStatus(states.map(({ task }) => task))
  context.printJson({ version: 1, tasks: tasksJson(states, tierOf), counts })
}

type FilterFact = 'milestone' | 'tags' | 'discipline' | 'feature'

/** A condition for the tasks that are shown. */
interface Filter {
  /** The fact that it needs; null if it is always known. */
  readonly fact: FilterFact | null
  readonly matches: (task: Facts<FilterFact>) => boolean
}

function filtersOf(options: Context['options']): readonly Filter[] {
  const one = (
    typed: string | undefined,
    fact: FilterFact | null,
    matches: (task: Facts<FilterFact>, typed: string) => boolean,
  ): readonly Filter[] => (typed === undefined ? [] : [{ fact, matches: (task) => matches(task, typed) }])
  const tags = options.tag.map((tag): Filter => ({
    fact: 'tags',
    matches: (task) => task.tags.some((own) => same(own, tag.replace(/^#/, ''))),
  }))
  return [
    ...one(options.status, null, (task, status) => task.status === status),
    ...one(
      options.milestone,
      'milestone',
      ({ milestone }, typed) => milestone !== null && isMilestone(milestone, typed),
    ),
    ...one(options.discipline, 'discipline', (task, typed) => same(task.discipline, typed)),
    ...one(options.feature, 'feature', (task, typed) => same(task.feature, typed)),
    ...tags,
  ]
}

/** The facts for the filters in use: no others are read. */
function factsFor(filters: readonly Filter[]): readonly FilterFact[] {
  return [...new Set(filters.flatMap(({ fact }) => fact ?? []))]
}

/** The part of a backlog that matches the filters. */
function matching<T extends Facts<FilterFact>>(
  { states }: Selection<T>,
  filters: readonly Filter[],
): readonly TaskState<T>[] {
  if (filters.length === 0) return states
  return states.filter(({ task }) => filters.every(({ matches }) => matches(task)))
}

function same(own: string | null, typed: string): boolean {
  return own !== null && own.trim().toLowerCase() === typed.trim().toLowerCase()
}
