import { setImmediate as nextTurn } from 'node:timers/promises'
import { UserError } from '../../base/errors.ts'
import { listRecords } from '../../git/record.ts'
import { readCompletions, type CompletionRecord } from '../../history/completions.ts'
import { periodOf } from '../../history/period.ts'
import { gateStats, statsOf, type Stats, type StatsGroup } from '../../history/stats.ts'
import { TIERS } from '../../backlog/model.ts'
import { presentFolders, readFacts } from '../../backlog/read.ts'
import { attemptsView } from '../../screen/show-view.ts'
import { gatesView, logView, releaseNotes, statsView } from '../../screen/log-view.ts'
import { printable } from '../../screen/printable.ts'
import type { Context } from '../command.ts'
import type { ContextOf } from '../commands.ts'
import { findTask, readNamed } from '../../config/find-task.ts'
import { isMilestone } from '../../backlog/milestone.ts'
import { readHistory } from '../../git/open-repository.ts'

/** Shows the completed tasks, newest first, from git alone. */
export async function log(context: ContextOf<'log'>): Promise<number> {
  const { since, milestone: wanted, markdown } = context.options
  if (context.json && markdown) throw new UserError('give one of --json and --markdown')
  const { completions: all, tasks, milestoneOf } = await readPast(context, since)
  const [named] = context.args
  const only = named === undefined ? null : findTask(tasks, named).id
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

/** Shows the totals of tasks, from git alone. */
export async function stats(context: ContextOf<'stats'>): Promise<number> {
  const { completions, tasks, milestoneOf, attempts } = await readPast(context)
  if (context.options.gates) {
    const gates = gateStats(completions, attempts)
    return context.answer({ gates }, () => gatesView(gates))
  }
  /** Groups in the order of the backlog's names, not of history; unknown ones come last. */
  const by = (
    nameOf: (completion: CompletionRecord) => string | null | undefined,
    names: readonly (string | null)[] = [],
  ): Stats => {
    const found = statsOf(completions, attempts, (completion) => nameOf(completion) ?? 'unknown')
    const rank = ({ name }: StatsGroup): number => (names.includes(name) ? names.indexOf(name) : names.length)
    return { ...found, groups: found.groups.toSorted((a, b) => rank(a) - rank(b)) }
  }
  const milestone = by(milestoneOf, tasks.map(milestoneOf))
  const tier = by((completion) => completion.tier, TIERS)
  // Without its version, so that updates of an agent make no new group.
  const agent = by(({ byRalph, agent: name }) => (byRalph ? name?.split(' ')[0] : 'not by ralph'))
  const { total, lost } = milestone
  const groups = { milestone: milestone.groups, tier: tier.groups, agent: agent.groups }
  return context.answer({ total, lost, ...groups }, () => {
    const done = tasks.filter(({ status }) => status === 'DONE')
    return statsView({ milestone, tier, agent }, done.length)
  })
}

/** What git knows of the tasks, since a time if one is given, and the current tasks. */
async function readPast({ io, place }: Context, since?: string) {
  const at = await place()
  const { root, vocabulary, config, folders } = at
  // Milestones are only in the files, not in history; history is enough if their folder is gone.
  const readTasks = async () => {
    // Reading the files blocks this process: git should run in the meantime.
    await nextTurn()
    if (presentFolders(root, folders).length === 0) return []
    return (await readFacts(at, { facts: ['milestone', 'title', 'commit', 'completed', 'cost'] })).tasks
  }
  const reading = readTasks()
  const { subject } = config.commit
  const [[completions, attempts], tasks] = await Promise.all([
    readHistory(io, root, async (git) => {
      const { query } = await periodOf(git, since)
      return Promise.all([
        readCompletions(git, { ...query, vocabulary, subject, tasks: reading }),
        listRecords(git),
      ])
    }),
    reading,
  ])
  const milestones = new Map(tasks.map((task) => [task.id, task.milestone]))
  const milestoneOf = ({ id }: { id: string }): string | null => milestones.get(id) ?? null
  return { completions, attempts, tasks, milestoneOf }
}

/** Shows the attempts at a task, how they ended and where they are kept. */
export async function attempts(context: Context): Promise<number> {
  const place = await context.place()
  const task = await readNamed(place, context.args[0]!)
  const kept = await readHistory(context.io, place.root, (git) => listRecords(git, task.id))
  return context.answer({ id: task.id, attempts: kept }, () => attemptsView(task, kept))
}
