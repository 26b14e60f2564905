import type { QueuePlace, WorkerSign } from './queue.ts'

/** Whether a worker with these labels takes a task with those. */
export function takes(worker: readonly string[], task: readonly string[]): boolean {
  if (worker.length === 0) return true
  const words = new Set(task.map((label) => label.toLowerCase()))
  return worker.some((label) => words.has(label.toLowerCase()))
}

/** A worker and its jobs. */
export interface Loaded {
  readonly worker: QueuePlace<WorkerSign>
  busy: number
}

/**
 * The worker for a task with these labels: among those that take it the one with the most free places; null if all
 * are full.
 */
export function placeFor<One extends Loaded>(labels: readonly string[], workers: readonly One[]): One | null {
  const free = workers.filter(
    ({ worker: { sign }, busy }) => busy < sign.places && takes(sign.labels, labels),
  )
  const room = ({ worker: { sign }, busy }: One): number => sign.places - busy
  // Workers without labels stay free for tasks that no other takes.
  const [best] = free.toSorted(
    (a, b) =>
      Math.sign(b.worker.sign.labels.length) - Math.sign(a.worker.sign.labels.length) || room(b) - room(a),
  )
  return best ?? null
}
