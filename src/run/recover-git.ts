import { join } from 'node:path'
import { interferenceLine } from '../attempt/interference.ts'
import type { Emit } from '../attempt/ports.ts'
import { fewOf } from '../base/text.ts'
import type { Happening } from '../events/event.ts'
import type { Base } from '../git/head.ts'
import type { AgentAtWork } from './ask-agent.ts'
import type { RunNote } from './note.ts'
import type { RunPorts } from './ports.ts'

/** How much later than a run's last sign of life an action of its own may be dated. */
export const SLACK_MS = 10_000

/**
 * Undoes what the agent of a dead run had done to git's settings, hooks and refs, before any other use of git;
 * returns a line for each.
 */
export async function undoGit(
  { workspace, logs }: Pick<RunPorts, 'workspace' | 'logs'>,
  { task, base, name }: { readonly task: string; readonly base: Base; readonly name: string },
  sign: Date | null,
  emit: Emit<Happening>,
): Promise<readonly string[]> {
  const { found, left } = await workspace.restore.afterKill({
    task,
    branch: base.branch,
    keepIn: logs.result(`${name}-git`),
    until: sign && new Date(sign.getTime() + SLACK_MS),
  })
  for (const interference of found) emit({ type: 'interference', id: task, interference })
  if (left.length > 0) {
    const message = `${fewOf(left)} changed after the last run had died: ralph takes that for yours, and leaves it`
    emit({ type: 'warning', message })
  }
  return found.map(interferenceLine)
}

/**
 * Ends what an agent of a killed planning has left, and undoes what it had done to git's settings, hooks, refs and HEAD,
 * before any other use of git. Files that have changed since may be a person's: they are named, and stay.
 */
export async function recoverPlanner(
  ports: Pick<RunPorts, 'workspace' | 'logs' | 'endLeftovers'>,
  { work, lastSign }: { readonly work: AgentAtWork; readonly lastSign: Date },
  emit: Emit<Happening>,
): Promise<void> {
  const { inspect, restore } = ports.workspace
  const leftovers = await ports.endLeftovers(work)
  const sign = leftovers.length === 0 ? lastSign : null
  await undoGit(ports, { task: work.id, base: work.base, name: work.id }, sign, emit)
  await restore.adopt(null)
  try {
    const found = await inspect.work(work.base)
    const movedAt = found.head && sign ? await inspect.headMovedAt() : null
    const isMovedLater = movedAt !== null && movedAt.getTime() > (sign?.getTime() ?? 0) + SLACK_MS
    if (found.head && !isMovedLater && (await restore.head(found.base, found)))
      emit({ type: 'interference', id: work.id, interference: { kind: 'branch' } })
    if (found.tree === work.tree) return
    const changed = await inspect.differing(work.tree, found.tree)
    const message = `while an agent planned, ralph was killed, and these have changed since: ${changed.join(', ')}`
    emit({ type: 'warning', message })
  } finally {
    restore.leave()
  }
}

/** Moves locks that a git of the dead run has left, because they would stop every later git; removes none. */
export async function moveLocks(
  ports: RunPorts,
  dead: RunNote,
  which: 'all' | 'refs',
  emit: Emit<Happening>,
): Promise<void> {
  const keepIn = join(ports.folder.results, `git-locks-${ports.now().getTime()}`)
  for (const lock of await ports.workspace.restore.locks(new Date(dead.startedAt), keepIn, which))
    emit(recovered(null, `a git that died with the last run had left ${lock}; it was moved to ${keepIn}`))
}

/** The event for something found of a dead run. */
export function recovered(task: string | null, message: string): Extract<Happening, { type: 'recovered' }> {
  return { type: 'recovered', message, task, ref: null }
}
