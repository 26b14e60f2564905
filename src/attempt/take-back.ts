import { join } from 'node:path'
import type { AttemptPlan } from './job.ts'
import type { Happening } from '../events/event.ts'
import { changedSettings, readGitSettings, restoreSettings } from '../workspace/settings.ts'
import type { GitSettings } from '../workspace/settings.ts'
import { interferenceOf } from './interference.ts'
import type { Interference } from '../events/interference.ts'
import type { TaskFolder } from './interference.ts'
import { keepRecord } from './keep-record.ts'
import type { Attempt } from './keep-record.ts'
import { outcomeOfEnd } from './outcome.ts'
import type { Run } from '../run/run.ts'
import type { Kept, Work } from '../workspace/workspace.ts'

/** git's configuration and hooks are no part of any work: what the agent did to them is kept beside the log and undone. */
export async function* guardSettings(
  run: Run,
  plan: AttemptPlan,
  before: GitSettings,
): AsyncGenerator<Happening, void> {
  const changed = changedSettings(before, readGitSettings(run.ports.repository))
  if (changed.length === 0) return
  const keptIn = join(run.ports.folder.results, `${plan.task.id}-${plan.number}-git-settings`)
  restoreSettings(changed, before, keptIn)
  run.ports.checkpoint('settings-restored')
  yield interfered(plan, { kind: 'git-settings', paths: changed, keptIn })
}

/**
 * Takes back what breaks a promise: what the agent did to HEAD, to the branch and to task files. All of it is
 * recorded first. It comes before our own look at the work, so that the gates see what would be committed.
 */
export async function* takeBack(attempt: Attempt): AsyncGenerator<Happening, TakenBack> {
  const { run, plan, agent, work } = attempt
  const { workspace } = run.ports
  const found = interferenceOf(work, taskFolder(run))
  for (const interference of found) yield interfered(plan, interference)
  if (found.every(({ kind }) => kind === 'nested-repository' || kind === 'exposed'))
    return { early: null, work, undone: [] }
  const early = await keepRecord({ ...attempt, undone: found }, outcomeOfEnd(agent.end))
  const lost = await workspace.lostByGoingBack(plan.base, work, early.tree)
  if (lost.length > 0) yield interfered(plan, { kind: 'went-back', paths: lost })
  if (work.head || work.operations.length > 0) {
    await workspace.fold(plan.base, work)
    run.ports.checkpoint('head-folded')
  }
  const touched = found.flatMap((one) => (one.kind === 'task-files' ? one.paths : []))
  await workspace.restoreFiles(plan.base, [...touched, ...lost])
  run.ports.checkpoint('files-restored')
  return { early, work: await workspace.inspect(plan.base), undone: found }
}

/** What is there after it. */
interface TakenBack {
  /** Where all of it is recorded; null where there was nothing to take back. */
  readonly early: Kept | null
  readonly work: Work
  readonly undone: readonly Interference[]
}

/** Says what the agent did that is not its to do. */
export function interfered(plan: AttemptPlan, interference: Interference): Happening {
  return { type: 'interference', id: plan.task.id, interference }
}

/** Where tasks are now, and which numbers are taken. */
export function taskFolder({ ports }: Run): TaskFolder {
  return {
    folder: `${ports.workspace.prefix}${ports.source.dir}/`,
    files: new Map(ports.source.tasks().map((task) => [task.number, task.file])),
  }
}
