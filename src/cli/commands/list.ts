import { countByStatus } from '../../select/selection.ts'
import type { TierChoice } from '../../select/tier.ts'
import type { TaskFacts } from '../../task/model.ts'
import { type ListedTask, listView } from '../../ui/list-view.ts'
import type { Context } from '../command.ts'
import { isMilestone } from '../milestone.ts'
import type { Options } from '../options.ts'
import { openOverview } from '../overview.ts'
import { taskJson } from '../task-json.ts'

/** Shows the backlog, or the part of it that the filters leave. */
export async function run(context: Context): Promise<number> {
  if (context.json) await printJson(context)
  else await print(context)
  return 0
}

async function print(context: Context): Promise<void> {
  const matches = filterOf(context.options)
  const { selection, dir } = await openOverview<ListedTask & Filtered>(
    context,
    (facts, { tier }, reason) => ({
      id: facts.id,
      number: facts.number,
      file: facts.file,
      status: facts.status,
      needs: facts.needs,
      held: facts.held,
      problems: facts.problems,
      title: facts.title,
      milestone: facts.milestone,
      completed: facts.completed,
      tier,
      blockedReason: reason,
      matches: matches(facts),
    }),
  )
  const states = selection.states.filter(({ task }) => task.matches)
  await context.print(listView({ states, folder: dir, isEmpty: selection.states.length === 0 }))
}

async function printJson(context: Context): Promise<void> {
  const matches = filterOf(context.options)
  const keep = (facts: TaskFacts, choice: TierChoice): TaskFacts & Filtered & { choice: TierChoice } => ({
    ...facts,
    choice,
    matches: matches(facts),
  })
  const { selection } = await openOverview(context, keep)
  const states = selection.states.filter(({ task }) => task.matches)
  const tasks = states.map((state) => taskJson(state, ({ choice }) => choice))
  context.printJson({ version: 1, tasks, counts: countByStatus(states.map(({ task }) => task)) })
}

interface Filtered {
  /** The filters leave it. */
  readonly matches: boolean
}

function filterOf(options: Options): (task: TaskFacts) => boolean {
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
