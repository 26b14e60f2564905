import type { Held, WorkerSign } from './queue.ts'

/** Whether a worker with those labels does a task with these. */
export function takes(worker: readonly string[], task: readonly string[]): boolean {
  if (worker.length === 0) return true
  const words = new Set(task.map((label) => label.toLowerCase()))
  return worker.some((label) => words.has(label.toLowerCase()))
}

/** A worker and what it is busy with. */
export interface Loaded {
  readonly worker: Held<WorkerSign>
  readonly busy: number
}

/** The worker that is to do a task with these labels: of those that take it the one with the most free places; null where none has one. */
export function placeFor<One extends Loaded>(labels: readonly string[], workers: readonly One[]): One | null {
  const free = workers.filter(
    ({ worker: { sign }, busy }) => busy < sign.places && takes(sign.labels, labels),
  )
  const room = ({ worker: { sign }, busy }: One): number => sign.places - busy
  // Those without labels are left to what nobody else takes.
  const [best] = free.toSorted(
    (a, b) =>
      Math.sign(b.worker.sign.labels.length) - Math.sign(a.worker.sign.labels.length) || room(b) - room(a),
  )
  return best ?? null
}
