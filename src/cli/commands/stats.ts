import { setImmediate as nextTurn } from 'node:timers/promises'
import { listRecords } from '../../git/record.ts'
import { readCompletions, type CompletionRecord } from '../../history/completions.ts'
import { statsOf, type Stats, type StatsGroup } from '../../history/stats.ts'
import { TIERS } from '../../backlog/model.ts'
import { readFacts } from '../../backlog/read.ts'
import { statsView } from '../../screen/log-view.ts'
import type { Context } from '../command.ts'
import { openPlace } from '../../config/project.ts'
import { readHistory } from '../../git/open-repository.ts'

/** Shows the totals of tasks, from git alone. */
export async function run({ io, where, answer }: Context): Promise<number> {
  const place = await openPlace(where)
  const { root, vocabulary } = place
  // Reading the files blocks this process: git should run in the meantime.
  const reading = nextTurn().then(async () => {
    const { tasks } = await readFacts(place, { facts: ['milestone', 'title', 'commit', 'completed', 'cost'] })
    return tasks
  })
  const [[completions, attempts], tasks] = await Promise.all([
    readHistory(io, root, (git) =>
      Promise.all([readCompletions(git, { vocabulary, tasks: reading }), listRecords(git)]),
    ),
    reading,
  ])
  /** Groups in the order of the backlog's names, not of history; unknown ones come last. */
  const by = (
    nameOf: (completion: CompletionRecord) => string | null | undefined,
    names: readonly (string | null)[],
  ): Stats => {
    const stats = statsOf(completions, attempts, (completion) => nameOf(completion) ?? 'unknown')
    const rank = ({ name }: StatsGroup): number => (names.includes(name) ? names.indexOf(name) : names.length)
    return { ...stats, groups: stats.groups.toSorted((a, b) => rank(a) - rank(b)) }
  }
  const milestones = new Map(tasks.map((task) => [task.id, task.milestone]))
  const milestone = by(({ id }) => milestones.get(id), [...milestones.values()])
  const tier = by((completion) => completion.tier, TIERS)
  // Without its version, so that updates of an agent make no new group.
  const agent = by(({ byRalph, agent: name }) => (byRalph ? name?.split(' ')[0] : 'not by ralph'), [])
  const { total, lost } = milestone
  return answer({ total, lost, milestone: milestone.groups, tier: tier.groups, agent: agent.groups }, () => {
    const done = tasks.filter(({ status }) => status === 'DONE')
    return statsView({ milestone, tier, agent }, done.length)
  })
}
