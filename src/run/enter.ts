import type { RunEnd } from '../events/event.ts'
import type { Base } from '../git/head.ts'
import type { Task } from '../task/model.ts'
import { block, setAside, type TaskRunEnd } from './give-up.ts'
import type { AttemptNote } from './note.ts'
import type { Run } from './task.ts'

/** How the tasks of a run have ended. */
export interface Tally {
  readonly completed: string[]
  readonly blocked: string[]
  readonly failed: string[]
  /** Done, but the person's uncommitted work keeps it from landing. */
  readonly held: string[]
}

/** A task that a dead run had given up, but not blocked yet, and its workspace. */
export interface GivenUp {
  readonly workspace: 'checkout' | number
  readonly attempt: AttemptNote
}

/** Why a run ends. */
export interface End {
  readonly end: RunEnd
  readonly reason: string
}

/** The end of a run without an eligible task: for a loop this is success if all tasks are done, otherwise not. */
export function nothingToDo({ options, ports }: Run, reason: string): End {
  const isAllDone = ports.source.tasks().every(({ status }) => status === 'DONE')
  return { end: options.loop && isAllDone ? 'done' : 'nothing-eligible', reason }
}

/** Enters how a task ended; returns the base of the next one. */
export async function enter(
  run: Run,
  end: Exclude<TaskRunEnd, { kind: 'stop' }> & { readonly id: string },
  tally: Tally,
): Promise<Base> {
  const { ports } = run
  const task = ports.source.tasks().find(({ id }) => id === end.id)
  switch (end.kind) {
    case 'left':
      tally.failed.push(end.id)
      return end.base
    case 'blocked':
      tally.blocked.push(end.id)
      if (task) await ports.source.refresh([task.file])
      return end.base
    case 'completed':
      tally.completed.push(end.id)
      if (task) await enterCompleted(run, task, end)
      return end.base
  }
}

async function enterCompleted(
  run: Run,
  task: Task,
  { landed, candidate }: Extract<TaskRunEnd, { kind: 'completed' }>,
): Promise<void> {
  const { ports, note, ledger, emit } = run
  if (!landed.sealPending) {
    note.clearSoon()
    ports.workspace.record.dropCandidate(candidate)
    ports.checkpoint('entered')
  }
  const { prefix } = ports.workspace
  const changes = landed.work.changes.flatMap(({ path, kind }) => {
    const file = path.startsWith(prefix) ? path.slice(prefix.length) : ''
    return ports.source.isTask(file) ? [{ file, kind }] : []
  })
  ledger.addedTasks += changes.filter(({ kind, file }) => kind === 'new' && file !== task.file).length
  await ports.source.refresh([task.file, ...changes.map(({ file }) => file)])
  const { commit, files, added, removed, sums } = landed
  const { usage, seconds, attempts } = sums
  if (ports.source.tasks().find(({ id }) => id === task.id)?.status !== 'DONE')
    emit({ type: 'warning', message: notDone(task) })
  emit({
    type: 'task-completed',
    id: task.id,
    title: task.title,
    commit,
    duration: seconds + landed.seconds,
    attempts,
    turns: usage.turns,
    cost: usage.costUsd,
    usage,
    files,
    added,
    removed,
  })
  setAside(run, landed.left, 'left by git hooks')
  emitMilestone(run, task)
}

function notDone({ id, file }: Task): string {
  return `${file} does not say DONE after its commit: a hook may have changed it, and then each run does ${id} again`
}

function emitMilestone({ ports, emit }: Run, { milestone }: Task): void {
  if (milestone === null) return
  const siblings = ports.source.tasks().filter((other) => other.milestone === milestone)
  if (siblings.every((sibling) => sibling.status === 'DONE'))
    emit({ type: 'milestone-completed', milestone, tasks: siblings.length })
}

/** Blocks a task that the run before this one had given up, if it died before it wrote that down. */
export async function finishBlocking(
  run: Run,
  base: Base,
  { tally, toBlock }: { readonly tally: Tally; readonly toBlock: AttemptNote },
): Promise<Base | End> {
  const task = run.ports.source.tasks().find(({ id }) => id === toBlock.task)
  if (task?.status !== 'TODO') {
    run.note.clear()
    return base
  }
  run.note.begin({ ...toBlock, base })
  const end = await block(run, { task, base, reason: toBlock.reason ?? 'it was given up' })
  if (end.kind !== 'stop') return enter(run, { ...end, id: task.id }, tally)
  tally.failed.push(task.id)
  return { end: end.why, reason: end.reason }
}
