import type { Git } from '../../git/git.ts'
import { resolveRange } from '../../git/range.ts'
import { listRecords, type KeptAttempt } from '../../git/record.ts'
import { diffBacklog, type BacklogDiff } from '../../history/backlog-diff.ts'
import { readCompletions, type CompletionRecord } from '../../history/completions.ts'
import { periodOf } from '../../history/period.ts'
import { statsOf, type Stats } from '../../history/stats.ts'
import { verifyTasks, type Verification } from '../../history/verify.ts'
import { lintContext } from '../../authoring/lint-context.ts'
import type { Project } from '../../config/project.ts'
import { readHistory } from '../../git/open-repository.ts'
import { ownWorld } from './world.ts'

/** A completed task, with the milestone in its file. */
export interface Completion extends CompletionRecord {
  readonly milestone: string | null
}

/** The history of a project, from git alone. */
export interface History {
  /** Completed tasks, newest first; since a date, a tag or another commit, or in a range `a..b`. */
  readonly completions: (since?: string) => Promise<readonly Completion[]>
  /** The kept attempts, of one task or of all. */
  readonly attempts: (task?: string) => Promise<readonly KeptAttempt[]>
  /** Whether each DONE task names the commit that completed it. */
  readonly verify: () => Promise<Verification>
  /** The totals of tasks, by group. */
  readonly stats: (by: 'milestone' | 'tier' | 'agent') => Promise<Stats>
  /** The changes of a range to the backlog; by default from the common ancestor with the main branch to the checkout. */
  readonly diff: (range?: string) => Promise<BacklogDiff>
}

/** Opens the history of a project. Starts nothing that the repository names, and writes nothing. */
export function openHistory(project: Project): History {
  const { root, vocabulary, config, tasks } = project
  const { subject } = config.commit
  const read = <T>(work: (git: Git) => Promise<T>): Promise<T> => readHistory(ownWorld(), root, work)
  const milestones = new Map(tasks.map(({ id, milestone }) => [id, milestone]))
  const completions = (since?: string): Promise<readonly Completion[]> =>
    read(async (git) => {
      const { query } = await periodOf(git, since)
      const found = await readCompletions(git, { ...query, vocabulary, subject })
      return found.map((one) => ({ ...one, milestone: milestones.get(one.id) ?? null }))
    })
  const attempts = (task?: string): Promise<readonly KeptAttempt[]> => read((git) => listRecords(git, task))
  return {
    completions,
    attempts,
    verify: () => read((git) => verifyTasks(git, { readTasks: async () => tasks, vocabulary })),
    async stats(by) {
      const [done, tried] = await Promise.all([completions(), attempts()])
      const nameOf = (one: Completion): string | null | undefined =>
        by === 'agent' ? one.agent?.split(' ')[0] : one[by]
      const names = new Map(done.map((one) => [one.commit + one.id, nameOf(one) ?? 'unknown']))
      return statsOf(done, tried, (one) => names.get(one.commit + one.id) ?? 'unknown')
    },
    async diff(range) {
      const around = await lintContext(project)
      return read(async (git) =>
        diffBacklog(git, await resolveRange(git, range), { ...project, tiers: config.tiers, around }),
      )
    },
  }
}
