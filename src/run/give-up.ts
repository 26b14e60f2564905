import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { composeMessage } from '../git/trailers.ts'
import type { Base } from '../git/restore.ts'
import type { Task } from '../task/model.ts'
import type { Completed } from '../landing/land.ts'
import type { Happening } from '../events/event.ts'
import { failurePrint } from '../attempt/judge.ts'
import { setAside, toldDisplaced } from '../workspace/litter.ts'
import type { Outcome } from '../attempt/outcome.ts'
import { attemptsAt } from './run.ts'
import type { Run } from './run.ts'

/** How a task ended. */
export type TaskRunEnd =
  | { readonly kind: 'completed'; readonly completed: Completed }
  | { readonly kind: 'blocked'; readonly commit: string }
  | { readonly kind: 'left'; readonly reason: string }
  /** The whole run is to end: the tree is as it was before the task, unless `stuck` says why not. */
  | {
      readonly kind: 'stop'
      readonly why: 'interrupted' | 'stopped' | 'failed' | 'budget'
      readonly reason: string
    }

/** Why a run ends at a task that nobody has given up on. */
export type StopReason = 'interrupted' | 'stopped' | 'budget'

/** A task that is given up. */
export interface GivingUp {
  readonly task: Task
  readonly base: Base
  /** Where the tree is recorded; null where nobody has touched it. */
  readonly tree: string | null
  readonly reason: string
  readonly blocked: boolean
}

/** Blocks the task, leaves it or stops, as asked; null to try again. */
export async function* giveUp(run: Run, giving: GivingUp): AsyncGenerator<Happening, TaskRunEnd | null> {
  const { task, base, reason } = giving
  const { ports, options } = run
  const wish = giving.blocked && options.onFailure !== 'ask' ? 'block' : options.onFailure
  const answer = wish === 'ask' ? await (ports.ask?.({ task, reason }) ?? 'block') : wish
  if (wish === 'ask' && (await ports.workspace.look()).head !== base.head) return movedMeanwhile(run)
  if (answer === 'retry') return null
  const back = yield* putBack(run, base, giving.tree)
  if (back !== null) return { kind: 'stop', why: 'stopped', reason: back }
  yield* tellLeft(run)
  if (answer === 'block') return yield* block(run, { task, base, reason })
  run.flight.land()
  yield { type: 'task-given-up', id: task.id, title: task.title, reason }
  if (answer === 'skip') return { kind: 'left', reason }
  const why = ports.signal.aborted ? 'interrupted' : 'failed'
  return { kind: 'stop', why, reason: `${task.id}: ${reason}` }
}

/** Whoever was asked has committed before the answer: from there on the tree is theirs. */
function movedMeanwhile({ flight }: Run): TaskRunEnd {
  flight.land()
  const reason =
    'HEAD was moved while the question waited, so nothing is taken back: the attempt is kept; clear what it left in the tree, and run ralph again'
  return { kind: 'stop', why: 'stopped', reason }
}

/** Writes down why a task is blocked, in a commit of its own; the tree is the base's. */
export async function* block(
  run: Run,
  what: { readonly task: Task; readonly base: Base; readonly reason: string },
): AsyncGenerator<Happening, TaskRunEnd> {
  const { task, base, reason } = what
  const { ports, flight } = run
  const attempts = seriesOrLast(attemptsAt(run, task.id))
  flight.update({ phase: 'blocking', reason })
  ports.checkpoint('blocking-noted')
  const text = ports.edits.block(task, { reason, attempts: attempts.length })
  writeFileSync(join(ports.workspace.root, task.file), text)
  ports.checkpoint('file-blocked')
  const message = composeMessage({
    subject: `${task.id}: Block: ${reason}`.slice(0, 120),
    body: reason,
    trailers: [
      { key: 'Task', value: task.id },
      { key: 'Blocked', value: reason },
      { key: 'Attempts', value: String(attempts.length) },
    ],
  })
  const path = `${ports.workspace.prefix}${task.file}`
  const result = await ports.workspace.commit({ message, paths: [path], signal: ports.killSignal })
  ports.checkpoint('block-committed')
  if (result.kind !== 'committed') {
    await ports.workspace.restoreFiles(base, [path])
    return {
      kind: 'stop',
      why: 'stopped',
      reason: `git did not take the commit that blocks ${task.id}: ${result.output}`,
    }
  }
  const commit = (await ports.workspace.look()).head ?? base.head
  flight.land()
  yield { type: 'task-blocked', id: task.id, title: task.title, reason, attempts: attempts.length, commit }
  return { kind: 'blocked', commit }
}

/** The attempts that ended in giving up just now: the last of them is final, so a new series would be empty. */
function seriesOrLast<R extends { readonly final: boolean }>(records: readonly R[]): readonly R[] {
  const before = records.slice(0, -1).findLastIndex((record) => record.final)
  return records.slice(before + 1)
}

/** Ends the run at this task, the tree taken back to where it was before. */
export async function* stop(
  run: Run,
  at: {
    readonly base: Base
    /** Where the tree is recorded; null where nobody has touched it. */
    readonly tree: string | null
    readonly why: StopReason
    readonly reason: string
  },
): AsyncGenerator<Happening, TaskRunEnd> {
  const back = yield* putBack(run, at.base, at.tree)
  if (back === null) {
    run.flight.land()
    yield* tellLeft(run)
  } else yield { type: 'warning', message: back }
  return { kind: 'stop', why: at.why, reason: at.reason }
}

/** What an attempt had made git ignore is no part of its record, and comes to light where its .gitignore goes back. */
async function* tellLeft(run: Run): AsyncGenerator<Happening, void> {
  const { entries } = await run.ports.workspace.look()
  if (entries.length > 0) yield setAside(run, entries, 'left by the attempt that was taken back')
}

/** Takes the tree back to the base; null, or what keeps it from it. Nothing is moved that is not recorded. */
async function* putBack(run: Run, base: Base, tree: string | null): AsyncGenerator<Happening, string | null> {
  const { workspace } = run.ports
  try {
    const work = await workspace.inspect(base)
    const displaced = await workspace.putBack(base, tree ?? (await workspace.treeOf(base.head)), work)
    if (displaced === null)
      return 'somebody changed files after the attempt was recorded, so nothing was moved: the next run records them'
    for (const one of displaced) yield toldDisplaced(one)
  } catch (error) {
    return `the tree could not be taken back: ${error instanceof Error ? error.message : String(error)}`
  }
  run.ports.checkpoint('tree-put-back')
  return null
}

/** What failed before anybody began cannot be laid at this task's door, nor at the next one's. */
export function sameAsBaseline(run: Run, failure: Outcome): string | null {
  const before = run.failedBefore.filter((result) => result.gate.required)
  if (failure.kind !== 'gate-failed' || before.length === 0 || failure.fingerprint !== failurePrint(before))
    return null
  return `the gates fail exactly as they did before the run began: ${failure.reason}`
}
