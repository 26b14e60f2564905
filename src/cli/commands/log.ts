import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { UserError } from '../../base/errors.ts'
import type { DoneTask } from '../../history/named-commits.ts'
import type { Facts } from '../../backlog/model.ts'
import { readCompletions, type CompletionRecord } from '../../history/completions.ts'
import { periodOf } from '../../history/period.ts'
import { readFacts } from '../../backlog/read.ts'
import { logView, releaseNotes } from '../../screen/log-view.ts'
import { printable } from '../../screen/printable.ts'
import type { ContextOf } from '../commands.ts'
import { findTask } from '../../config/find-task.ts'
import type { Io } from '../io.ts'
import { isMilestone } from '../../backlog/milestone.ts'
import { openPlace, type Place } from '../../config/project.ts'
import { readHistory } from '../../git/open-repository.ts'

type Context = ContextOf<'log'>

/** Shows the completed tasks, newest first, from git alone. */
export async function run(context: Context): Promise<number> {
  const { options, args, io, json } = context
  if (json && options.markdown) throw new UserError('give one of --json and --markdown')
  const wanted = options.milestone
  const place = await openPlace(context.where)
  // Milestones are only in the files, not in history.
  const reading = tasksOf(place)
  const since = options.since
  const [all, tasks] = await Promise.all([completionsSince(io, place, { since, tasks: reading }), reading])
  const milestones = new Map(tasks.map((task) => [task.id, task.milestone]))
  const milestoneOf = ({ id }: { readonly id: string }): string | null => milestones.get(id) ?? null
  const only = args[0] === undefined ? null : findTask(tasks, args[0]).id
  const isWanted = (task: { readonly id: string }): boolean => {
    const milestone = milestoneOf(task)
    return (
      (only === null || task.id === only) &&
      (wanted === undefined || (milestone !== null && isMilestone(milestone, wanted)))
    )
  }
  const completions = all.filter(isWanted)
  if (json) context.printJson({ version: 1, completions })
  else if (options.markdown) context.printRaw(markdown(completions, milestoneOf))
  else {
    const done = tasks.filter((task) => task.status === 'DONE' && isWanted(task))
    // A time without completions says nothing of the others.
    await context.print(logView(completions, since === undefined ? done.length : 0))
  }
  return 0
}

type LoggedTask = DoneTask & Facts<'milestone'>

/** The current tasks; none if their folder is gone, as history is enough. */
async function tasksOf(place: Place): Promise<readonly LoggedTask[]> {
  // Reading the files blocks this process: git should run in the meantime.
  await nextTurn()
  if (!existsSync(join(place.root, place.folders.first))) return []
  return (await readFacts(place, { facts: ['milestone', 'title', 'commit', 'completed', 'cost'] })).tasks
}

function completionsSince(
  io: Io,
  { root, vocabulary, config }: Place,
  { since, tasks }: { readonly since: string | undefined; readonly tasks: Promise<readonly LoggedTask[]> },
): Promise<readonly CompletionRecord[]> {
  return readHistory(io, root, async (git) =>
    readCompletions(git, {
      ...(await periodOf(git, since)).query,
      vocabulary,
      subject: config.commit.subject,
      tasks,
    }),
  )
}

function markdown(
  completions: readonly CompletionRecord[],
  milestoneOf: (completion: CompletionRecord) => string | null,
): string {
  const notes = releaseNotes(completions, milestoneOf)
  return notes.split('\n').map(printable).join('\n')
}
