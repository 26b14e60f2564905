import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { UserError } from '../../base/errors.ts'
import { readCompletions } from '../../history/completions.ts'
import { periodOf } from '../../history/period.ts'
import { readFacts } from '../../backlog/read.ts'
import { logView, releaseNotes } from '../../screen/log-view.ts'
import { printable } from '../../screen/printable.ts'
import type { ContextOf } from '../commands.ts'
import { findTask } from '../../config/find-task.ts'
import { isMilestone } from '../../backlog/milestone.ts'
import { openPlace, type Place } from '../../config/project.ts'
import { readHistory } from '../../git/open-repository.ts'

/** Shows the completed tasks, newest first, from git alone. */
export async function run(context: ContextOf<'log'>): Promise<number> {
  const { since, milestone: wanted, markdown } = context.options
  if (context.json && markdown) throw new UserError('give one of --json and --markdown')
  const place = await openPlace(context.where)
  const { vocabulary, config } = place
  // Milestones are only in the files, not in history.
  const reading = tasksOf(place)
  const [all, tasks] = await Promise.all([
    readHistory(context.io, place.root, async (git) => {
      const { query } = await periodOf(git, since)
      return readCompletions(git, { ...query, vocabulary, subject: config.commit.subject, tasks: reading })
    }),
    reading,
  ])
  const milestones = new Map(tasks.map((task) => [task.id, task.milestone]))
  const milestoneOf = ({ id }: { id: string }): string | null => milestones.get(id) ?? null
  const only = context.args[0] === undefined ? null : findTask(tasks, context.args[0]).id
  const isWanted = (task: { id: string }): boolean =>
    (only === null || task.id === only) &&
    (wanted === undefined || isMilestone(milestoneOf(task) ?? '', wanted))
  const completions = all.filter(isWanted)
  if (markdown) {
    context.printRaw(releaseNotes(completions, milestoneOf).split('\n').map(printable).join('\n'))
    return 0
  }
  const done = tasks.filter((task) => task.status === 'DONE' && isWanted(task))
  // A time without completions says nothing of the others.
  return context.answer({ completions }, () => logView(completions, since === undefined ? done.length : 0))
}

/** The current tasks; none if their folder is gone, as history is enough. */
async function tasksOf(place: Place) {
  // Reading the files blocks this process: git should run in the meantime.
  await nextTurn()
  if (!existsSync(join(place.root, place.folders.first))) return []
  return (await readFacts(place, { facts: ['milestone', 'title', 'commit', 'completed', 'cost'] })).tasks
}
