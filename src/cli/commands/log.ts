import { UserError } from '../../base/errors.ts'
import { readCompletions, type CompletionRecord } from '../../history/completions.ts'
import { periodOf } from '../../history/period.ts'
import { readFacts } from '../../task/read.ts'
import { logView, releaseNotes } from '../../ui/log-view.ts'
import { printable } from '../../ui/printable.ts'
import type { Context } from '../command.ts'
import { findTask } from '../../project/find-task.ts'
import type { Io } from '../io.ts'
import { isMilestone } from '../../task/milestone.ts'
import { openPlace, type Place } from '../../project/project.ts'
import { readHistory } from '../../project/repository.ts'

/** Tells what was completed, newest first, from git alone. */
export async function run(context: Context): Promise<number> {
  const { options, args, io, json } = context
  if (json && options.on('markdown')) throw new UserError('give one of --json and --markdown')
  const wanted = options.text('milestone')
  const place = await openPlace(context.where)
  // History tells of tasks, not of milestones: those stand in the files, which are read only for them.
  const needsTasks = args.length > 0 || wanted !== undefined || options.on('markdown')
  const { tasks } = needsTasks ? await readFacts(place, { facts: ['milestone'] }) : { tasks: [] }
  const milestones = new Map(tasks.map((task) => [task.id, task.milestone]))
  const milestoneOf = ({ id }: CompletionRecord): string | null => milestones.get(id) ?? null
  const only = args[0] === undefined ? null : findTask(tasks, args[0]).id
  const completions = (await completionsSince(io, place, options.text('since'))).filter((completion) => {
    const milestone = milestoneOf(completion)
    return (
      (only === null || completion.id === only) &&
      (wanted === undefined || (milestone !== null && isMilestone(milestone, wanted)))
    )
  })
  if (json) context.printJson({ version: 1, completions })
  else if (options.on('markdown')) context.printRaw(markdown(completions, milestoneOf))
  else await context.print(logView(completions))
  return 0
}

function completionsSince(
  io: Io,
  { root, vocabulary, config }: Place,
  since: string | undefined,
): Promise<readonly CompletionRecord[]> {
  return readHistory(io, root, async (git) =>
    readCompletions(git, {
      ...(await periodOf(git, since)).query,
      vocabulary,
      subject: config.commit.subject,
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
